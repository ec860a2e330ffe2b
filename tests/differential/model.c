/* SPDX-License-Identifier: MIT
 *
 * model: see model.h.
 */
#include "model.h"

#include <errno.h>
#include <stdio.h>
#include "model_changeset.h"
#include "truth.h"

static void forget_deltas(struct model_table *table)
{
        for (size_t i = 0; i < table->image_count; i++)
                bytes_release(&table->images[i]);
        free(table->images);
        free(table->deltas);
        table->images = NULL;
        table->deltas = NULL;
        table->image_count = table->delta_count = 0;
        shape_release(&table->before);
        shape_change_release(&table->change);
}

void model_release(struct model *model)
{
        for (unsigned i = 0; i < model->count; i++) {
                struct model_table *table = &model->tables[i];
                forget_deltas(table);
                map_release(&table->rows);
                names_release(&table->columns);
                shape_release(&table->shape);
                free(table->key);
                free(table->name);
        }
        free(model->tables);
        *model = (struct model){0};
}

struct model_table *model_find(struct model *model, const char *name)
{
        for (unsigned i = 0; i < model->count; i++)
                if (!model->tables[i].is_dropped && strcmp(model->tables[i].name, name) == 0)
                        return &model->tables[i];
        return NULL;
}

struct model_table *model_find_number(struct model *model, unsigned number)
{
        for (unsigned i = 0; i < model->count; i++)
                if (model->tables[i].number == number)
                        return &model->tables[i];
        return NULL;
}

struct model_row model_row_of(const struct map_slot *slot)
{
        struct model_row row = {.is_there = true, .size = slot->value_size - sizeof(uint64_t)};
        memcpy(&row.rowid, map_value(slot), sizeof(row.rowid));
        row.image = map_value(slot) + sizeof(row.rowid);
        return row;
}

void model_cells(const struct model_row *row, struct cell *cells, unsigned count)
{
        struct reader reader = {row->image, row->image + row->size, false};
        for (unsigned i = 0; i < count; i++)
                if (!cell_read(&reader, &cells[i]))
                        cells[i] = (struct cell){.type = CELL_NULL};
}

void model_identity(struct bytes *identity, const struct model_row *row, const unsigned *positions,
        unsigned count)
{
        unsigned width = 0;
        for (unsigned i = 0; i < count; i++)
                width = positions[i] + 1 > width ? positions[i] + 1 : width;
        _cleanup_free_ struct cell *cells = memory_grow(NULL, (width + 1) * sizeof(*cells));
        model_cells(row, cells, width);
        size_t start = identity->size;
        bool is_key = count > 0;
        bytes_append_u8(identity, 'K');
        for (unsigned i = 0; i < count; i++) {
                is_key = is_key && cells[positions[i]].type != CELL_NULL;
                cell_append(identity, &cells[positions[i]]);
        }
        if (is_key)
                return;
        identity->size = start;
        bytes_append_u8(identity, 'R');
        bytes_append_u64(identity, row->rowid);
}

/* Copies an image that outlives the transaction's changes of the map. */
static struct model_row keep_row(struct model_table *table, const struct model_row *row)
{
        if (!row->is_there)
                return *row;
        table->images =
                memory_grow(table->images, (table->image_count + 1) * sizeof(*table->images));
        struct bytes *bytes = &table->images[table->image_count++];
        *bytes = (struct bytes){0};
        bytes_append(bytes, row->image, row->size);
        struct model_row kept = *row;
        kept.image = bytes->data;
        return kept;
}

void model_note_delta(
        struct model_table *table, const struct model_row *before, const struct model_row *after)
{
        table->deltas =
                memory_grow(table->deltas, (table->delta_count + 1) * sizeof(*table->deltas));
        struct delta *delta = &table->deltas[table->delta_count++];
        delta->before = keep_row(table, before);
        delta->after = keep_row(table, after);
}

static struct model_table *add_table(struct model *model, unsigned number)
{
        model->tables = memory_grow(model->tables, (model->count + 1) * sizeof(*model->tables));
        struct model_table *table = &model->tables[model->count++];
        *table = (struct model_table){.number = number};
        return table;
}

/* The columns and the key from a dump's head. */
static void read_columns(struct model_table *table, struct reader *reader)
{
        struct names columns = {0};
        uint32_t count = read_u32(reader);
        table->key = memory_grow(table->key, (count + 1) * sizeof(*table->key));
        table->key_count = 0;
        for (uint32_t i = 0; i < count && !reader->is_broken; i++) {
                names_take(&columns, read_text(reader));
                unsigned place = read_u8(reader);
                if (place)
                        table->key[place - 1] = i;
                table->key_count += place ? 1 : 0;
        }
        names_release(&table->columns);
        table->columns = columns;
}

static void read_rows(struct model_table *table, struct reader *reader, struct map *ret_rows)
{
        _cleanup_bytes_ struct bytes identity = {0};
        _cleanup_bytes_ struct bytes value = {0};
        uint32_t count = read_u32(reader);
        for (uint32_t i = 0; i < count && !reader->is_broken; i++) {
                struct model_row row = {.rowid = read_u64(reader), .is_there = true};
                row.image = read_blob(reader, &row.size);
                identity.size = value.size = 0;
                model_identity(&identity, &row, table->key, table->key_count);
                bytes_append_u64(&value, row.rowid);
                bytes_append(&value, row.image, row.size);
                map_put(ret_rows, identity.data, identity.size, value.data, value.size);
        }
}

static bool same_row(const struct model_row *a, const struct model_row *b)
{
        return a->is_there && b->is_there && a->size == b->size &&
               memcmp(a->image, b->image, a->size) == 0;
}

static struct model_row row_at(const struct map *rows, const struct map_slot *key)
{
        const struct map_slot *slot = map_find(rows, key->bytes, key->key_size);
        return slot ? model_row_of(slot) : (struct model_row){0};
}

static void print_row(const char *title, const struct model_row *row)
{
        fprintf(stderr, "#   %s: ", title);
        if (row->is_there)
                row_print(stderr, row->image, row->size);
        fputc('\n', stderr);
}

static void note_difference(struct model_table *table, const struct model_row *before,
        const struct model_row *after, bool is_error)
{
        if (!is_error) {
                model_note_delta(table, before, after);
                return;
        }
        print_row("by changesets", before);
        print_row("by content   ", after);
}

/* Deltas between the map and the new content; differences are printed if there may be none. */
static size_t compare_rows(struct model_table *table, const struct map *rows, bool is_error)
{
        size_t differences = 0;
        const struct map_slot *slot;
        for (size_t position = 0; (slot = map_next(rows, &position));) {
                struct model_row after = model_row_of(slot);
                struct model_row before = row_at(&table->rows, slot);
                /* By name the same values in the same places may be others. */
                if (table->change.event != SHAPE_REBUILT && same_row(&before, &after))
                        continue;
                differences++;
                note_difference(table, &before, &after, is_error);
        }
        for (size_t position = 0; (slot = map_next(&table->rows, &position));) {
                struct model_row before = model_row_of(slot);
                struct model_row after = {0};
                if (map_find(rows, slot->bytes, slot->key_size))
                        continue;
                differences++;
                note_difference(table, &before, &after, is_error);
        }
        return differences;
}

static int apply_dump(struct model *model, struct reader *reader, uint64_t number)
{
        unsigned purpose = read_u8(reader);
        struct model_table *table = model_find_number(model, read_u32(reader));
        if (!table)
                return -EBADMSG; /* the schema comes first */
        struct map rows = {0};
        free(table->name);
        table->name = read_text(reader);
        read_columns(table, reader);
        read_rows(table, reader, &rows);
        size_t differences = 0;
        if (!model->is_vacuumed)
                differences = compare_rows(table, &rows, purpose == DUMP_VERIFIES);
        bool is_wrong = purpose == DUMP_VERIFIES && differences;
        map_release(&table->rows);
        table->rows = rows;
        if (!is_wrong)
                return 0;
        fprintf(stderr,
                "differential: the test is wrong: %zu rows of %s differ between changeset"
                " and content after transaction %llu\n",
                differences, table->name, (unsigned long long)number);
        return -EBADMSG;
}

static void apply_alteration(struct model *model, struct reader *reader)
{
        static const struct shape nothing;
        struct shape_change ignored = {0};
        struct model_table *table = model_find_number(model, read_u32(reader));
        bool is_known = table && !table->is_dropped;
        shape_change_read(
                is_known ? &table->change : &ignored, is_known ? &table->shape : &nothing, reader);
        shape_change_release(&ignored);
}

/* What comes, or comes again, holds nothing yet, and nobody captures it. */
static void begin_table(struct model_table *table)
{
        map_release(&table->rows);
        names_release(&table->columns);
        shape_change_release(&table->change);
}

static void apply_shape(struct model *model, struct reader *reader)
{
        unsigned number = read_u32(reader);
        struct model_table *table = model_find_number(model, number);
        if (!table)
                table = add_table(model, number);
        bool was_there = table->before.name != NULL;
        shape_release(&table->shape);
        shape_read(&table->shape, reader);
        if (!was_there)
                begin_table(table);
        else if (!model->is_vacuumed)
                shape_change_decide(&table->change, &table->before, &table->shape);
        free(table->name);
        table->name = memory_text(table->shape.name);
        table->is_dropped = false;
}

/* Tables that are not in the list are gone. */
static void apply_schema(struct model *model, struct reader *reader)
{
        for (unsigned i = 0; i < model->count; i++) {
                struct model_table *table = &model->tables[i];
                if (table->is_dropped)
                        continue;
                table->before = table->shape;
                table->shape = (struct shape){0};
                table->is_dropped = true;
        }
        uint32_t count = read_u32(reader);
        for (uint32_t i = 0; i < count && !reader->is_broken; i++)
                apply_shape(model, reader);
        for (unsigned i = 0; i < model->count; i++)
                if (model->tables[i].is_dropped && model->tables[i].before.name)
                        model->tables[i].change.event = SHAPE_ENDED;
}

int model_apply(struct model *model, const struct transaction *transaction)
{
        struct reader reader = transaction->entries;
        int result = 0;
        model->is_vacuumed = transaction->flags & RECORD_VACUUMS;
        for (unsigned i = 0; i < model->count; i++)
                forget_deltas(&model->tables[i]);
        while (result == 0 && reader.at < reader.end) {
                switch (read_u8(&reader)) {
                case 'C':
                        result = model_apply_changeset(model, &reader);
                        break;
                case 'D':
                        result = apply_dump(model, &reader, transaction->number);
                        break;
                case 'A':
                        apply_alteration(model, &reader);
                        break;
                case 'T':
                        apply_schema(model, &reader);
                        break;
                default:
                        result = -EBADMSG;
                }
        }
        return reader.is_broken ? -EBADMSG : result;
}
