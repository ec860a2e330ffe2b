/* SPDX-License-Identifier: MIT
 *
 * program: the programs under test, run from outside: cdcctl for single commands, and the agent
 * (cdcctl agent, or cdcfs in the foreground) as a process of its own.
 */
#ifndef DIFFERENTIAL_PROGRAM_H
#define DIFFERENTIAL_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>
#include "bytes.h"
#include "settings.h"

struct programs {
        char cdcctl[PATH_SIZE];
        char cdcfs[PATH_SIZE];
        bool is_mounting; /* the agent is cdcfs, and its files are compared too */
};

struct agent {
        const struct programs *programs;
        const struct settings *settings;
        pid_t pid; /* 0 = not running */
        char mountpoint[PATH_SIZE + 16];
};

/* Looks for the programs in a directory: directly or where the build puts them. */
int programs_find(struct programs *programs, const char *directory, bool is_mounting);

/* Runs cdcctl with arguments (NULL-ended) and waits at most two minutes. Output goes to the two
 * files (NULL: to the round's command.log). The exit status, or negative errno. */
int cdcctl_run(const struct programs *programs, const struct settings *settings,
        const char *const *arguments, const char *output_path, const char *error_path);
/* The same, the output's first line as a text of the caller's to free. */
int cdcctl_line(const struct programs *programs, const struct settings *settings,
        const char *const *arguments, char **ret_line);

int agent_start(struct agent *agent);
/* Asks it to end and waits; a status other than 0 is an error. */
int agent_stop(struct agent *agent);
/* kill -9 by its id. */
int agent_kill(struct agent *agent);
/* 0 while it runs; an agent that ended by itself is an error. */
int agent_check(struct agent *agent);
/* Rotates: everything committed before the call is captured. Tried until an agent answers. */
int agent_rotate(struct agent *agent);

#endif
