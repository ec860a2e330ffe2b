/* SPDX-License-Identifier: MIT
 *
 * ending: SIGTERM, SIGINT and SIGHUP, taken by a thread of their own.
 *
 * A session that is told to exit drops what its workers have just read: the client waits until
 * the unmount. So nobody else may wait for that client then. The notifier does, inside the
 * kernel; it is ended first, while the workers still answer:
 *
 *      signal → notify_stop → the session exits → its loop in the main thread returns
 *
 * Where the mount goes away by itself the loop returns first, and this thread is told.
 */
#ifndef CDCFS_ENDING_H
#define CDCFS_ENDING_H

#include "notify.h"

struct fuse_session;
struct ending;

/* From the thread that will run the session's loop, with all signals blocked; SIGUSR1 is let
 * through in it, to wake the loop. 0 or negative errno. */
int ending_start(struct fuse_session *session, struct notify *notify, struct ending **ret_ending);
/* The loop has returned. Waits for the thread. NULL is allowed. */
void ending_finish(struct ending *ending);

#endif
