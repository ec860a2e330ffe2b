/* SPDX-License-Identifier: MIT
 *
 * spool: unlinked files in memory or on a disk.
 */
#include "faces/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ground/cleanup.h"

/* In a directory whose file system knows files without a name, or else by unlinking one. */
static int open_unlinked(const char *directory, int *ret_fd)
{
        int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0) {
                *ret_fd = fd;
                return 0;
        }
        if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
                return -errno;
        _cleanup_free_ char *path = NULL;
        if (asprintf(&path, "%s/.cdcfs-spool-XXXXXX", directory) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        fd = mkostemp(path, O_CLOEXEC);
        if (fd < 0)
                return -errno;
        unlink(path);
        *ret_fd = fd;
        return 0;
}

int spool_open(const char *directory, uint64_t size, int *ret_fd)
{
        if (size < SPOOL_MEMORY_SIZE) {
                int fd = memfd_create("cdcfs-spool", MFD_CLOEXEC);
                if (fd < 0)
                        return -errno;
                *ret_fd = fd;
                return 0;
        }
        int r = open_unlinked(directory, ret_fd);
        if (r == -EACCES || r == -EROFS || r == -ENOENT) {
                const char *temporary = getenv("TMPDIR");
                r = open_unlinked(temporary ? temporary : "/var/tmp", ret_fd);
        }
        return r;
}

int spool_write(int fd, const void *bytes, size_t size, uint64_t offset)
{
        const char *next = bytes;
        while (size > 0) {
                ssize_t written = pwrite(fd, next, size, (off_t)offset);
                if (written < 0 && errno == EINTR)
                        continue;
                if (written < 0)
                        return -errno;
                next += written;
                offset += (uint64_t)written;
                size -= (size_t)written;
        }
        return 0;
}

int spool_read(int fd, void *buffer, size_t size, uint64_t offset)
{
        char *next = buffer;
        while (size > 0) {
                ssize_t got = pread(fd, next, size, (off_t)offset);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return -errno;
                if (got == 0)
                        return -EIO;
                next += got;
                offset += (uint64_t)got;
                size -= (size_t)got;
        }
        return 0;
}

int spool_discard(int fd, uint64_t offset, uint64_t size)
{
        int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
        if (size > 0 && fallocate(fd, how, (off_t)offset, (off_t)size) < 0)
                return -errno;
        return 0;
}
