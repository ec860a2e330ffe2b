/* SPDX-License-Identifier: MIT
 *
 * bytes: see bytes.h. Numbers stand in the machine's own order: records never leave it.
 */
#include "bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *memory_grow(void *old, size_t size)
{
        void *memory = realloc(old, size ? size : 1);
        if (!memory)
                abort();
        return memory;
}

char *memory_text(const char *text)
{
        size_t size = strlen(text) + 1;
        return memcpy(memory_grow(NULL, size), text, size);
}

void bytes_release(struct bytes *bytes)
{
        free(bytes->data);
        *bytes = (struct bytes){0};
}

void *bytes_grow(struct bytes *bytes, size_t more)
{
        size_t needed = bytes->size + more;
        if (needed > bytes->capacity || !bytes->data) {
                size_t capacity = bytes->capacity * 2 > needed ? bytes->capacity * 2 : needed + 64;
                bytes->data = memory_grow(bytes->data, capacity);
                bytes->capacity = capacity;
        }
        void *place = bytes->data + bytes->size;
        bytes->size = needed;
        return place;
}

void bytes_append(struct bytes *bytes, const void *data, size_t size)
{
        void *place = bytes_grow(bytes, size);
        if (size)
                memcpy(place, data, size);
}

void bytes_append_u8(struct bytes *bytes, uint8_t value)
{
        bytes_append(bytes, &value, sizeof(value));
}

void bytes_append_u32(struct bytes *bytes, uint32_t value)
{
        bytes_append(bytes, &value, sizeof(value));
}

void bytes_append_u64(struct bytes *bytes, uint64_t value)
{
        bytes_append(bytes, &value, sizeof(value));
}

void bytes_append_blob(struct bytes *bytes, const void *data, size_t size)
{
        bytes_append_u32(bytes, (uint32_t)size);
        bytes_append(bytes, data, size);
}

void bytes_append_text(struct bytes *bytes, const char *text)
{
        bytes_append_blob(bytes, text, strlen(text));
}

void bytes_append_format(struct bytes *bytes, const char *format, ...)
{
        va_list arguments;
        _cleanup_free_ char *text = NULL;
        va_start(arguments, format);
        int size = vasprintf(&text, format, arguments);
        va_end(arguments);
        if (size < 0)
                abort();
        bytes_append(bytes, text, (size_t)size);
}

const char *bytes_string(struct bytes *bytes)
{
        bytes_append_u8(bytes, 0);
        bytes->size--;
        return (const char *)bytes->data;
}

static bool read_take(struct reader *reader, void *ret_value, size_t size)
{
        if ((size_t)(reader->end - reader->at) < size) {
                reader->is_broken = true;
                reader->at = reader->end;
                memset(ret_value, 0, size);
                return false;
        }
        memcpy(ret_value, reader->at, size);
        reader->at += size;
        return true;
}

uint8_t read_u8(struct reader *reader)
{
        uint8_t value;
        read_take(reader, &value, sizeof(value));
        return value;
}

uint32_t read_u32(struct reader *reader)
{
        uint32_t value;
        read_take(reader, &value, sizeof(value));
        return value;
}

uint64_t read_u64(struct reader *reader)
{
        uint64_t value;
        read_take(reader, &value, sizeof(value));
        return value;
}

const uint8_t *read_blob(struct reader *reader, size_t *ret_size)
{
        size_t size = read_u32(reader);
        if ((size_t)(reader->end - reader->at) < size) {
                reader->is_broken = true;
                size = 0;
        }
        const uint8_t *bytes = reader->at;
        reader->at += size;
        *ret_size = size;
        return bytes;
}

char *read_text(struct reader *reader)
{
        size_t size;
        const uint8_t *bytes = read_blob(reader, &size);
        char *text = memory_grow(NULL, size + 1);
        memcpy(text, bytes, size);
        text[size] = 0;
        return text;
}

uint64_t bytes_hash(const void *data, size_t size)
{
        const uint8_t *at = data;
        uint64_t hash = 0x9e3779b97f4a7c15u ^ size;
        for (; size >= 8; size -= 8, at += 8) {
                uint64_t word;
                memcpy(&word, at, 8);
                hash = (hash ^ word) * 0xff51afd7ed558ccdu;
                hash ^= hash >> 32;
        }
        uint64_t tail = 0;
        if (size)
                memcpy(&tail, at, size);
        hash = (hash ^ tail) * 0xc4ceb9fe1a85ec53u;
        return hash ^ hash >> 29;
}

int bytes_read_file(struct bytes *bytes, const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        struct stat status;
        int result = fstat(fd, &status) < 0 ? -errno : 0;
        size_t left = result < 0 ? 0 : (size_t)status.st_size;
        uint8_t *at = bytes_grow(bytes, left);
        while (left && result == 0) {
                ssize_t got = read(fd, at, left);
                if (got <= 0)
                        result = got < 0 ? -errno : -EIO;
                else
                        at += got, left -= (size_t)got;
        }
        close(fd);
        return result;
}
