/* SPDX-License-Identifier: MIT
 *
 * identity: see the header. /proc/locks is asked for the holder's pid only: it names the lock by
 * device and inode, and on some file systems by another device number than stat does.
 */
#include "source/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "ground/cleanup.h"

enum { LIST_TRIES = 5, CLAIM_TRIES = 100, PAUSE_NS = 1000000 };
enum { LOCK_WRITE_BYTE = 120, LOCK_CHECKPOINT_BYTE = 121 };

static pid_t read_pid(const struct stat *st)
{
        pid_t found = 0;
        char line[256];
        FILE *locks = fopen("/proc/locks", "re");
        while (locks && found == 0 && fgets(line, sizeof(line), locks)) {
                int pid = 0;
                unsigned long long inode = 0;
                if (sscanf(line, "%*d: FLOCK %*s WRITE %d %*x:%*x:%llu", &pid, &inode) == 2 &&
                        inode == st->st_ino)
                        found = pid;
        }
        if (locks)
                fclose(locks);
        return found;
}

/* While locks come and go, the list can leave one out that stays. */
static pid_t find_pid(const struct stat *st)
{
        pid_t found = 0;
        for (int i = 0; i < LIST_TRIES && found == 0; i++)
                found = read_pid(st);
        return found;
}

/* A process that only asks (identity_holder) has the lock shared for an instant: that is waited
 * for, but no process that claimed it. *ret_pid: that one, or 0. */
static int claim_lock(int fd, const struct stat *st, pid_t *ret_pid)
{
        struct timespec pause = {.tv_nsec = PAUSE_NS};
        for (int i = 0;; i++) {
                if (flock(fd, LOCK_EX | LOCK_NB) == 0)
                        return 0;
                if (errno != EWOULDBLOCK)
                        return -errno;
                *ret_pid = find_pid(st);
                if (i == CLAIM_TRIES || *ret_pid != 0)
                        return -EWOULDBLOCK;
                nanosleep(&pause, NULL);
        }
}

static int lock_refused(const char *path, pid_t pid, struct problem *problem)
{
        if (pid > 0)
                return problem_set(problem, EBUSY, 0,
                        "process %d runs the jobs of %s already: stop it first, or mount with "
                        "-o nojobs",
                        (int)pid, path);
        return problem_set(problem, EBUSY, 0,
                "another process runs the jobs of %s already: stop it first, or mount with "
                "-o nojobs",
                path);
}

int identity_claim(const char *path, struct identity *ret_identity, struct problem *problem)
{
        struct stat st;
        _cleanup_free_ char *absolute = realpath(path, NULL);
        _cleanup_close_ int fd = absolute ? open(absolute, O_RDONLY | O_CLOEXEC) : -1;
        if (fd < 0 || fstat(fd, &st) < 0)
                return problem_set(problem, errno, 0, "%s: %s", path, strerror(errno));
        if (!S_ISREG(st.st_mode))
                return problem_set(problem, EINVAL, 0, "%s is no regular file", path);
        if (st.st_nlink > 1)
                return problem_set(problem, ENOTSUP, 0,
                        "%s has %lu hard links: SQLite would give each name a log of its own; "
                        "remove the other names",
                        path, (unsigned long)st.st_nlink);
        pid_t pid = 0;
        int r = claim_lock(fd, &st, &pid);
        if (r == -EWOULDBLOCK)
                return lock_refused(path, pid, problem);
        if (r < 0)
                return problem_set(problem, -r, 0, "cannot lock %s: %s", path, strerror(-r));
        *ret_identity = (struct identity){
                .fd = fd, .device = st.st_dev, .inode = st.st_ino, .path = steal(absolute)};
        fd = -1;
        return 0;
}

static int store_refused(const char *path, pid_t pid, struct problem *problem)
{
        if (pid > 0)
                return problem_set(problem, EADDRINUSE, 0,
                        "process %d runs the jobs of the store %s already, for another database",
                        (int)pid, path);
        return problem_set(problem, EADDRINUSE, 0,
                "another process runs the jobs of the store %s already, for another database",
                path);
}

int identity_claim_store(const char *path, int *ret_fd, struct problem *problem)
{
        struct stat st;
        pid_t pid = 0;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0)
                return problem_set(problem, errno, 0, "%s: %s", path, strerror(errno));
        int r = claim_lock(fd, &st, &pid);
        if (r == -EWOULDBLOCK)
                return store_refused(path, pid, problem);
        if (r < 0)
                return problem_set(problem, -r, 0, "cannot lock %s: %s", path, strerror(-r));
        *ret_fd = fd;
        return 0;
}

void identity_release_store(int fd)
{
        if (fd >= 0)
                flock(fd, LOCK_UN);
}

void identity_release(struct identity *identity)
{
        if (!identity->path)
                return;
        close(identity->fd);
        free(identity->path);
        *identity = (struct identity){.fd = -1};
}

int identity_changed(const struct identity *identity)
{
        struct stat st;
        if (stat(identity->path, &st) < 0)
                return -errno;
        return st.st_dev != identity->device || st.st_ino != identity->inode;
}

int identity_holder(const char *path, pid_t *ret_pid)
{
        struct stat st;
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (flock(fd, LOCK_SH | LOCK_NB) == 0)
                return 0;
        if (errno != EWOULDBLOCK)
                return -errno;
        *ret_pid = find_pid(&st);
        return 1;
}

int identity_open_index(const struct identity *identity)
{
        _cleanup_free_ char *path = NULL;
        if (asprintf(&path, "%s-shm", identity->path) < 0)
                return -ENOMEM;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

/* Only an exclusive lock conflicts with a shared one; locks of this process never do. */
static bool is_locked(int fd, off_t byte)
{
        struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
        return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool identity_is_written(int index_fd)
{
        return is_locked(index_fd, LOCK_WRITE_BYTE);
}

bool identity_is_checkpointed(int index_fd)
{
        return is_locked(index_fd, LOCK_CHECKPOINT_BYTE);
}
