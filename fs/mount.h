/* SPDX-License-Identifier: MIT
 *
 * mount: the FUSE session of a server: mounting, serving until the end, unmounting.
 */
#ifndef CDCFS_MOUNT_H
#define CDCFS_MOUNT_H

#include <stdbool.h>

#include "notify.h"
#include "server.h"

/* Mounts `database` on `mountpoint`, both absolute; server->session is set. 0, or negative errno
 * where the line for the user is the caller's to write. */
int mount_begin(struct server *server, const char *database, const char *mountpoint);
/* Answers requests until a signal or an unmount, and ends the notifier. 0 or negative errno. */
int mount_serve(struct server *server, struct notify *notify);
/* Is what was mounted no longer there? From any thread; true as soon as an unmount has returned.
 * For cdc_engine_options.is_ending; the context is the server. */
bool mount_is_ending(void *server);
/* Unmounts. Reads in flight must have been answered. Does nothing without a session. */
void mount_end(struct server *server);

#endif
