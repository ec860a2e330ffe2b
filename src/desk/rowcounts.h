/* SPDX-License-Identifier: MIT
 *
 * rowcounts: how many rows of each capture instance one transaction has, as the store keeps it for
 * transactions/ (memory/mapping.h).
 *
 * The text tells names, not numbers of instances, so that it means the same when one of them is
 * gone. It knows neither store nor files.
 */
#ifndef CDC_ROWCOUNTS_H
#define CDC_ROWCOUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "ground/buf.h"
#include "meaning/change.h"
#include "memory/instances.h"

struct rowcounts {
        struct rowcounts_item {
                const struct instance *instance; /* borrowed until the next reset */
                int64_t rows;
        } * items; /* by object_id; owned */
        size_t count;
        struct buf text;
};

/* Begins a transaction; all zero is a begin too. */
void rowcounts_reset(struct rowcounts *counts);
void rowcounts_release(struct rowcounts *counts);
/* An update is two rows. 0 or -ENOMEM. */
int rowcounts_add(
        struct rowcounts *counts, const struct instance *instance, const struct change *change);
/* {"main_a":1,"main_b":2} in the order of object_id; borrowed until the next call. NULL: no memory.
 */
const char *rowcounts_text(struct rowcounts *counts);

#endif
