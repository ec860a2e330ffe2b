/* SPDX-License-Identifier: MIT
 *
 * sorter: see the header. An entry in memory is {u32 key size, u32 payload size, u32 side, key,
 * payload}. The temporary database is anonymous: SQLite deletes it.
 */
#include "meaning/sorter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/problem.h"

enum { MEMORY_LIMIT = 16 << 20, KEPT = 1 << 20 };

struct header {
        uint32_t key_size;
        uint32_t payload_size;
        uint32_t side;
};

void sorter_release(struct sorter *sorter)
{
        sqlite3_finalize(sorter->insert);
        sqlite3_finalize(sorter->select);
        sqlite3_close_v2(sorter->db);
        buf_release(&sorter->memory);
        free(sorter->offsets);
        *sorter = (struct sorter){0};
}

int sorter_reset(struct sorter *sorter)
{
        if (sorter->memory.capacity > KEPT)
                buf_release(&sorter->memory);
        buf_reset(&sorter->memory);
        sorter->count = sorter->next = 0;
        if (!sorter->is_spilled)
                return 0;
        sorter->is_spilled = 0;
        sqlite3_reset(sorter->select);
        return problem_errno(sqlite3_exec(sorter->db, "DELETE FROM entries", NULL, NULL, NULL));
}

static struct sorter_entry entry_at(const struct sorter *sorter, size_t offset)
{
        struct header h;
        const uint8_t *p = sorter->memory.data + offset;
        memcpy(&h, p, sizeof(h));
        return (struct sorter_entry){
                .key = p + sizeof(h),
                .key_size = h.key_size,
                .side = h.side,
                .payload = p + sizeof(h) + h.key_size,
                .payload_size = h.payload_size,
        };
}

static int spill_open(struct sorter *sorter)
{
        if (sorter->db)
                return 0;
        int r = sqlite3_open_v2("", &sorter->db,
                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
        if (r == SQLITE_OK)
                r = sqlite3_exec(sorter->db,
                        "PRAGMA cache_size=-16000; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                        "PRAGMA secure_delete=OFF;"
                        "CREATE TABLE entries(key BLOB, side INTEGER, number INTEGER, "
                        "payload BLOB, PRIMARY KEY(key, side, number)) WITHOUT ROWID; BEGIN",
                        NULL, NULL, NULL);
        if (r == SQLITE_OK)
                r = sqlite3_prepare_v2(sorter->db, "INSERT INTO entries VALUES(?1, ?2, ?3, ?4)", -1,
                        &sorter->insert, NULL);
        if (r == SQLITE_OK)
                r = sqlite3_prepare_v2(sorter->db,
                        "SELECT key, side, payload FROM entries ORDER BY key, side, number", -1,
                        &sorter->select, NULL);
        return problem_errno(r);
}

static int spill_entry(struct sorter *sorter, const struct sorter_entry *e)
{
        sqlite3_bind_blob64(sorter->insert, 1, e->key, e->key_size, SQLITE_STATIC);
        sqlite3_bind_int(sorter->insert, 2, (int)e->side);
        sqlite3_bind_int64(sorter->insert, 3, sorter->added++);
        sqlite3_bind_blob64(sorter->insert, 4, e->payload, e->payload_size, SQLITE_STATIC);
        int r = sqlite3_step(sorter->insert);
        sqlite3_reset(sorter->insert);
        return problem_errno(r);
}

static int spill(struct sorter *sorter)
{
        int r = spill_open(sorter);
        sorter->is_spilled = 1;
        for (size_t i = 0; r == 0 && i < sorter->count; i++) {
                struct sorter_entry e = entry_at(sorter, sorter->offsets[i]);
                r = spill_entry(sorter, &e);
        }
        buf_reset(&sorter->memory);
        sorter->count = 0;
        return r;
}

static int keep_offset(struct sorter *sorter)
{
        if (sorter->count == sorter->capacity) {
                size_t capacity = sorter->capacity ? sorter->capacity * 2 : 64;
                size_t *offsets = realloc(sorter->offsets, capacity * sizeof(*offsets));
                if (!offsets)
                        return -ENOMEM;
                sorter->offsets = offsets;
                sorter->capacity = capacity;
        }
        sorter->offsets[sorter->count++] = sorter->memory.size;
        return 0;
}

int sorter_add(
        struct sorter *sorter, const struct buf *key, unsigned side, const struct buf *payload)
{
        struct header h = {
                .key_size = (uint32_t)key->size,
                .payload_size = (uint32_t)payload->size,
                .side = side,
        };
        if (buf_error(key) < 0 || buf_error(payload) < 0)
                return -ENOMEM;
        if (sorter->is_spilled) {
                struct sorter_entry e = {.key = key->data,
                        .key_size = key->size,
                        .side = side,
                        .payload = payload->data,
                        .payload_size = payload->size};
                return spill_entry(sorter, &e);
        }
        if (keep_offset(sorter) < 0)
                return -ENOMEM;
        buf_append(&sorter->memory, &h, sizeof(h));
        buf_append(&sorter->memory, key->data, key->size);
        buf_append(&sorter->memory, payload->data, payload->size);
        if (buf_error(&sorter->memory) < 0)
                return -ENOMEM;
        return sorter->memory.size > MEMORY_LIMIT ? spill(sorter) : 0;
}

static int compare_entries(const void *a, const void *b, void *context)
{
        size_t at = *(const size_t *)a, other = *(const size_t *)b;
        struct sorter_entry x = entry_at(context, at);
        struct sorter_entry y = entry_at(context, other);
        size_t size = x.key_size < y.key_size ? x.key_size : y.key_size;
        int order = memcmp(x.key, y.key, size);
        if (order == 0)
                order = x.key_size < y.key_size ? -1 : x.key_size > y.key_size;
        if (order == 0)
                order = (int)x.side - (int)y.side;
        return order != 0 ? order : at < other ? -1 : at > other;
}

int sorter_sort(struct sorter *sorter)
{
        if (!sorter->is_spilled && sorter->count > 1)
                qsort_r(sorter->offsets, sorter->count, sizeof(*sorter->offsets), compare_entries,
                        sorter);
        return 0;
}

static int next_spilled(struct sorter *sorter, struct sorter_entry *ret_entry)
{
        int r = sqlite3_step(sorter->select);
        if (r != SQLITE_ROW) {
                sqlite3_reset(sorter->select);
                return problem_errno(r);
        }
        ret_entry->key = sqlite3_column_blob(sorter->select, 0);
        ret_entry->key_size = (size_t)sqlite3_column_bytes(sorter->select, 0);
        ret_entry->side = (unsigned)sqlite3_column_int(sorter->select, 1);
        ret_entry->payload = sqlite3_column_blob(sorter->select, 2);
        ret_entry->payload_size = (size_t)sqlite3_column_bytes(sorter->select, 2);
        return 1;
}

int sorter_next(struct sorter *sorter, struct sorter_entry *ret_entry)
{
        if (sorter->is_spilled)
                return next_spilled(sorter, ret_entry);
        if (sorter->next >= sorter->count)
                return 0;
        *ret_entry = entry_at(sorter, sorter->offsets[sorter->next++]);
        return 1;
}
