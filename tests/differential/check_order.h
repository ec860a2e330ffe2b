/* SPDX-License-Identifier: MIT
 *
 * check_order: the order of the rows of one transaction over all instances.
 */
#ifndef DIFFERENTIAL_CHECK_ORDER_H
#define DIFFERENTIAL_CHECK_ORDER_H

#include "stream.h"

/* One delivered change of the transaction. */
struct placed {
        const char *sequence;
        unsigned rank; /* 1 delete, 2 update, 3 insert */
        const struct instance *instance;
};

/* Sorts the changes and checks: the seqval rises over all instances and from last_sequence on
 * (which moves to the transaction's end); deletes, updates, inserts; deletes of child tables
 * before those of their parents, inserts the other way round. */
void check_order(struct placed *placed, size_t count, char *last_sequence, struct model *model,
        const struct transaction *transaction, struct report *report);

#endif
