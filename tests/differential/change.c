/* SPDX-License-Identifier: MIT
 *
 * change: see change.h.
 */
#include "change.h"

#include <errno.h>
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

/* Places of names in a table's columns; the caller frees. NULL: one is missing. */
static unsigned *find_positions(const struct names *names, const struct names *columns)
{
        unsigned *positions = memory_grow(NULL, (names->count + 1) * sizeof(*positions));
        for (unsigned i = 0; i < names->count; i++) {
                int place = names_find(columns, names->items[i]);
                if (place < 0) {
                        free(positions);
                        return NULL;
                }
                positions[i] = (unsigned)place;
        }
        return positions;
}

/* How an instance looks at rows of one column list. */
struct lens {
        unsigned *columns;
        unsigned column_count;
        unsigned *identity;
        unsigned identity_count;
        unsigned width; /* columns of the table */
};

static void lens_release(struct lens *lens)
{
        free(lens->columns);
        free(lens->identity);
}

static int lens_make(
        struct lens *lens, const struct instance *instance, const struct names *columns)
{
        *lens = (struct lens){
                .columns = find_positions(&instance->columns, columns),
                .column_count = instance->columns.count,
                .identity = find_positions(&instance->identity, columns),
                .identity_count = instance->identity.count,
                .width = columns->count,
        };
        return lens->columns && lens->identity ? 0 : -EBADMSG;
}

static void project(const struct lens *lens, const struct model_row *row, struct bytes *image)
{
        _cleanup_free_ struct cell *cells = memory_grow(NULL, (lens->width + 1) * sizeof(*cells));
        model_cells(row, cells, lens->width);
        for (unsigned i = 0; i < lens->column_count; i++)
                cell_append(image, &cells[lens->columns[i]]);
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
                project(before_lens, before, &old);
        if (after->is_there)
                project(after_lens, after, &new);
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

/* Puts the deltas' rows that arrived under the instance's identity: value = index of the delta. */
static void index_arrivals(
        const struct model_table *table, const struct lens *lens, struct map *arrivals)
{
        _cleanup_bytes_ struct bytes identity = {0};
        for (size_t i = 0; i < table->delta_count; i++) {
                if (!table->deltas[i].after.is_there)
                        continue;
                identity.size = 0;
                model_identity(
                        &identity, &table->deltas[i].after, lens->identity, lens->identity_count);
                map_put(arrivals, identity.data, identity.size, &i, sizeof(i));
        }
}

static void pair_rows(struct changes *changes, const struct model_table *table,
        const struct lens *before_lens, const struct lens *after_lens)
{
        static const struct model_row nothing = {0};
        struct map arrivals = {0};
        _cleanup_bytes_ struct bytes identity = {0};
        index_arrivals(table, after_lens, &arrivals);
        for (size_t i = 0; i < table->delta_count; i++) {
                const struct model_row *before = &table->deltas[i].before;
                const struct model_row *after = &nothing;
                if (!before->is_there)
                        continue;
                identity.size = 0;
                model_identity(
                        &identity, before, before_lens->identity, before_lens->identity_count);
                const struct map_slot *slot = map_find(&arrivals, identity.data, identity.size);
                if (slot) {
                        size_t index;
                        memcpy(&index, map_value(slot), sizeof(index));
                        after = &table->deltas[index].after;
                }
                append_pair(changes, before_lens, after_lens, before, after);
                map_remove(&arrivals, identity.data, identity.size);
        }
        const struct map_slot *slot;
        for (size_t position = 0; (slot = map_next(&arrivals, &position));) {
                size_t index;
                memcpy(&index, map_value(slot), sizeof(index));
                append_pair(
                        changes, before_lens, after_lens, &nothing, &table->deltas[index].after);
        }
        map_release(&arrivals);
}

int change_expect(const struct instance *instance, const struct model_table *table,
        struct changes *ret_changes)
{
        struct lens before = {0};
        struct lens after = {0};
        changes_clear(ret_changes);
        if (table->is_dropped || !table->delta_count)
                return 0;
        bool is_altered = table->columns_before.count > 0;
        int result =
                lens_make(&before, instance, is_altered ? &table->columns_before : &table->columns);
        if (result == 0)
                result = lens_make(&after, instance, &table->columns);
        if (result == 0)
                pair_rows(ret_changes, table, &before, &after);
        lens_release(&before);
        lens_release(&after);
        return result;
}

int change_project_table(
        const struct instance *instance, const struct model_table *table, struct map *ret_rows)
{
        struct lens lens = {0};
        _cleanup_bytes_ struct bytes image = {0};
        int result = lens_make(&lens, instance, &table->columns);
        const struct map_slot *slot;
        for (size_t position = 0; result == 0 && (slot = map_next(&table->rows, &position));) {
                struct model_row row = model_row_of(slot);
                image.size = 0;
                project(&lens, &row, &image);
                map_add(ret_rows, image.data, image.size, 1);
        }
        lens_release(&lens);
        return result;
}
