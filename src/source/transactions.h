/* SPDX-License-Identifier: MIT
 *
 * transactions: the committed transactions between two frames of the WAL, one at a time, each as
 * the set of its pages with their last frame.
 *
 * What is committed the caller knows from the wal-index header; frames up to there are taken as
 * they are, even with salts and checksums zeroed, as SQLite up to 3.49 can publish them (they are
 * counted). Images are not read here.
 */
#ifndef CDC_TRANSACTIONS_H
#define CDC_TRANSACTIONS_H

#include "source/database.h"
#include "source/frames.h"

struct transactions {
        const struct database *database; /* borrowed */
        uint32_t next;                   /* frame to read next */
        uint32_t end;                    /* last committed frame */
        uint8_t salt[8];
        uint64_t unsigned_frames; /* committed frames without the WAL's salt, for the statistics */
};

struct transaction {
        struct frames pages;   /* owned: pages of the transaction, none beyond page_count */
        uint32_t commit_frame; /* its last frame */
        uint32_t page_count;   /* pages of the database after it */
        uint32_t frame_count;
};

/* Reads from frame `first` to header->max_frame. The struct is zeroed before its first use; later
 * ones go on counting. */
void transactions_begin(struct transactions *transactions, const struct database *database,
        uint32_t first, const struct database_header *header);
/* The next one into *transaction, whose map is reused. 1, 0 at the end, -EBADMSG if the frames do
 * not end with a commit, or the error of reading. */
int transactions_next(struct transactions *transactions, struct transaction *transaction);
void transaction_release(struct transaction *transaction);

#endif
