/* SPDX-License-Identifier: MIT
 *
 * model_changeset: see model_changeset.h.
 */
#include "model_changeset.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

struct changed_row {
        struct model_table *table;
        sqlite3_changeset_iter *iterator;
        int operation;
        struct bytes identity; /* by the key before the change, which is the key after it */
        struct bytes image;    /* after the change */
        uint64_t rowid;
};

static void changed_row_release(struct changed_row *row)
{
        bytes_release(&row->identity);
        bytes_release(&row->image);
}

static sqlite3_value *value_at(const struct changed_row *row, unsigned column, bool is_new)
{
        sqlite3_value *value = NULL;
        if (is_new)
                sqlite3changeset_new(row->iterator, (int)column, &value);
        else
                sqlite3changeset_old(row->iterator, (int)column, &value);
        return value;
}

static void read_identity(struct changed_row *row)
{
        bool is_new = row->operation == SQLITE_INSERT;
        bytes_append_u8(&row->identity, 'K');
        for (unsigned i = 0; i < row->table->key_count; i++) {
                struct cell cell = cell_of_value(value_at(row, row->table->key[i], is_new));
                cell_append(&row->identity, &cell);
        }
}

/* The row after the change: new values, and for an update the rest as it was. */
static void read_image(struct changed_row *row, const struct model_row *before)
{
        unsigned width = row->table->columns.count;
        _cleanup_free_ struct cell *cells = memory_grow(NULL, (width + 1) * sizeof(*cells));
        if (before->is_there)
                model_cells(before, cells, width);
        for (unsigned i = 0; i < width; i++) {
                sqlite3_value *value = value_at(row, i, true);
                if (value)
                        cells[i] = cell_of_value(value);
                cell_append(&row->image, &cells[i]);
        }
}

static int apply_row(struct changed_row *row)
{
        struct map *rows = &row->table->rows;
        read_identity(row);
        const struct map_slot *slot = map_find(rows, row->identity.data, row->identity.size);
        struct model_row before = slot ? model_row_of(slot) : (struct model_row){0};
        struct model_row after = {.rowid = before.rowid};
        if (before.is_there != (row->operation != SQLITE_INSERT))
                return -EBADMSG;
        if (row->operation != SQLITE_DELETE) {
                read_image(row, &before);
                after.image = row->image.data;
                after.size = row->image.size;
                after.is_there = true;
        }
        model_note_delta(row->table, &before, &after);
        map_remove(rows, row->identity.data, row->identity.size);
        if (!after.is_there)
                return 0;
        _cleanup_bytes_ struct bytes value = {0};
        bytes_append_u64(&value, after.rowid);
        bytes_append(&value, after.image, after.size);
        map_put(rows, row->identity.data, row->identity.size, value.data, value.size);
        return 0;
}

static int apply_next(struct model *model, sqlite3_changeset_iter *iterator)
{
        const char *name = NULL;
        int columns = 0, is_indirect;
        __attribute__((cleanup(changed_row_release))) struct changed_row row = {
                .iterator = iterator};
        sqlite3changeset_op(iterator, &name, &columns, &row.operation, &is_indirect);
        row.table = model_find(model, name);
        int result = row.table && (unsigned)columns == row.table->columns.count ? 0 : -EBADMSG;
        if (result == 0)
                result = apply_row(&row);
        if (result < 0)
                fprintf(stderr, "differential: the test is wrong: a change of %s does not fit\n",
                        name);
        return result;
}

int model_apply_changeset(struct model *model, struct reader *reader)
{
        size_t size;
        const uint8_t *changeset = read_blob(reader, &size);
        sqlite3_changeset_iter *iterator = NULL;
        if (sqlite3changeset_start(&iterator, (int)size, (void *)changeset) != SQLITE_OK)
                return -EBADMSG;
        int result = 0;
        while (result == 0 && sqlite3changeset_next(iterator) == SQLITE_ROW)
                result = apply_next(model, iterator);
        if (sqlite3changeset_finalize(iterator) != SQLITE_OK && result == 0)
                result = -EBADMSG;
        return result;
}
