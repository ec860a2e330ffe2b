/* SPDX-License-Identifier: MIT
 *
 * history: see history.h.
 */
#include "history.h"

#include <errno.h>
#include <stdio.h>

void history_release(struct history *history)
{
        bytes_release(&history->bytes);
        free(history->transactions);
        *history = (struct history){0};
}

static int read_one(struct reader *file, struct transaction *ret_transaction)
{
        size_t size;
        const uint8_t *record = read_blob(file, &size);
        struct reader reader = {record, record + size, false};
        struct transaction transaction = {
                .number = read_u64(&reader),
                .flags = read_u8(&reader),
                .writer = read_u8(&reader),
        };
        transaction.statements = read_blob(&reader, &transaction.statements_size);
        transaction.entries = reader;
        *ret_transaction = transaction;
        return file->is_broken || reader.is_broken ? -EBADMSG : 0;
}

static int by_number(const void *a, const void *b)
{
        const struct transaction *left = a;
        const struct transaction *right = b;
        return left->number < right->number ? -1 : left->number > right->number;
}

int history_read(struct history *history, const struct settings *settings)
{
        char path[PATH_SIZE + 32];
        snprintf(path, sizeof(path), "%s/record-begin", settings->directory);
        int result = bytes_read_file(&history->bytes, path);
        for (unsigned i = 0; i < settings->writers && result == 0; i++) {
                snprintf(path, sizeof(path), "%s/record-%u", settings->directory, i);
                result = bytes_read_file(&history->bytes, path);
        }
        struct reader reader = {
                history->bytes.data, history->bytes.data + history->bytes.size, false};
        while (result == 0 && reader.at < reader.end) {
                history->transactions = memory_grow(history->transactions,
                        (history->count + 1) * sizeof(*history->transactions));
                result = read_one(&reader, &history->transactions[history->count++]);
        }
        if (history->count)
                qsort(history->transactions, history->count, sizeof(*history->transactions),
                        by_number);
        return result;
}
