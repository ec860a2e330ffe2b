/* SPDX-License-Identifier: MIT
 *
 * record: reads a record's serial types and bodies side by side.
 *
 * A record that SQLite would call corrupt is refused: reserved types, bodies that run past the
 * payload, bytes that no type accounts for. It knows nothing of tables, so a NULL may be a
 * rowid alias and missing trailing values may be defaults; the reader of the schema decides.
 */
#include "bytes/record.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "ground/bytes.h"

enum {
        SERIAL_NULL = 0,
        SERIAL_INTEGER_LAST = 6,
        SERIAL_REAL = 7,
        SERIAL_ZERO = 8,
        SERIAL_ONE = 9,
        SERIAL_BLOB = 12, /* and every even number above; odd ones are TEXT */
};

int record_open(const uint8_t *payload, size_t size, struct record *ret_record)
{
        uint64_t header;
        if (size == 0)
                return -EBADMSG;
        unsigned taken = varint_get(payload, payload + size, &header);
        if (taken == 0 || header < taken || header > size)
                return -EBADMSG;
        *ret_record = (struct record){
                .types = payload + taken,
                .types_end = payload + header,
                .body = payload + header,
                .end = payload + size,
        };
        return 0;
}

static uint64_t body_size(uint64_t serial)
{
        static const uint8_t sizes[SERIAL_BLOB] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
        return serial < SERIAL_BLOB ? sizes[serial] : (serial - SERIAL_BLOB) / 2;
}

static int64_t read_integer(const uint8_t *body, uint64_t size)
{
        uint64_t v = body[0] & 0x80 ? UINT64_MAX : 0;
        for (uint64_t i = 0; i < size; i++)
                v = v << 8 | body[i];
        return (int64_t)v;
}

static struct value read_real(const uint8_t *body)
{
        struct value value = {.type = VALUE_REAL};
        uint64_t bits = be64(body);
        memcpy(&value.real, &bits, sizeof(bits));
        /* SQLite has no NaN and reads one as NULL. */
        return isnan(value.real) ? (struct value){.type = VALUE_NULL} : value;
}

static struct value read_body(uint64_t serial, const uint8_t *body, uint32_t size)
{
        if (serial == SERIAL_NULL)
                return (struct value){.type = VALUE_NULL};
        if (serial <= SERIAL_INTEGER_LAST)
                return (struct value){.type = VALUE_INTEGER, .integer = read_integer(body, size)};
        if (serial == SERIAL_REAL)
                return read_real(body);
        if (serial <= SERIAL_ONE)
                return (struct value){.type = VALUE_INTEGER, .integer = serial == SERIAL_ONE};
        return (struct value){
                .type = serial % 2 ? VALUE_TEXT : VALUE_BLOB,
                .size = size,
                .bytes = body,
        };
}

int record_next(struct record *record, struct value *ret_value)
{
        if (record->types == record->types_end)
                return record->body == record->end ? 0 : -EBADMSG;
        uint64_t serial;
        unsigned taken = varint_get(record->types, record->types_end, &serial);
        if (taken == 0 || (serial > SERIAL_ONE && serial < SERIAL_BLOB))
                return -EBADMSG;
        uint64_t size = body_size(serial);
        if (size > (size_t)(record->end - record->body) || size > UINT32_MAX)
                return -EBADMSG;
        *ret_value = read_body(serial, record->body, (uint32_t)size);
        record->types += taken;
        record->body += size;
        return 1;
}

int record_decode(const uint8_t *payload, size_t size, struct value *values, size_t capacity,
        size_t *ret_count)
{
        struct record record;
        struct value value;
        size_t count = 0;
        int result = record_open(payload, size, &record);
        if (result < 0)
                return result;
        while ((result = record_next(&record, &value)) > 0) {
                if (count < capacity)
                        values[count++] = value;
        }
        if (result < 0)
                return result;
        *ret_count = count;
        return 0;
}
