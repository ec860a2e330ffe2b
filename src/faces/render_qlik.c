/* SPDX-License-Identifier: MIT
 *
 * render_qlik: CSV with the columns of a change table of Qlik Replicate, over the rows of events.h.
 *
 *   header__change_seq       35 digits: UTC commit time to hundredths of a second (16), cut off,
 * and the number of the change (19), which a before image has from its update header__change_oper
 * I, U, D, or B for a before image header__change_mask      hex: bit N, counted from the lowest bit
 * of the first byte, is column N of this file, header columns included; trailing zero bytes are
 * left out. An insert has all captured columns, an update those that differ, a delete the key (all
 * columns without one), a before image nothing header__stream_position  LSN of the commit
 *   header__operation        INSERT, UPDATE, DELETE, BEFOREIMAGE
 *   header__transaction_id   32 hex digits
 *   header__timestamp        the commit time
 *
 * Commit times never fall from LSN to LSN and numbers always rise, so that change_seq rises too,
 * over all tables, where the clock is set back.
 *
 * Values are those of csv, but a BLOB is plain hex between quotes. Source: Qlik Replicate's page
 * "Change Tables"; where its text and its byte examples differ, the bytes hold.
 */
#include <stdbool.h>
#include <string.h>

#include "faces/csv.h"
#include "faces/events.h"
#include "faces/render_formats.h"
#include "faces/scalar.h"
#include "ground/clock.h"

enum { HEADER_COLUMNS = 7, TRANSACTION_SIZE = 16, NUMBER_DIGITS = 19 };

static const struct {
        const char *letter, *word;
} operations[] = {
        {"", ""}, {"D", "DELETE"}, {"I", "INSERT"}, {"B", "BEFOREIMAGE"}, {"U", "UPDATE"}};

/* ---- the mask ---- */

/* What it says of the captured column `index`. */
static bool has_changed(
        const struct result_shape *shape, const struct value *values, bool has_key, unsigned index)
{
        const struct value *mask = &values[EVENTS_UPDATE_MASK];
        switch (values[EVENTS_OPERATION].integer) {
        case 1:
                return !has_key || shape->columns[EVENTS_METADATA + index].is_key;
        case 2:
                return true;
        case 4:
                return mask->type == VALUE_BLOB && mask_is_set(mask->bytes, mask->size, index + 1);
        default:
                return false;
        }
}

static bool has_key(const struct result_shape *shape)
{
        bool is_found = false;
        for (unsigned i = EVENTS_METADATA; i < shape->count; i++)
                is_found |= shape->columns[i].is_key;
        return is_found;
}

static void append_mask(
        struct buf *buf, const struct result_shape *shape, const struct value *values)
{
        bool is_keyed = values[EVENTS_OPERATION].integer == 1 && has_key(shape);
        unsigned columns = HEADER_COLUMNS + shape->count - EVENTS_METADATA;
        size_t end = buf->size; /* after the last byte that is not zero */
        for (unsigned bit = 0; bit < columns && !buf_error(buf); bit += 8) {
                uint8_t byte = 0;
                for (unsigned i = bit; i < bit + 8 && i < columns; i++) {
                        if (i >= HEADER_COLUMNS &&
                                has_changed(shape, values, is_keyed, i - HEADER_COLUMNS))
                                byte |= (uint8_t)(1 << (i - bit));
                }
                buf_append_hex(buf, &byte, 1);
                end = byte ? buf->size : end;
        }
        buf->size = end;
}

/* ---- the header columns ---- */

/* Of `2026-11-30T10:00:00.123456Z` the digits 2026113010000012. */
static void append_sequence(struct buf *buf, const char *time, uint64_t number)
{
        char digits[NUMBER_DIGITS];
        for (const char *c = time; *c != '.'; c++) {
                if (*c >= '0' && *c <= '9')
                        buf_append_byte(buf, (uint8_t)*c);
        }
        buf_append(buf, strchr(time, '.') + 1, 2);
        for (size_t i = sizeof digits; i-- > 0; number /= 10)
                digits[i] = (char)('0' + number % 10);
        buf_append(buf, digits, sizeof digits);
}

static uint64_t number_of(const struct value *seqval)
{
        struct lsn lsn = {0};
        if (seqval->type == VALUE_BLOB && seqval->size == LSN_SIZE)
                memcpy(lsn.bytes, seqval->bytes, LSN_SIZE);
        return lsn_to_change(lsn);
}

static void append_transaction(struct buf *buf, const struct value *id)
{
        uint8_t bytes[TRANSACTION_SIZE] = {0};
        if (id->type == VALUE_BLOB && id->size <= sizeof bytes)
                memcpy(bytes + sizeof bytes - id->size, id->bytes, id->size);
        buf_append_hex(buf, bytes, sizeof bytes);
}

static void append_header_columns(
        struct buf *buf, const struct result_shape *shape, const struct value *values)
{
        char time[CLOCK_TEXT_SIZE];
        int64_t operation = values[EVENTS_OPERATION].integer;
        unsigned place = operation >= 1 && operation <= 4 ? (unsigned)operation : 0;
        clock_format(values[EVENTS_TIME].integer, time);
        append_sequence(buf, time, number_of(&values[EVENTS_SEQVAL]));
        buf_append_byte(buf, ',');
        buf_append_string(buf, operations[place].letter);
        buf_append_byte(buf, ',');
        append_mask(buf, shape, values);
        buf_append_byte(buf, ',');
        if (values[EVENTS_START_LSN].size == LSN_SIZE)
                scalar_append_lsn(buf, values[EVENTS_START_LSN].bytes);
        buf_append_byte(buf, ',');
        buf_append_string(buf, operations[place].word);
        buf_append_byte(buf, ',');
        append_transaction(buf, &values[EVENTS_TRANSACTION]);
        buf_append_byte(buf, ',');
        buf_append_string(buf, time);
}

/* ---- rows ---- */

static void append_value(struct buf *buf, const struct value *value, enum text_encoding encoding)
{
        switch (value->type) {
        case VALUE_NULL:
                break;
        case VALUE_INTEGER:
                scalar_append_integer(buf, value->integer);
                break;
        case VALUE_REAL:
                csv_append_real(buf, value->real);
                break;
        case VALUE_TEXT:
                csv_append_text(buf, value, encoding);
                break;
        case VALUE_BLOB:
                buf_append_byte(buf, '"');
                buf_append_hex(buf, value->bytes, value->size);
                buf_append_byte(buf, '"');
                break;
        }
}

static void qlik_lead(struct buf *buf, unsigned index, const char *name)
{
        if (index < EVENTS_METADATA)
                return;
        buf_append_byte(buf, ',');
        csv_append_name(buf, name);
}

static void qlik_header(const struct render *render, struct buf *buf)
{
        buf_append_string(buf, "header__change_seq,header__change_oper,header__change_mask,"
                               "header__stream_position,header__operation,header__transaction_id,"
                               "header__timestamp");
        buf_append(buf, render->leads.data, render->leads.size);
        buf_append_byte(buf, '\n');
}

static void qlik_row(const struct render *render, const struct value *values, struct buf *buf)
{
        const struct result_shape *shape = render->shape;
        append_header_columns(buf, shape, values);
        for (unsigned i = EVENTS_METADATA; i < shape->count; i++) {
                buf_append_byte(buf, ',');
                append_value(buf, &values[i], shape->encoding);
        }
        buf_append_byte(buf, '\n');
}

const struct renderer render_qlik = {
        .name = "qlik",
        .folder = "qlik",
        .suffix = ".csv",
        .kind = RENDER_ALL,
        .version = 1,
        .has_commits = true,
        .lead = qlik_lead,
        .header = qlik_header,
        .row = qlik_row,
};
