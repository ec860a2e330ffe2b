/* SPDX-License-Identifier: MIT
 *
 * bytes: a growable buffer, and a reader over one. The differential test's records, row images
 * and statements are kept in it.
 *
 * A test program that has no memory can do nothing useful: growing aborts. The test links no
 * room of src/, so this is not src/ground/buf.
 */
#ifndef DIFFERENTIAL_BYTES_H
#define DIFFERENTIAL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A zeroed struct is an empty buffer. */
struct bytes {
        uint8_t *data; /* owned */
        size_t size;
        size_t capacity;
};

/* realloc() that aborts instead of failing. */
void *memory_grow(void *old, size_t size);
char *memory_text(const char *text);

void bytes_release(struct bytes *bytes);
/* Makes room for `more` bytes, counts them in, and returns where they stand. */
void *bytes_grow(struct bytes *bytes, size_t more);
void bytes_append(struct bytes *bytes, const void *data, size_t size);
void bytes_append_u8(struct bytes *bytes, uint8_t value);
void bytes_append_u32(struct bytes *bytes, uint32_t value);
void bytes_append_u64(struct bytes *bytes, uint64_t value);
/* u32 length, then the bytes. */
void bytes_append_blob(struct bytes *bytes, const void *data, size_t size);
void bytes_append_text(struct bytes *bytes, const char *text);
void bytes_append_format(struct bytes *bytes, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* Terminates with a NUL that does not count into size. Holds until the next append. */
const char *bytes_string(struct bytes *bytes);

/* Reading beyond the end sets is_broken and gives zeros. */
struct reader {
        const uint8_t *at;
        const uint8_t *end;
        bool is_broken;
};

uint8_t read_u8(struct reader *reader);
uint32_t read_u32(struct reader *reader);
uint64_t read_u64(struct reader *reader);
const uint8_t *read_blob(struct reader *reader, size_t *ret_size);
/* The text is copied; the caller frees it. */
char *read_text(struct reader *reader);

/* 64 bits over the bytes, eight at a time: good enough to tell table states apart. */
uint64_t bytes_hash(const void *data, size_t size);

/* A whole file. 0 or negative errno; content is appended. */
int bytes_read_file(struct bytes *bytes, const char *path);

static inline void cleanup_freep(void *p)
{
        free(*(void **)p);
}

#define _cleanup_free_ _cleanup_(cleanup_freep)
#define _cleanup_bytes_ _cleanup_(bytes_release)

#endif
