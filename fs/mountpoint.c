/* SPDX-License-Identifier: MIT
 *
 * mountpoint: paths, corpses and mounts in the way.
 */
#include "mountpoint.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <mntent.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { DEATH_TRIES = 100, DEATH_PAUSE_NS = 10000000 };

/* ---- paths ---- */

/* A request that the daemon took with it into death is aborted; all later ones have no daemon. */
static bool is_death(int error)
{
        return error == ENOTCONN || error == ECONNABORTED;
}

/* The real path of the directory a path is in, with its last part as it stands. */
static char *absolute_by_parent(const char *path)
{
        char *copies[2] = {strdup(path), strdup(path)};
        char *parent = copies[0] && copies[1] ? realpath(dirname(copies[0]), NULL) : NULL;
        char *absolute = NULL;
        if (parent && asprintf(&absolute, "%s/%s", strcmp(parent, "/") ? parent : "",
                              basename(copies[1])) < 0)
                absolute = NULL;
        free(parent);
        free(copies[0]);
        free(copies[1]);
        return absolute;
}

int mountpoint_absolute(const char *path, char **ret_path)
{
        char *absolute = realpath(path, NULL);
        if (!absolute && (errno == ENOENT || is_death(errno)))
                absolute = absolute_by_parent(path);
        if (!absolute)
                return errno ? -errno : -ENOMEM;
        *ret_path = absolute;
        return 0;
}

bool mountpoint_contains(const char *directory, const char *path)
{
        size_t size = strlen(directory);
        while (size > 0 && directory[size - 1] == '/')
                size--;
        return strncmp(directory, path, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

/* ---- mounts ---- */

/* Is what is mounted there last a cdcfs? */
static bool is_ours(const char *path)
{
        FILE *table = setmntent("/proc/self/mounts", "r");
        bool is_cdcfs = false;
        struct mntent entry;
        char strings[8192];
        while (table && getmntent_r(table, &entry, strings, sizeof strings)) {
                if (strcmp(entry.mnt_dir, path) == 0)
                        is_cdcfs = strcmp(entry.mnt_type, "fuse.cdcfs") == 0;
        }
        if (table)
                endmntent(table);
        return is_cdcfs;
}

static int run_fusermount(const char *path)
{
        char *words[] = {"fusermount3", "-u", "-z", "--", (char *)path, NULL};
        pid_t child;
        int ended = 0;
        int r = -posix_spawnp(&child, words[0], NULL, NULL, words, environ);
        if (r < 0)
                return r;
        if (waitpid(child, &ended, 0) != child || !WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
                return -EPERM;
        return 0;
}

static int detach(const char *path)
{
        if (umount2(path, MNT_DETACH) == 0)
                return 0;
        return errno == EPERM ? run_fusermount(path) : -errno;
}

static int fail(char error[MOUNTPOINT_ERROR_SIZE], int errno_, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static int fail(char error[MOUNTPOINT_ERROR_SIZE], int errno_, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error, MOUNTPOINT_ERROR_SIZE, format, arguments);
        va_end(arguments);
        return -errno_;
}

/* Corpses may be stacked. */
static int remove_corpses(const char *path, char error[MOUNTPOINT_ERROR_SIZE])
{
        struct statfs statfs_;
        while (statfs(path, &statfs_) < 0 && is_death(errno)) {
                if (!is_ours(path) && statfs(path, &statfs_) < 0)
                        return fail(
                                error, ENOTCONN, "'%s' is a dead mount of something else", path);
                int r = detach(path);
                if (r < 0)
                        return fail(error, -r, "cannot take down the dead mount at '%s': %s", path,
                                strerror(-r));
        }
        return 0;
}

/* A daemon that was killed just now may die between any two looks. */
static int take_down_and_look(
        const char *path, struct stat *ret_stat, char error[MOUNTPOINT_ERROR_SIZE])
{
        const struct timespec pause = {.tv_nsec = DEATH_PAUSE_NS};
        for (int i = 0;; i++) {
                int r = remove_corpses(path, error);
                if (r < 0 || stat(path, ret_stat) == 0)
                        return r;
                if (!is_death(errno) || i == DEATH_TRIES)
                        return fail(error, errno, "mount point '%s': %s", path, strerror(errno));
                nanosleep(&pause, NULL);
        }
}

int mountpoint_prepare(const char *path, char error[MOUNTPOINT_ERROR_SIZE])
{
        struct stat stat_;
        int r = take_down_and_look(path, &stat_, error);
        if (r < 0)
                return r;
        if (!S_ISDIR(stat_.st_mode))
                return fail(error, ENOTDIR, "mount point '%s' is not a directory", path);
        if (is_ours(path))
                return fail(error, EBUSY, "a cdcfs is mounted on '%s' already", path);
        return 0;
}
