/* SPDX-License-Identifier: MIT
 *
 * ready: going to the background, and telling whoever waits when the mount stands.
 *
 *      ready_fork(&ready)        the process that was started waits here, and exits with what
 *                                the daemon tells
 *      …                         everything else: files, threads, the mount; errors to stderr
 *      ready_announce(&ready)    from FUSE's init: 0 to the waiting process, READY=1 to systemd;
 *                                the daemon leaves the terminal
 *      ready_end(&ready, code)   or the start failed: the waiting process exits with that code
 *
 * The fork comes first, so that no thread, lock or database handle crosses it.
 */
#ifndef CDCFS_READY_H
#define CDCFS_READY_H

#include <stdbool.h>

#include "logger.h"

struct ready {
        struct logger *logger;
        int status; /* write end of the pipe; -1 in the foreground and when all is told */
        bool is_background;
};

/* Foreground: nothing to do. */
void ready_init(struct ready *ready, struct logger *logger);
/* Returns in the child only, 0; or negative errno in the parent if there is no child. */
int ready_fork(struct ready *ready);
/* 0, or -EPIPE: the waiting process is gone (interrupted); the daemon must not stay. */
int ready_announce(struct ready *ready);
void ready_end(struct ready *ready, int code);
/* One line to the service manager, "STOPPING=1", if there is one; errors are nobody's loss. */
void ready_tell_manager(const char *state);

#endif
