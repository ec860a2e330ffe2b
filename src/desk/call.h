/* SPDX-License-Identifier: MIT
 *
 * call: what the calls of administration and queries share: where the files are, how a problem
 * becomes an error, and how a command reaches the agent.
 */
#ifndef CDC_CALL_H
#define CDC_CALL_H

#include <sys/types.h>

#include "cdc.h"
#include "ground/problem.h"
#include "memory/store.h"

enum { CALL_ENDING_MS = 5000 };

struct call_paths {
        char *source; /* owned; absolute and without symlinks where there is one */
        char *store;  /* owned */
};

/* 0 or -ENOMEM. An absent source keeps its name as given. */
int call_find_paths(const struct cdc_database *database, struct call_paths *ret_paths);
void call_paths_release(struct call_paths *paths);
/* store_open, which tells a database that is not there from one that is not enabled. */
int call_open_store(const struct call_paths *paths, enum store_mode mode, struct problem *problem,
        struct store **ret_store);

/* Fills *ret_error (NULL is allowed) from the problem, with the system's words where it has none,
 * and gives the result back: `return call_answer(r, &problem, ret_error)`. */
int call_answer(int result, const struct problem *problem, struct cdc_error *ret_error);

/* 1 if a process runs the jobs, 0 if none does (or the source is absent), or negative errno. Only
 * without a SQLite connection to the source in this process. */
int call_find_agent(const char *source, pid_t *ret_pid);
/* The same, where one that is ending counts as none: a holder of the lock is asked through the
 * store, and one that answers runs the jobs. One that does not is waited for, up to
 * CALL_ENDING_MS: either its lock goes, or it is at work with something long (1). Who may not
 * write the store cannot ask, nor run the jobs instead: 1 at once. Opens the store for a moment. */
int call_find_working_agent(const struct call_paths *paths, pid_t *ret_pid);
/* Posts a request and waits for its answer, which is the result. -ESRCH: no agent runs, or it went
 * away; -ETIMEDOUT after limit_ms (0 = no limit). Nothing stays posted then. The store is open for
 * writing and in no transaction. */
int call_agent(struct store *store, const char *source, const char *command, int limit_ms,
        struct problem *problem);
/* The same with an argument for the command. */
int call_agent_with(struct store *store, const char *source, const char *command,
        const char *argument, int limit_ms, struct problem *problem);

#endif
