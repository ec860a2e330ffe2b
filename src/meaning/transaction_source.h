/* SPDX-License-Identifier: MIT
 *
 * transaction_source: the one seam of the house. The memory floor is fed by a source of
 * transactions: the log reader, or a scripted one in tests.
 */
#ifndef CDC_TRANSACTION_SOURCE_H
#define CDC_TRANSACTION_SOURCE_H

#include "ground/problem.h"
#include "ground/text.h"
#include "meaning/change.h"

/* What is to be captured for an instance. All borrowed for the call. */
struct capture_request {
        int64_t object_id;
        const char *table;           /* name of the source table */
        enum text_encoding encoding; /* that TEXT must have, or 0 */
        char *const *columns;        /* captured columns in ordinal order */
        unsigned column_count;
        const unsigned *key; /* ordinals of the identity, from 1 */
        unsigned key_count;
        /* Where they were found last; NULL = by name. The table may have been altered since: its
         * columns are followed as after a schema change. */
        const char *sql; /* the table's CREATE text then */
        int64_t schema_rowid;
        const int *positions; /* of the columns in that table, -1 = dropped */
};

struct transaction_source {
        void *context;
        /* The next committed transaction: 1, 0 if there is none yet, -ESTALE if the log no longer
         * holds what follows, or another negative errno. */
        int (*next)(void *context, struct change_transaction *ret_transaction);
        /* The next change of that transaction, in order: 1, 0 at its end, or negative errno. */
        int (*next_change)(void *context, struct change *ret_change);
        /* Captures the instance from the next transaction on. -ENOENT if table or column are not
         * there, -ENOTSUP if the table cannot be captured or has another encoding, -EBADMSG if it
         * is corrupt. */
        int (*attach)(
                void *context, const struct capture_request *request, struct problem *problem);
        void (*detach)(void *context, int64_t object_id);
};

#endif
