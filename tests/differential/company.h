/* SPDX-License-Identifier: MIT
 *
 * company: the processes around the writers: one that checkpoints in every way, one that reads
 * for long, and a guard that keeps the log from being reset while no agent runs. And how the
 * processes of a round are started and ended, each by its own id.
 */
#ifndef DIFFERENTIAL_COMPANY_H
#define DIFFERENTIAL_COMPANY_H

#include <sys/types.h>
#include "settings.h"
#include "shared.h"

/* Bodies of processes: 0 or negative errno. They end when shared->is_stopping is set. */
int checkpointer_run(const struct settings *settings, struct shared *shared, unsigned index);
int reader_run(const struct settings *settings, struct shared *shared, unsigned index);
int guard_run(const struct settings *settings, struct shared *shared, unsigned index);

typedef int process_function(
        const struct settings *settings, struct shared *shared, unsigned index);

/* Forks; the child runs the function and exits with 0 or 1. It dies with its parent. The parent
 * has no connection open. The id, or negative errno. */
pid_t process_start(process_function *function, const struct settings *settings,
        struct shared *shared, unsigned index);
/* 1 ended well, 0 still running, negative errno: it failed. *pid becomes 0 when it ended. */
int process_poll(pid_t *pid);
/* Waits for the end. 0 or negative errno. */
int process_wait(pid_t *pid);
void sleep_milliseconds(unsigned milliseconds);
double seconds_now(void);

#endif
