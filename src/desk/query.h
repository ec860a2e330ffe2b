/* SPDX-License-Identifier: MIT
 *
 * query: what the calls that read a store have in common. Everything is read from the store alone,
 * opened for reading: nothing is written, and no file appears beside a store that nobody has open.
 */
#ifndef CDC_QUERY_H
#define CDC_QUERY_H

#include "cdc.h"
#include "ground/problem.h"
#include "memory/store.h"

/* Opens the store of a database for reading. */
int query_open(
        const struct cdc_database *database, struct problem *problem, struct store **ret_store);
/* The result with -EAGAIN, which is kept for "nothing new yet", as -EBUSY. */
int query_not_again(int result);

#endif
