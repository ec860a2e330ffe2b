/* SPDX-License-Identifier: MIT
 *
 * netparts: parts of keys that memory could not hold, on disk until they are put together.
 *
 * A part says what happened to a key in a stretch of the window. The parts of a key, in the order
 * of their numbers, make one: the first operation of the first, the last of the last, the bits of
 * all. What it keeps is in a temporary SQLite database that nobody else can see and that goes with
 * it; SQLite sorts it in a few MiB of memory.
 */
#ifndef CDC_NETPARTS_H
#define CDC_NETPARTS_H

#include <stddef.h>
#include <stdint.h>

struct netparts;

struct netpart {
        const void *key; /* NULL: stands for itself, and is put to nothing */
        size_t key_size;
        int first; /* operations */
        int last;
        uint64_t number;     /* of the last change */
        const uint8_t *mask; /* of all its changes */
        size_t mask_size;    /* the same for all parts */
};

int netparts_new(struct netparts **ret_parts);
void netparts_free(struct netparts *parts); /* NULL is allowed */
void netparts_freep(struct netparts **parts);
/* Adding goes from netparts_begin to netparts_end, any number of times. */
int netparts_begin(struct netparts *parts);
int netparts_add(struct netparts *parts, const struct netpart *part);
int netparts_end(struct netparts *parts);
/* Puts them together; netparts_next follows. */
int netparts_join(struct netparts *parts);
/* In the order of the numbers, without keys. 1, 0 at the end, or negative errno. The mask is
 * borrowed until the next call. */
int netparts_next(struct netparts *parts, struct netpart *ret_part);

#endif
