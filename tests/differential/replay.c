/* SPDX-License-Identifier: MIT
 *
 * replay: see replay.h.
 */
#include "replay.h"

#include <errno.h>
#include <string.h>

/* The identity key of a captured row; empty if it has none or a NULL in it. */
static void captured_key(
        const struct stream *stream, const uint8_t *image, size_t size, struct bytes *key)
{
        const struct instance *instance = stream->instance;
        unsigned width = instance->columns.count;
        _cleanup_free_ struct cell *cells = memory_grow(NULL, (width + 1) * sizeof(*cells));
        struct model_row row = {.image = image, .size = size, .is_there = true};
        model_cells(&row, cells, width);
        key->size = 0;
        for (unsigned i = 0; i < instance->identity.count; i++) {
                int place = names_find(&instance->columns, instance->identity.items[i]);
                if (place < 0 || cells[place].type == CELL_NULL) {
                        key->size = 0;
                        return;
                }
                cell_append(key, &cells[place]);
        }
}

static bool key_add(struct stream *stream, const uint8_t *image, size_t size, int more)
{
        _cleanup_bytes_ struct bytes key = {0};
        captured_key(stream, image, size, &key);
        if (!key.size)
                return true;
        int64_t count = map_add(&stream->keys, key.data, key.size, more);
        return count == (more > 0 ? 1 : 0);
}

int replay_begin(struct stream *stream, const struct model_table *table)
{
        map_release(&stream->replay);
        map_release(&stream->keys);
        int result = 0;
        if (!stream->is_bound)
                result = lens_make(&stream->lens, stream->instance, &table->columns);
        if (result < 0) {
                fprintf(stderr, "differential: the test is wrong: \"%s\" does not fit %s\n",
                        stream->instance->name, table->name);
                return result;
        }
        stream->is_bound = stream->has_begun = true;
        change_project_table(&stream->lens, table, &stream->replay);
        const struct map_slot *slot;
        for (size_t position = 0; (slot = map_next(&stream->replay, &position));)
                key_add(stream, slot->bytes, slot->key_size, 1);
        return 0;
}

void replay_forget_columns(struct stream *stream)
{
        struct map rows = {0};
        _cleanup_bytes_ struct bytes image = {0};
        unsigned width = stream->lens.column_count;
        _cleanup_free_ struct cell *cells = memory_grow(NULL, (width + 1) * sizeof(*cells));
        const struct map_slot *slot;
        for (size_t position = 0; (slot = map_next(&stream->replay, &position));) {
                struct model_row row = {
                        .image = slot->bytes, .size = slot->key_size, .is_there = true};
                int64_t count;
                memcpy(&count, map_value(slot), sizeof(count));
                model_cells(&row, cells, width);
                image.size = 0;
                for (unsigned i = 0; i < width; i++) {
                        if (stream->lens.columns[i] < 0)
                                cells[i] = (struct cell){.type = CELL_NULL};
                        cell_append(&image, &cells[i]);
                }
                map_add(&rows, image.data, image.size, count);
        }
        map_release(&stream->replay);
        stream->replay = rows;
}

static bool same_key(const struct stream *stream, const struct change_parts *parts)
{
        _cleanup_bytes_ struct bytes before = {0};
        _cleanup_bytes_ struct bytes after = {0};
        captured_key(stream, parts->before, parts->before_size, &before);
        captured_key(stream, parts->after, parts->after_size, &after);
        return before.size == after.size &&
               (!before.size || memcmp(before.data, after.data, before.size) == 0);
}

const char *replay_apply(struct stream *stream, const struct change *change)
{
        struct change_parts parts = change_split(change);
        if (parts.operation != 2 &&
                map_add(&stream->replay, parts.before, parts.before_size, -1) < 0)
                return "it takes away a row that does not stand there";
        if (parts.operation != 1 && map_add(&stream->replay, parts.after, parts.after_size, 1) < 1)
                return "it brings a row that was taken away before it came";
        if (parts.operation == 4)
                return same_key(stream, &parts) ? NULL : "an update (3 and 4) changes the key";
        bool is_insert = parts.operation == 2;
        if (!key_add(stream, is_insert ? parts.after : parts.before,
                    is_insert ? parts.after_size : parts.before_size, is_insert ? 1 : -1))
                return is_insert ? "its key stands there already" : "its key does not stand there";
        return NULL;
}

size_t replay_differences(const struct stream *stream, const struct model_table *table)
{
        struct map rows = {0};
        size_t differences = 0;
        const struct map_slot *slot;
        change_project_table(&stream->lens, table, &rows);
        for (size_t position = 0; (slot = map_next(&rows, &position));) {
                const struct map_slot *other =
                        map_find(&stream->replay, slot->bytes, slot->key_size);
                differences +=
                        !other || memcmp(map_value(slot), map_value(other), sizeof(int64_t)) != 0;
        }
        for (size_t position = 0; (slot = map_next(&stream->replay, &position));)
                differences += !map_find(&rows, slot->bytes, slot->key_size);
        map_release(&rows);
        return differences;
}
