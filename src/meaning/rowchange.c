/* SPDX-License-Identifier: MIT
 *
 * rowchange: see the header. Rows that must be sorted wait as {key, side, values}. Of one key there
 * is usually one row that went and one that came, or a pair that stayed; several pair in order.
 */
#include "meaning/rowchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Before the content where it pairs rows: it stands before keys, as a rowid does that identifies.
 */
enum { CONTENT_KEY = 0 };

enum { SIDE_OLD = 0, SIDE_NEW = 1, SIDE_BOTH = 2 };

void rowchange_release(struct rowchange *rows)
{
        sorter_release(&rows->sorter);
        free(rows->values[0]);
        free(rows->values[1]);
        buf_release(&rows->keys[0]);
        buf_release(&rows->keys[1]);
        buf_release(&rows->payload);
        buf_release(&rows->held);
        buf_release(&rows->held_key);
        *rows = (struct rowchange){0};
}

static unsigned columns_of(const struct rowchange *rows)
{
        return rows->bindings[SIDE_NEW]->column_count;
}

int rowchange_begin(struct rowchange *rows, const struct binding *before,
        const struct binding *after, bool is_by_content, struct changeset *set)
{
        unsigned columns = after->column_count;
        rows->bindings[SIDE_OLD] = before;
        rows->bindings[SIDE_NEW] = after;
        rows->is_by_content = is_by_content;
        rows->is_sorted = is_by_content || !before->is_rowid_identity || !after->is_rowid_identity;
        rows->set = set;
        for (int i = 0; columns > rows->capacity && i < 2; i++) {
                struct value *values = realloc(rows->values[i], columns * sizeof(*values));
                if (!values)
                        return -ENOMEM;
                rows->values[i] = values;
        }
        if (columns > rows->capacity)
                rows->capacity = columns;
        return changeset_begin_instance(set, after->object_id, columns);
}

static const struct value *project(
        struct rowchange *rows, int side, int64_t rowid, const struct rowchange_row *row)
{
        if (!row)
                return NULL;
        binding_project(rows->bindings[side], rowid, row->values, row->count, rows->values[side]);
        return rows->values[side];
}

/* ---- rows on their way into the sorter ---- */

static void append_identity(
        struct rowchange *rows, int side, int64_t rowid, const struct value *values)
{
        struct buf *key = &rows->keys[side];
        buf_reset(key);
        if (!rows->is_by_content || binding_is_keyed(rows->bindings[side], values)) {
                binding_append_identity(rows->bindings[side], rowid, values, key);
                return;
        }
        buf_append_byte(key, CONTENT_KEY);
        for (unsigned i = 0; i < columns_of(rows); i++)
                value_append_key(key, &values[i]);
}

static int sort_row(struct rowchange *rows, const struct buf *key, unsigned side,
        const struct value *before, const struct value *after)
{
        buf_reset(&rows->payload);
        for (unsigned i = 0; before && i < columns_of(rows); i++)
                value_append(&rows->payload, &before[i]);
        for (unsigned i = 0; after && i < columns_of(rows); i++)
                value_append(&rows->payload, &after[i]);
        return sorter_add(&rows->sorter, key, side, &rows->payload);
}

static bool is_equal(const struct buf *a, const uint8_t *bytes, size_t size)
{
        return a->size == size && (size == 0 || memcmp(a->data, bytes, size) == 0);
}

static bool is_unchanged(
        const struct rowchange *rows, const struct value *before, const struct value *after)
{
        for (unsigned i = 0; i < columns_of(rows); i++)
                if (!value_equal(&before[i], &after[i]))
                        return false;
        return true;
}

static int add_sorted(struct rowchange *rows, int64_t rowid, const struct value *before,
        const struct value *after)
{
        const struct buf *old = &rows->keys[SIDE_OLD], *new = &rows->keys[SIDE_NEW];
        if (before)
                append_identity(rows, SIDE_OLD, rowid, before);
        if (after)
                append_identity(rows, SIDE_NEW, rowid, after);
        if (before && after && is_equal(old, new->data, new->size))
                return is_unchanged(rows, before, after)
                               ? 0
                               : sort_row(rows, old, SIDE_BOTH, before, after);
        int r = before ? sort_row(rows, old, SIDE_OLD, before, NULL) : 0;
        if (r == 0 && after)
                r = sort_row(rows, new, SIDE_NEW, NULL, after);
        return r;
}

int rowchange_add(struct rowchange *rows, int64_t rowid, const struct rowchange_row *old,
        const struct rowchange_row *new)
{
        const struct value *before = project(rows, SIDE_OLD, rowid, old);
        const struct value *after = project(rows, SIDE_NEW, rowid, new);
        if (!rows->is_sorted)
                return changeset_add(rows->set, before, after);
        return add_sorted(rows, rowid, before, after);
}

/* ---- and out of it ---- */

static int parse_side(struct rowchange *rows, int side, const uint8_t **cursor, const uint8_t *end)
{
        int r = 0;
        for (unsigned i = 0; r == 0 && i < columns_of(rows); i++)
                r = value_parse(cursor, end, &rows->values[side][i]);
        return r;
}

/* Takes the oldest held row into values[SIDE_OLD]. */
static int take_held(struct rowchange *rows)
{
        uint32_t size;
        const uint8_t *cursor = rows->held.data + rows->held_next;
        memcpy(&size, cursor, sizeof(size));
        cursor += sizeof(size);
        rows->held_next += sizeof(size) + size;
        return parse_side(rows, SIDE_OLD, &cursor, cursor + size);
}

static bool has_held(const struct rowchange *rows)
{
        return rows->held_next < rows->held.size;
}

/* No new rows came for what is held: it went. */
static int tell_held(struct rowchange *rows)
{
        int r = 0;
        while (r == 0 && has_held(rows)) {
                r = take_held(rows);
                if (r == 0)
                        r = changeset_add(rows->set, rows->values[SIDE_OLD], NULL);
        }
        buf_reset(&rows->held);
        buf_reset(&rows->held_key);
        rows->held_next = 0;
        return r;
}

static int hold(struct rowchange *rows, const struct sorter_entry *e)
{
        uint32_t size = (uint32_t)e->payload_size;
        if (rows->held.size == 0)
                buf_append(&rows->held_key, e->key, e->key_size);
        buf_append(&rows->held, &size, sizeof(size));
        buf_append(&rows->held, e->payload, e->payload_size);
        return buf_error(&rows->held) < 0 || buf_error(&rows->held_key) < 0 ? -ENOMEM : 0;
}

static int tell_both(struct rowchange *rows, const struct sorter_entry *e)
{
        const uint8_t *cursor = e->payload, *end = cursor + e->payload_size;
        int r = parse_side(rows, SIDE_OLD, &cursor, end);
        if (r == 0)
                r = parse_side(rows, SIDE_NEW, &cursor, end);
        return r < 0 ? r : changeset_add(rows->set, rows->values[SIDE_OLD], rows->values[SIDE_NEW]);
}

static int tell_new(struct rowchange *rows, const struct sorter_entry *e)
{
        const uint8_t *cursor = e->payload;
        bool is_pair = has_held(rows);
        int r = parse_side(rows, SIDE_NEW, &cursor, cursor + e->payload_size);
        if (r == 0 && is_pair)
                r = take_held(rows);
        const struct value *before = is_pair ? rows->values[SIDE_OLD] : NULL;
        return r < 0 ? r : changeset_add(rows->set, before, rows->values[SIDE_NEW]);
}

static int tell_entry(struct rowchange *rows, const struct sorter_entry *e)
{
        int r = 0;
        if (rows->held.size > 0 && !is_equal(&rows->held_key, e->key, e->key_size))
                r = tell_held(rows);
        if (r < 0)
                return r;
        switch (e->side) {
        case SIDE_OLD:
                return hold(rows, e);
        case SIDE_NEW:
                return tell_new(rows, e);
        default:
                return tell_both(rows, e);
        }
}

int rowchange_end(struct rowchange *rows)
{
        struct sorter_entry e;
        int r = sorter_sort(&rows->sorter);
        while (r == 0 && (r = sorter_next(&rows->sorter, &e)) == 1)
                r = tell_entry(rows, &e);
        if (r == 0)
                r = tell_held(rows);
        buf_reset(&rows->held);
        buf_reset(&rows->held_key);
        rows->held_next = 0;
        int cleared = sorter_reset(&rows->sorter);
        return r < 0 ? r : cleared;
}
