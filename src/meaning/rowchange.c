/* SPDX-License-Identifier: MIT
 *
 * rowchange: see the header. Rows of a keyed instance wait in the sorter as {key, side, values};
 * of one key there are at most two: one that went and one that came, or a pair that stayed.
 */
#include "meaning/rowchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_OLD = 0, SIDE_NEW = 1, SIDE_BOTH = 2 };

void rowchange_release(struct rowchange *rows)
{
        sorter_release(&rows->sorter);
        free(rows->values[0]);
        free(rows->values[1]);
        buf_release(&rows->keys[0]);
        buf_release(&rows->keys[1]);
        buf_release(&rows->payload);
        *rows = (struct rowchange){0};
}

int rowchange_begin(struct rowchange *rows, const struct binding *binding, struct changeset *set)
{
        unsigned columns = binding->column_count;
        rows->binding = binding;
        rows->set = set;
        for (int i = 0; columns > rows->capacity && i < 2; i++) {
                struct value *values = realloc(rows->values[i], columns * sizeof(*values));
                if (!values)
                        return -ENOMEM;
                rows->values[i] = values;
        }
        if (columns > rows->capacity)
                rows->capacity = columns;
        return changeset_begin_instance(set, binding->object_id, columns);
}

static const struct value *project(
        struct rowchange *rows, int side, int64_t rowid, const struct rowchange_row *row)
{
        if (!row)
                return NULL;
        binding_project(rows->binding, rowid, row->values, row->count, rows->values[side]);
        return rows->values[side];
}

static int sort_row(struct rowchange *rows, const struct buf *key, unsigned side,
        const struct value *before, const struct value *after)
{
        buf_reset(&rows->payload);
        for (unsigned i = 0; before && i < rows->binding->column_count; i++)
                value_append(&rows->payload, &before[i]);
        for (unsigned i = 0; after && i < rows->binding->column_count; i++)
                value_append(&rows->payload, &after[i]);
        return sorter_add(&rows->sorter, key, side, &rows->payload);
}

static int add_keyed(struct rowchange *rows, int64_t rowid, const struct value *before,
        const struct value *after)
{
        struct buf *old = &rows->keys[SIDE_OLD], *new = &rows->keys[SIDE_NEW];
        buf_reset(old);
        buf_reset(new);
        if (before)
                binding_append_identity(rows->binding, rowid, before, old);
        if (after)
                binding_append_identity(rows->binding, rowid, after, new);
        if (before && after &&
                old->size == new->size &&memcmp(old->data, new->data, old->size) == 0)
                return sort_row(rows, old, SIDE_BOTH, before, after);
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
        if (rows->binding->is_rowid_identity)
                return changeset_add(rows->set, before, after);
        return add_keyed(rows, rowid, before, after);
}

static int parse_side(struct rowchange *rows, int side, const uint8_t **cursor, const uint8_t *end)
{
        int r = 0;
        for (unsigned i = 0; r == 0 && i < rows->binding->column_count; i++)
                r = value_parse(cursor, end, &rows->values[side][i]);
        return r;
}

/* Tells the change of one key that waits in keys[0] (the key) and payload (the old values). */
static int tell_old(struct rowchange *rows)
{
        const uint8_t *cursor = rows->payload.data, *end = cursor + rows->payload.size;
        int r = parse_side(rows, SIDE_OLD, &cursor, end);
        return r < 0 ? r : changeset_add(rows->set, rows->values[SIDE_OLD], NULL);
}

static int tell_both(struct rowchange *rows, const struct sorter_entry *e)
{
        const uint8_t *cursor = e->payload, *end = cursor + e->payload_size;
        int r = parse_side(rows, SIDE_OLD, &cursor, end);
        if (r == 0)
                r = parse_side(rows, SIDE_NEW, &cursor, end);
        return r < 0 ? r : changeset_add(rows->set, rows->values[SIDE_OLD], rows->values[SIDE_NEW]);
}

static int tell_new(struct rowchange *rows, const struct sorter_entry *e, bool has_old)
{
        const uint8_t *cursor = e->payload, *end = cursor + e->payload_size;
        int r = parse_side(rows, SIDE_NEW, &cursor, end);
        if (r == 0 && has_old) {
                cursor = rows->payload.data;
                r = parse_side(rows, SIDE_OLD, &cursor, cursor + rows->payload.size);
        }
        const struct value *before = has_old ? rows->values[SIDE_OLD] : NULL;
        return r < 0 ? r : changeset_add(rows->set, before, rows->values[SIDE_NEW]);
}

static void hold_old(struct rowchange *rows, const struct sorter_entry *e)
{
        buf_reset(&rows->keys[0]);
        buf_reset(&rows->payload);
        buf_append(&rows->keys[0], e->key, e->key_size);
        buf_append(&rows->payload, e->payload, e->payload_size);
}

static bool is_held(const struct rowchange *rows, const struct sorter_entry *e)
{
        return rows->keys[0].size == e->key_size &&
               memcmp(rows->keys[0].data, e->key, e->key_size) == 0;
}

int rowchange_end(struct rowchange *rows)
{
        struct sorter_entry e;
        bool has_old = false;
        int r = sorter_sort(&rows->sorter);
        while (r == 0 && (r = sorter_next(&rows->sorter, &e)) == 1) {
                bool is_pair = has_old && e.side == SIDE_NEW && is_held(rows, &e);
                r = has_old && !is_pair ? tell_old(rows) : 0;
                has_old = false;
                if (r == 0 && e.side == SIDE_OLD) {
                        hold_old(rows, &e);
                        has_old = true;
                        r = buf_error(&rows->payload) < 0 || buf_error(&rows->keys[0]) < 0 ? -ENOMEM
                                                                                           : 0;
                } else if (r == 0) {
                        r = e.side == SIDE_NEW ? tell_new(rows, &e, is_pair) : tell_both(rows, &e);
                }
        }
        if (r == 0 && has_old)
                r = tell_old(rows);
        int cleared = sorter_reset(&rows->sorter);
        return r < 0 ? r : cleared;
}
