/* SPDX-License-Identifier: MIT
 *
 * rowcounts: see the header.
 */
#include "desk/rowcounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faces/scalar.h"
#include "memory/array.h"

void rowcounts_reset(struct rowcounts *counts)
{
        counts->count = 0;
}

void rowcounts_release(struct rowcounts *counts)
{
        free(counts->items);
        buf_release(&counts->text);
        *counts = (struct rowcounts){0};
}

/* The item of an instance, or the one before which it belongs. Changes come table by table, mostly
 * the same one again. */
static size_t find_place(const struct rowcounts *counts, int64_t object_id)
{
        size_t low = 0, high = counts->count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (counts->items[middle].instance->object_id < object_id)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

int rowcounts_add(
        struct rowcounts *counts, const struct instance *instance, const struct change *change)
{
        int64_t rows = change->operation == CHANGE_UPDATE ? 2 : 1;
        size_t place = find_place(counts, instance->object_id);
        if (place < counts->count && counts->items[place].instance == instance) {
                counts->items[place].rows += rows;
                return 0;
        }
        struct rowcounts_item *items = array_room(counts->items, counts->count, sizeof *items);
        if (!items)
                return -ENOMEM;
        counts->items = items;
        memmove(&items[place + 1], &items[place], (counts->count - place) * sizeof *items);
        items[place] = (struct rowcounts_item){instance, rows};
        counts->count++;
        return 0;
}

const char *rowcounts_text(struct rowcounts *counts)
{
        struct buf *text = &counts->text;
        buf_reset(text);
        for (size_t i = 0; i < counts->count; i++) {
                const char *name = counts->items[i].instance->name;
                buf_append_byte(text, i > 0 ? ',' : '{');
                scalar_append_json(text, (const uint8_t *)name, strlen(name));
                buf_append_byte(text, ':');
                scalar_append_integer(text, counts->items[i].rows);
        }
        buf_append_string(text, counts->count > 0 ? "}" : "{}");
        const char *string = buf_string(text);
        return buf_error(text) < 0 ? NULL : string;
}
