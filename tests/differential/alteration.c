/* SPDX-License-Identifier: MIT
 *
 * alteration: see alteration.h.
 */
#include "alteration.h"

#include <string.h>

void alterations_release(struct alterations *alterations)
{
        for (unsigned i = 0; i < alterations->count; i++) {
                free(alterations->items[i].origins);
                names_release(&alterations->items[i].definitions);
        }
        free(alterations->items);
        *alterations = (struct alterations){0};
}

static struct alteration *append(struct alterations *alterations, unsigned number, unsigned room)
{
        alterations->items = memory_grow(
                alterations->items, (alterations->count + 1) * sizeof(*alterations->items));
        struct alteration *item = &alterations->items[alterations->count++];
        *item = (struct alteration){
                .number = number, .origins = memory_grow(NULL, (room + 1) * sizeof(unsigned))};
        return item;
}

void alterations_copy(const struct alterations *from, struct alterations *ret_to)
{
        struct alterations copy = {.dropped_row = from->dropped_row,
                .is_quiet = from->is_quiet,
                .is_closed = from->is_closed};
        for (unsigned i = 0; i < from->count; i++) {
                const struct alteration *item = &from->items[i];
                struct alteration *new = append(&copy, item->number, item->count);
                memcpy(new->origins, item->origins, item->count * sizeof(*item->origins));
                new->kind = item->kind;
                new->count = item->count;
                for (unsigned k = 0; k < item->definitions.count; k++)
                        names_add(&new->definitions, item->definitions.items[k]);
        }
        *ret_to = copy;
}

const struct alteration *alterations_find(const struct alterations *alterations, unsigned number)
{
        for (unsigned i = 0; i < alterations->count; i++)
                if (alterations->items[i].number == number)
                        return &alterations->items[i];
        return NULL;
}

static bool adds_or_renames(enum alteration_kind kind)
{
        return kind == ALTERATION_ADDED || kind == ALTERATION_RENAMED;
}

bool alterations_allow(
        const struct alterations *alterations, const struct table *table, enum alteration_kind kind)
{
        const struct alteration *item = alterations_find(alterations, table->number);
        if (!item || item->kind == kind)
                return true;
        return item->kind == ALTERATION_REPLACED ||
               (alterations->is_quiet && adds_or_renames(item->kind) && adds_or_renames(kind));
}

/* A table that was not changed before has its columns where they were. */
static struct alteration *item_of(
        struct alterations *alterations, const struct table *table, enum alteration_kind kind)
{
        struct alteration *item = (struct alteration *)alterations_find(alterations, table->number);
        if (!item) {
                item = append(alterations, table->number, table->column_count);
                for (unsigned i = 0; i < table->column_count; i++)
                        item->origins[item->count++] = i;
        }
        if (item->kind != ALTERATION_REPLACED)
                item->kind = kind;
        return item;
}

void alterations_note_added(
        struct alterations *alterations, const struct table *table, const char *definition)
{
        struct alteration *item = item_of(alterations, table, ALTERATION_ADDED);
        item->origins = memory_grow(item->origins, (item->count + 1) * sizeof(*item->origins));
        item->origins[item->count++] = NO_ORIGIN;
        names_add(&item->definitions, definition);
}

void alterations_note_dropped(
        struct alterations *alterations, const struct table *table, unsigned column)
{
        struct alteration *item = item_of(alterations, table, ALTERATION_DROPPED);
        if (item->kind == ALTERATION_REPLACED)
                return;
        item->count--;
        memmove(item->origins + column, item->origins + column + 1,
                (item->count - column) * sizeof(*item->origins));
}

void alterations_note_renamed(struct alterations *alterations, const struct table *table)
{
        item_of(alterations, table, ALTERATION_RENAMED);
}

void alterations_note_replaced(struct alterations *alterations, unsigned number)
{
        static const struct table nothing;
        struct table table = nothing;
        table.number = number;
        item_of(alterations, &table, ALTERATION_REPLACED)->kind = ALTERATION_REPLACED;
}
