/* SPDX-License-Identifier: MIT
 *
 * buf: a growable byte buffer with a sticky error.
 *
 * Appending after a failed allocation does nothing; the caller asks once at the end with
 * buf_error(). A zeroed struct is an empty buffer; buf_release() may be called on one.
 * The buffer owns its bytes; `data` is not NUL-terminated unless buf_string() was called.
 */
#ifndef CDC_BUF_H
#define CDC_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
        uint8_t *data; /* owned */
        size_t size;
        size_t capacity;
        int error; /* 0 or -ENOMEM, sticky */
};

#define BUF_INIT                                                                                   \
        {                                                                                          \
                0                                                                                  \
        }

void buf_release(struct buf *buf);
/* Forgets the content and the error; keeps the memory. */
void buf_reset(struct buf *buf);
int buf_error(const struct buf *buf);
/* Makes room for `size` more bytes. 0 or -ENOMEM. */
int buf_reserve(struct buf *buf, size_t size);
void buf_append(struct buf *buf, const void *bytes, size_t size);
void buf_append_byte(struct buf *buf, uint8_t byte);
void buf_append_string(struct buf *buf, const char *string);
void buf_append_format(struct buf *buf, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* Two lower-case hex digits for each byte. */
void buf_append_hex(struct buf *buf, const void *bytes, size_t size);
/* Base64 with padding (RFC 4648 §4), on one line. */
void buf_append_base64(struct buf *buf, const void *bytes, size_t size);
/* Terminates the content with a NUL that does not count into size; "" for an empty buffer.
 * The string belongs to the buffer and holds until the next append. */
const char *buf_string(struct buf *buf);
/* Hands the bytes (NUL-terminated) to the caller, who frees them. NULL after an error. */
char *buf_steal(struct buf *buf);

#endif
