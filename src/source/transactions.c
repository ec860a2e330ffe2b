/* SPDX-License-Identifier: MIT
 *
 * transactions: see the header. The last image of a page in a transaction counts (a page that was
 * spilled and changed again has several frames), and pages beyond the size that the commit frame
 * names were spilled before the database shrank: they do not exist.
 */
#include "source/transactions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/walframe.h"

void transactions_begin(struct transactions *transactions, const struct database *database,
        uint32_t first, const struct database_header *header)
{
        *transactions = (struct transactions){
                .database = database,
                .next = first,
                .end = header->max_frame,
                .unsigned_frames = transactions->unsigned_frames,
        };
        memcpy(transactions->salt, header->salt, sizeof(transactions->salt));
}

static int read_frame(struct transactions *t, uint32_t number, struct walframe *ret_frame)
{
        uint8_t bytes[WALFRAME_HEADER];
        uint64_t offset = walframe_offset(number, t->database->page_size);
        int r = database_read_wal(t->database, offset, bytes, sizeof(bytes));
        if (r < 0)
                return r == -ENODATA ? -EBADMSG : r;
        walframe_parse(bytes, ret_frame);
        t->unsigned_frames += memcmp(ret_frame->salt, t->salt, sizeof(t->salt)) != 0;
        return ret_frame->pgno == 0 ? -EBADMSG : 0;
}

static int drop_beyond(struct frames *pages, uint32_t page_count)
{
        bool is_beyond = false;
        for (size_t i = 0; i < pages->capacity && !is_beyond; i++)
                is_beyond = pages->entries[i].pgno > page_count;
        if (!is_beyond)
                return 0;
        struct frames kept = {0};
        for (size_t i = 0; i < pages->capacity; i++) {
                const struct frames_entry *e = &pages->entries[i];
                if (e->pgno == 0 || e->pgno > page_count)
                        continue;
                if (frames_put(&kept, e->pgno, e->frame) < 0) {
                        frames_release(&kept);
                        return -ENOMEM;
                }
        }
        frames_release(pages);
        *pages = kept;
        return 0;
}

int transactions_next(struct transactions *transactions, struct transaction *transaction)
{
        struct walframe frame = {0};
        uint32_t first = transactions->next;
        if (first > transactions->end)
                return 0;
        frames_clear(&transaction->pages);
        for (uint32_t i = first; frame.pages == 0; i++) {
                if (i > transactions->end)
                        return -EBADMSG;
                int r = read_frame(transactions, i, &frame);
                if (r == 0)
                        r = frames_put(&transaction->pages, frame.pgno, i);
                if (r < 0)
                        return r;
                transaction->commit_frame = i;
        }
        transaction->page_count = frame.pages;
        transaction->frame_count = transaction->commit_frame - first + 1;
        transactions->next = transaction->commit_frame + 1;
        int r = drop_beyond(&transaction->pages, frame.pages);
        return r < 0 ? r : 1;
}

void transaction_release(struct transaction *transaction)
{
        frames_release(&transaction->pages);
}
