/* SPDX-License-Identifier: MIT
 *
 * changeset: see the header. An entry is the mask, then the values before, then those after.
 */
#include "meaning/changeset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DELETES = 0, UPDATES = 1, INSERTS = 2 };

void changeset_init(struct changeset *set, const char *directory)
{
        *set = (struct changeset){0};
        for (int i = 0; i < CHANGESET_STREAMS; i++)
                queue_init(&set->streams[i], directory);
}

void changeset_release(struct changeset *set)
{
        for (int i = 0; i < CHANGESET_STREAMS; i++)
                queue_release(&set->streams[i]);
        buf_release(&set->entry);
        free(set->parts);
        free(set->values);
        *set = (struct changeset){0};
}

void changeset_reset(struct changeset *set)
{
        for (int i = 0; i < CHANGESET_STREAMS; i++)
                queue_reset(&set->streams[i]);
        set->part_count = 0;
}

int changeset_begin_instance(struct changeset *set, int64_t object_id, unsigned columns)
{
        if (set->part_count == set->part_capacity) {
                size_t capacity = set->part_capacity ? set->part_capacity * 2 : 16;
                struct changeset_part *parts = realloc(set->parts, capacity * sizeof(*parts));
                if (!parts)
                        return -ENOMEM;
                set->parts = parts;
                set->part_capacity = capacity;
        }
        struct changeset_part part = {.object_id = object_id, .columns = columns};
        for (int i = 0; i < CHANGESET_STREAMS; i++)
                part.begin[i] = part.end[i] = set->streams[i].size;
        set->parts[set->part_count++] = part;
        return 0;
}

/* Appends the mask of the change; false if an update changes nothing. */
static bool append_mask(
        struct buf *entry, unsigned columns, const struct value *before, const struct value *after)
{
        size_t size = mask_size(columns);
        if (buf_reserve(entry, size) < 0)
                return true;
        uint8_t *mask = entry->data + entry->size;
        memset(mask, 0, size);
        entry->size += size;
        if (!before || !after) {
                mask_set_all(mask, columns);
                return true;
        }
        bool is_changed = false;
        for (unsigned i = 0; i < columns; i++) {
                if (value_equal(&before[i], &after[i]))
                        continue;
                mask_set(mask, columns, i + 1);
                is_changed = true;
        }
        return is_changed;
}

int changeset_add(struct changeset *set, const struct value *before, const struct value *after)
{
        struct changeset_part *part = &set->parts[set->part_count - 1];
        int stream = !after ? DELETES : !before ? INSERTS : UPDATES;
        buf_reset(&set->entry);
        if (!append_mask(&set->entry, part->columns, before, after))
                return 0;
        for (unsigned i = 0; before && i < part->columns; i++)
                value_append(&set->entry, &before[i]);
        for (unsigned i = 0; after && i < part->columns; i++)
                value_append(&set->entry, &after[i]);
        int r = queue_append(&set->streams[stream], &set->entry);
        part->end[stream] = set->streams[stream].size;
        return r;
}

void changeset_void_instance(struct changeset *set)
{
        if (set->part_count > 0)
                set->parts[set->part_count - 1].is_void = true;
}

int changeset_seal(struct changeset *set)
{
        unsigned columns = 1;
        for (size_t i = 0; i < set->part_count; i++)
                if (set->parts[i].columns > columns)
                        columns = set->parts[i].columns;
        if (columns > set->value_capacity) {
                struct value *values = realloc(set->values, 2 * columns * sizeof(*values));
                if (!values)
                        return -ENOMEM;
                set->values = values;
                set->value_capacity = columns;
        }
        set->stream = 0;
        set->part = 0;
        set->offset = 0;
        return 0;
}

static int parse_values(
        const uint8_t **cursor, const uint8_t *end, struct value *values, unsigned columns)
{
        int r = 0;
        for (unsigned i = 0; r == 0 && i < columns; i++)
                r = value_parse(cursor, end, &values[i]);
        return r;
}

static int parse_entry(struct changeset *set, const struct changeset_part *part,
        const uint8_t *bytes, uint32_t size, struct change *ret_change)
{
        const uint8_t *end = bytes + size;
        struct value *before = set->stream == INSERTS ? NULL : set->values;
        struct value *after = set->stream == DELETES ? NULL : set->values + set->value_capacity;
        *ret_change = (struct change){
                .object_id = part->object_id,
                .operation = before && after ? CHANGE_UPDATE
                             : before        ? CHANGE_DELETE
                                             : CHANGE_INSERT,
                .columns = part->columns,
                .before = before,
                .after = after,
                .mask = bytes,
        };
        bytes += mask_size(part->columns);
        int r = before ? parse_values(&bytes, end, before, part->columns) : 0;
        if (r == 0 && after)
                r = parse_values(&bytes, end, after, part->columns);
        return r < 0 ? r : 1;
}

/* Deletes are read from the last instance to the first: children before their parents. */
static struct changeset_part *current_part(struct changeset *set)
{
        size_t i = set->stream == DELETES ? set->part_count - 1 - set->part : set->part;
        return &set->parts[i];
}

int changeset_next(struct changeset *set, struct change *ret_change)
{
        const uint8_t *bytes;
        uint32_t size;
        for (; set->stream < CHANGESET_STREAMS; set->stream++, set->part = 0, set->offset = 0) {
                for (; set->part < set->part_count; set->part++, set->offset = 0) {
                        struct changeset_part *part = current_part(set);
                        if (set->offset < part->begin[set->stream])
                                set->offset = part->begin[set->stream];
                        if (part->is_void || set->offset >= part->end[set->stream])
                                continue;
                        int r = queue_read(&set->streams[set->stream], &set->offset, &bytes, &size);
                        if (r <= 0)
                                return r < 0 ? r : -EIO;
                        return parse_entry(set, part, bytes, size, ret_change);
                }
        }
        return 0;
}
