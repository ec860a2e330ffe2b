/* SPDX-License-Identifier: MIT
 *
 * queue: see the header. Each entry is preceded by its size in four bytes.
 */
#include "meaning/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY_LIMIT = 8 << 20, WINDOW = 1 << 20, KEPT = 1 << 20, PREFIX = 4 };

void queue_init(struct queue *queue, const char *directory)
{
        *queue = (struct queue){.directory = directory ? directory : "/var/tmp", .fd = -1};
}

void queue_release(struct queue *queue)
{
        if (queue->fd >= 0)
                close(queue->fd);
        buf_release(&queue->memory);
        queue->fd = -1;
}

void queue_reset(struct queue *queue)
{
        if (queue->fd >= 0)
                close(queue->fd);
        if (queue->memory.capacity > KEPT)
                buf_release(&queue->memory);
        buf_reset(&queue->memory);
        queue->fd = -1;
        queue->spilled = queue->window = queue->size = 0;
}

static int open_file(struct queue *queue)
{
        queue->fd = open(queue->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (queue->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
                char path[4096];
                size_t size = strlen(queue->directory);
                if (size + 20 > sizeof(path))
                        return -ENAMETOOLONG;
                memcpy(path, queue->directory, size);
                memcpy(path + size, "/.cdcfs-XXXXXX", 15);
                queue->fd = mkostemp(path, O_CLOEXEC);
                if (queue->fd >= 0)
                        unlink(path);
        }
        return queue->fd < 0 ? -errno : 0;
}

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
        while (size > 0) {
                ssize_t n = write(fd, bytes, size);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                bytes += n;
                size -= (size_t)n;
        }
        return 0;
}

static int spill(struct queue *queue)
{
        int r = queue->fd < 0 ? open_file(queue) : 0;
        if (r == 0)
                r = write_all(queue->fd, queue->memory.data, queue->memory.size);
        if (r < 0)
                return r;
        queue->spilled += queue->memory.size;
        buf_reset(&queue->memory);
        return 0;
}

int queue_append(struct queue *queue, const struct buf *entry)
{
        uint32_t size = (uint32_t)entry->size;
        if (buf_error(entry) < 0 || entry->size > UINT32_MAX - PREFIX)
                return -ENOMEM;
        buf_append(&queue->memory, &size, PREFIX);
        buf_append(&queue->memory, entry->data, entry->size);
        queue->size += PREFIX + size;
        if (buf_error(&queue->memory) < 0)
                return -ENOMEM;
        return queue->memory.size > MEMORY_LIMIT ? spill(queue) : 0;
}

static int read_all(int fd, uint64_t offset, uint8_t *bytes, size_t size)
{
        while (size > 0) {
                ssize_t n = pread(fd, bytes, size, (off_t)offset);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? -errno : -EIO;
                bytes += n;
                offset += (uint64_t)n;
                size -= (size_t)n;
        }
        return 0;
}

/* Brings [offset, offset + need) into the window. */
static int slide(struct queue *queue, uint64_t offset, uint64_t need)
{
        if (queue->fd < 0)
                return 0;
        if (queue->spilled < queue->size) {
                int r = spill(queue);
                if (r < 0)
                        return r;
        }
        if (offset >= queue->window && offset + need <= queue->window + queue->memory.size)
                return 0;
        uint64_t rest = queue->size - offset;
        uint64_t size = need > WINDOW ? need : WINDOW;
        if (size > rest)
                size = rest;
        buf_reset(&queue->memory);
        if (buf_reserve(&queue->memory, size) < 0)
                return -ENOMEM;
        queue->window = offset;
        queue->memory.size = size;
        return read_all(queue->fd, offset, queue->memory.data, size);
}

int queue_read(struct queue *queue, uint64_t *offset, const uint8_t **ret_bytes, uint32_t *ret_size)
{
        uint32_t size;
        if (*offset >= queue->size)
                return 0;
        int r = slide(queue, *offset, PREFIX);
        if (r < 0)
                return r;
        memcpy(&size, queue->memory.data + (*offset - queue->window), PREFIX);
        r = slide(queue, *offset, PREFIX + (uint64_t)size);
        if (r < 0)
                return r;
        *ret_bytes = queue->memory.data + (*offset - queue->window) + PREFIX;
        *ret_size = size;
        *offset += PREFIX + size;
        return 1;
}
