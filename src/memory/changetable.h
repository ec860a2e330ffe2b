/* SPDX-License-Identifier: MIT
 *
 * changetable: rows of `<instance>_CT`.
 *
 * Columns: `__$start_lsn, __$end_lsn` (always NULL)`, __$seqval, __$operation, __$update_mask`, the
 * captured columns without type, `__$command_id`. The rowid is 2 * seqval + (operation <> 3), so
 * that rows stand in capture order and a range of change numbers is a range of rowids:
 *
 *      WHERE <rowid_name> BETWEEN 2 * :first AND 2 * :last + 1 ORDER BY <rowid_name>
 *
 * Values keep their storage class and bytes (design §4). It decides nothing: numbers, order and
 * masks come from above.
 */
#ifndef CDC_CHANGETABLE_H
#define CDC_CHANGETABLE_H

#include <stdint.h>
#include "ground/lsn.h"
#include "meaning/change.h"
#include "memory/instances.h"
#include "memory/store.h"

/* CREATE TABLE for an instance, in the caller's transaction (used by enable). */
int changetable_create(struct store *store, const struct instance *instance);
int changetable_drop(struct store *store, const struct instance *instance);

/* Adds one row (delete 1, insert 2) or two (update: 3 before, 4 after), in the caller's
 * transaction. `number` is the `__$seqval`, command_id counts from 1 in the source transaction.
 * The change has instance->column_count columns. 0, -EEXIST (the number is used), -EINVAL
 * (columns differ) or another negative errno. */
int changetable_append(struct store *store, const struct instance *instance,
        const struct change *change, struct lsn start_lsn, uint64_t number, uint32_t command_id);

#endif
