/* SPDX-License-Identifier: MIT
 *
 * notify: one thread that looks for news in the store and tells the kernel which of its caches
 * are out of date: names that came and went. Sizes of files that grow are never cached.
 *
 * News comes from the engine of this process (its wakeup callback is notify_wake), or, in a
 * viewer, from inotify on the store's WAL. It works by comparing the catalog that it last told of
 * with the newest one. Calls into the kernel may wait for requests in flight: therefore a thread
 * of its own, which holds no lock meanwhile, and which must be stopped while requests are still
 * answered, or once the mount is gone.
 */
#ifndef CDCFS_NOTIFY_H
#define CDCFS_NOTIFY_H

#include "cdc.h"
#include "logger.h"

struct notify;
struct server;

/* Makes its descriptors, so that an engine has something to wake. */
int notify_new(struct logger *logger, struct notify **ret_notify);
/* The engine's wakeup: writes to an eventfd and nothing else. From any thread. */
void notify_wake(void *notify);
/* Starts the thread; the caller has blocked signals. Without an engine in the server the store's
 * WAL is watched too. */
int notify_start(struct notify *notify, const struct server *server);
/* Ends the thread and waits for it. More than once, and without a thread, it does nothing. From
 * one thread at a time. */
void notify_stop(struct notify *notify);
/* Stops it too. NULL is allowed. */
void notify_free(struct notify *notify);

#endif
