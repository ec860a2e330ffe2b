/* SPDX-License-Identifier: MIT
 *
 * names: a list of texts that owns them. Column lists are such lists.
 */
#ifndef DIFFERENTIAL_NAMES_H
#define DIFFERENTIAL_NAMES_H

#include <string.h>
#include "bytes.h"

struct names {
        char **items; /* owned, and the texts too */
        unsigned count;
};

static inline void names_release(struct names *names)
{
        for (unsigned i = 0; i < names->count; i++)
                free(names->items[i]);
        free(names->items);
        *names = (struct names){0};
}

/* Takes the text. */
static inline void names_take(struct names *names, char *name)
{
        names->items = memory_grow(names->items, (names->count + 1) * sizeof(*names->items));
        names->items[names->count++] = name;
}

static inline void names_add(struct names *names, const char *name)
{
        names_take(names, memory_text(name));
}

/* The place of a name, or -1. */
static inline int names_find(const struct names *names, const char *name)
{
        for (unsigned i = 0; i < names->count; i++)
                if (strcmp(names->items[i], name) == 0)
                        return (int)i;
        return -1;
}

static inline bool names_equal(const struct names *a, const struct names *b)
{
        bool is_equal = a->count == b->count;
        for (unsigned i = 0; is_equal && i < a->count; i++)
                is_equal = strcmp(a->items[i], b->items[i]) == 0;
        return is_equal;
}

#endif
