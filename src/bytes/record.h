/* SPDX-License-Identifier: MIT
 *
 * record: decodes one record (file format §2.1): header of serial types, then bodies.
 * Knows nothing of tables: no rowid alias, no affinity, no defaults.
 */
#ifndef CDC_RECORD_H
#define CDC_RECORD_H

#include "bytes/value.h"

struct record {
        const uint8_t *types; /* next serial type */
        const uint8_t *types_end;
        const uint8_t *body; /* next body */
        const uint8_t *end;
};

/* Opens `size` bytes of payload. 0, or -EBADMSG if the header does not fit in it. */
int record_open(const uint8_t *payload, size_t size, struct record *ret_record);
/* The next value, borrowing the payload's bytes. 1, 0 at the end, or -EBADMSG (a reserved
 * serial type, a body beyond the payload, bytes left over after the last body). */
int record_next(struct record *record, struct value *ret_value);
/* Decodes all values at once; columns beyond `capacity` are left out but still checked.
 * 0 or -EBADMSG. *ret_count = values stored. */
int record_decode(const uint8_t *payload, size_t size, struct value *values, size_t capacity,
        size_t *ret_count);

#endif
