/* SPDX-License-Identifier: MIT
 *
 * ddl: what the store's ddl_history and change_tables say of schema changes, beside what they
 * must say.
 */
#ifndef DIFFERENTIAL_DDL_H
#define DIFFERENTIAL_DDL_H

#include "stream.h"

/* Fills ddl and has_drop_pending of every stream. 0 or negative errno. */
int ddl_read(struct stream *streams, unsigned count, const struct settings *settings);
void ddl_history_release(struct ddl_history *history);
/* What the last transaction's change of the table must give; before the stream follows it. */
void ddl_expect(struct stream *stream, const struct model_table *table);
/* At the transaction's LSN. */
void ddl_check(struct stream *stream, const char *lsn, const struct transaction *transaction,
        struct report *report);
/* At the end of the history: nothing more, and the mark of a table that is gone. */
void ddl_check_end(const struct stream *stream, struct report *report);

#endif
