/* SPDX-License-Identifier: MIT
 *
 * array: room for one more element at the end of a list that is read row by row.
 */
#ifndef CDC_ARRAY_H
#define CDC_ARRAY_H

#include <stdlib.h>
#include <string.h>

/* The array, perhaps elsewhere, with a zeroed element at index `count` (capacity is the next power
 * of two). NULL: no memory, and the old array stands as it was. */
static inline void *array_room(void *items, size_t count, size_t size)
{
        if ((count & (count - 1)) == 0) {
                items = realloc(items, (count ? 2 * count : 1) * size);
                if (!items)
                        return NULL;
        }
        memset((char *)items + count * size, 0, size);
        return items;
}

#endif
