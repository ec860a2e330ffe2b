/* SPDX-License-Identifier: MIT
 *
 * watch: blocks until something may have happened, or a time has passed, or it is told to stop.
 *
 * inotify on files and directories and an eventfd; says that something moved, never what. A
 * commit is published in shared memory after the file event and sometimes without one, so the
 * caller looks again with pauses of its own after each wake-up.
 */
#ifndef CDC_WATCH_H
#define CDC_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct watch {
        int inotify; /* owned */
        int wakeup;  /* owned eventfd; watch_wake writes to it */
};

int watch_open(struct watch *ret_watch);
void watch_close(struct watch *watch);
/* Watches a file for writes and removal. -ENOENT if it is not there. */
int watch_add_file(struct watch *watch, const char *path);
/* Watches a directory for names that come and go, not for writes into its files. */
int watch_add_directory(struct watch *watch, const char *path);
/* Waits at most timeout_ns (< 0: for ever). 1 if something moved, 0 after the time, or negative
 * errno. A timeout of 0 takes what has come meanwhile. */
int watch_wait(struct watch *watch, int64_t timeout_ns);
/* Makes watch_wait return; from any thread or a signal handler. */
void watch_wake(const struct watch *watch);

#endif
