/* SPDX-License-Identifier: MIT
 *
 * history: the records of all writers in commit order, as truth.h describes them.
 */
#ifndef DIFFERENTIAL_HISTORY_H
#define DIFFERENTIAL_HISTORY_H

#include "bytes.h"
#include "settings.h"

struct transaction {
        uint64_t number; /* 0: where the history begins */
        unsigned flags;  /* RECORD_… */
        unsigned writer;
        const uint8_t *statements; /* borrowed from the history */
        size_t statements_size;
        struct reader entries;
};

struct history {
        struct bytes bytes;
        struct transaction *transactions;
        size_t count;
};

void history_release(struct history *history);
/* Reads record-begin and record-0, record-1 … of a round's directory. 0 or negative errno. */
int history_read(struct history *history, const struct settings *settings);

#endif
