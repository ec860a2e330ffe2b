/* SPDX-License-Identifier: MIT
 *
 * mountpoint: whether we may mount there, before anything is started.
 *
 * A mount whose daemon died is still in the way; it is taken down if it is one of ours, and only
 * then. It reads the mount table and asks statfs, and never looks into the mount.
 */
#ifndef CDCFS_MOUNTPOINT_H
#define CDCFS_MOUNTPOINT_H

#include <stdbool.h>

enum { MOUNTPOINT_ERROR_SIZE = 512 };

/* The absolute path of something whose last part may be missing or dead. The caller frees it.
 * 0 or negative errno. */
int mountpoint_absolute(const char *path, char **ret_path);
/* Is `path` the directory or below it? Both are absolute. */
bool mountpoint_contains(const char *directory, const char *path);
/* 0 if it is a directory that can be mounted on, once the corpses of our own mounts were taken
 * away; else negative errno with one line in error. -EBUSY: a living cdcfs is mounted there. */
int mountpoint_prepare(const char *path, char error[MOUNTPOINT_ERROR_SIZE]);

#endif
