/* SPDX-License-Identifier: MIT
 *
 * change: see change.h.
 */
#include "change.h"

#include <string.h>

void changes_release(struct changes *changes)
{
        bytes_release(&changes->arena);
        free(changes->offsets);
        *changes = (struct changes){0};
}

void changes_clear(struct changes *changes)
{
        changes->arena.size = 0;
        changes->count = 0;
}

void changes_append(struct changes *changes, const struct change_parts *parts)
{
        changes->offsets =
                memory_grow(changes->offsets, (changes->count + 2) * sizeof(*changes->offsets));
        changes->offsets[changes->count] = changes->arena.size;
        bytes_append_u8(&changes->arena, (uint8_t)parts->operation);
        bytes_append_blob(&changes->arena, parts->mask, parts->mask_size);
        bytes_append_blob(&changes->arena, parts->before, parts->before_size);
        bytes_append_blob(&changes->arena, parts->after, parts->after_size);
        changes->offsets[++changes->count] = changes->arena.size;
}

struct change changes_at(const struct changes *changes, size_t index)
{
        size_t start = changes->offsets[index];
        return (struct change){changes->arena.data + start, changes->offsets[index + 1] - start};
}

struct change_parts change_split(const struct change *change)
{
        struct reader reader = {change->image, change->image + change->size, false};
        struct change_parts parts = {.operation = read_u8(&reader)};
        parts.mask = read_blob(&reader, &parts.mask_size);
        parts.before = read_blob(&reader, &parts.before_size);
        parts.after = read_blob(&reader, &parts.after_size);
        return parts;
}

int change_compare(const struct change *a, const struct change *b)
{
        int order = memcmp(a->image, b->image, a->size < b->size ? a->size : b->size);
        return order ? order : (a->size > b->size) - (a->size < b->size);
}

void change_print(FILE *file, const struct change *change)
{
        struct change_parts parts = change_split(change);
        fputs(parts.operation == 1 ? "delete" : parts.operation == 2 ? "insert" : "update", file);
        fputs(" mask ", file);
        for (size_t i = 0; i < parts.mask_size; i++)
                fprintf(file, "%02x", parts.mask[i]);
        if (parts.operation != 2) {
                fputs(" before ", file);
                row_print(file, parts.before, parts.before_size);
        }
        if (parts.operation != 1) {
                fputs(" after ", file);
                row_print(file, parts.after, parts.after_size);
        }
        fputc('\n', file);
}

/* Bits of the columns that differ between two projections. */
static void compare_columns(const struct bytes *before, const struct bytes *after, unsigned count,
        uint8_t *mask, size_t size)
{
        struct reader old = {before->data, before->data + before->size, false};
        struct reader new = {after->data, after->data + after->size, false};
        for (unsigned i = 1; i <= count; i++) {
                struct cell cell;
                const uint8_t *old_start = old.at;
                const uint8_t *new_start = new.at;
                cell_read(&old, &cell);
                cell_read(&new, &cell);
                size_t old_size = (size_t)(old.at - old_start);
                if (old_size != (size_t)(new.at - new_start) ||
                        memcmp(old_start, new_start, old_size) != 0)
                        mask_set(mask, size, i);
        }
}

static void append_pair(struct changes *changes, const struct lens *before_lens,
        const struct lens *after_lens, const struct model_row *before,
        const struct model_row *after)
{
        _cleanup_bytes_ struct bytes old = {0};
        _cleanup_bytes_ struct bytes new = {0};
        unsigned count = after_lens->column_count;
        size_t size = mask_size(count);
        _cleanup_free_ uint8_t *mask = memory_grow(NULL, size);
        memset(mask, 0, size);
        if (before->is_there)
                lens_project(before_lens, before, &old);
        if (after->is_there)
                lens_project(after_lens, after, &new);
        bool is_update = before->is_there && after->is_there;
        if (is_update && old.size == new.size &&memcmp(old.data, new.data, old.size) == 0)
                return;
        if (is_update)
                compare_columns(&old, &new, count, mask, size);
        for (unsigned i = 1; !is_update && i <= count; i++)
                mask_set(mask, size, i);
        struct change_parts parts = {
                .operation = is_update          ? 4
                             : before->is_there ? 1
                                                : 2,
                .mask = mask,
                .mask_size = size,
                .before = old.data,
                .before_size = old.size,
                .after = new.data,
                .after_size = new.size,
        };
        changes_append(changes, &parts);
}

/* What pairs a row of before with one of after: the identity. Where that is the rowid and rowids
 * mean nothing, for another tree took the table's place, it is the content. */
static void row_key(
        const struct lens *lens, const struct model_row *row, bool is_by_content, struct bytes *key)
{
        key->size = 0;
        lens_identity(lens, row, key);
        if (!is_by_content || key->data[0] == 'K')
                return;
        key->size = 1;
        lens_project(lens, row, key);
}

/* A row that arrived, and the next one under the same key. */
struct arrival {
        size_t next; /* plus 1; 0: none */
        bool is_taken;
};

/* Rows that arrived by their keys: value = index of the newest delta plus 1. */
static void index_arrivals(const struct model_table *table, const struct lens *lens,
        bool is_by_content, struct arrival *arrivals, struct map *index)
{
        _cleanup_bytes_ struct bytes key = {0};
        for (size_t i = 0; i < table->delta_count; i++) {
                if (!table->deltas[i].after.is_there)
                        continue;
                row_key(lens, &table->deltas[i].after, is_by_content, &key);
                const struct map_slot *slot = map_find(index, key.data, key.size);
                arrivals[i] = (struct arrival){0};
                if (slot)
                        memcpy(&arrivals[i].next, map_value(slot), sizeof(arrivals[i].next));
                size_t place = i + 1;
                map_put(index, key.data, key.size, &place, sizeof(place));
        }
}

/* Takes one under the key out of the index; NULL: there is none. */
static const struct model_row *take_arrival(const struct model_table *table,
        const struct bytes *key, struct arrival *arrivals, struct map *index)
{
        size_t place;
        const struct map_slot *slot = map_find(index, key->data, key->size);
        if (!slot)
                return NULL;
        memcpy(&place, map_value(slot), sizeof(place));
        struct arrival *arrival = &arrivals[place - 1];
        arrival->is_taken = true;
        if (arrival->next)
                map_put(index, key->data, key->size, &arrival->next, sizeof(arrival->next));
        else
                map_remove(index, key->data, key->size);
        return &table->deltas[place - 1].after;
}

static void pair_rows(struct changes *changes, const struct model_table *table,
        const struct lens *before_lens, const struct lens *after_lens)
{
        static const struct model_row nothing = {0};
        bool is_by_content = table->change.event == SHAPE_REBUILT || table->shape.is_without_rowid;
        struct map index = {0};
        _cleanup_bytes_ struct bytes key = {0};
        _cleanup_free_ struct arrival *arrivals =
                memory_grow(NULL, (table->delta_count + 1) * sizeof(*arrivals));
        index_arrivals(table, after_lens, is_by_content, arrivals, &index);
        for (size_t i = 0; i < table->delta_count; i++) {
                const struct model_row *before = &table->deltas[i].before;
                if (!before->is_there)
                        continue;
                row_key(before_lens, before, is_by_content, &key);
                const struct model_row *after = take_arrival(table, &key, arrivals, &index);
                append_pair(changes, before_lens, after_lens, before, after ? after : &nothing);
        }
        for (size_t i = 0; i < table->delta_count; i++)
                if (table->deltas[i].after.is_there && !arrivals[i].is_taken)
                        append_pair(changes, before_lens, after_lens, &nothing,
                                &table->deltas[i].after);
        map_release(&index);
}

void change_expect(const struct lens *before, const struct lens *after,
        const struct model_table *table, struct changes *ret_changes)
{
        changes_clear(ret_changes);
        if (table->delta_count)
                pair_rows(ret_changes, table, before, after);
}

void change_project_table(
        const struct lens *lens, const struct model_table *table, struct map *ret_rows)
{
        _cleanup_bytes_ struct bytes image = {0};
        const struct map_slot *slot;
        for (size_t position = 0; (slot = map_next(&table->rows, &position));) {
                struct model_row row = model_row_of(slot);
                image.size = 0;
                lens_project(lens, &row, &image);
                map_add(ret_rows, image.data, image.size, 1);
        }
}
