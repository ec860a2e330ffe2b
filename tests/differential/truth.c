/* SPDX-License-Identifier: MIT
 *
 * truth: see truth.h.
 */
#include "truth.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "truth_schema.h"

static int dump_rows(sqlite3 *db, const struct table *table, struct bytes *bytes)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        sqlite3_str *text = sqlite3_str_new(NULL);
        sqlite3_str_appendall(text, table->is_without_rowid ? "SELECT 0" : "SELECT rowid");
        /* What is computed when it is read stands in no page and is delivered as NULL. */
        for (unsigned i = 0; i < table->column_count; i++)
                if (table->columns[i].is_virtual)
                        sqlite3_str_appendall(text, ", NULL");
                else
                        sqlite3_str_appendf(text, ", \"%w\"", table->columns[i].name);
        sqlite3_str_appendf(text, " FROM \"%w\"", table->name);
        _cleanup_sql_ char *sql = sqlite3_str_finish(text);
        if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
                return -EIO;
        size_t count_at = bytes->size;
        uint32_t count = 0;
        bytes_append_u32(bytes, 0);
        int code;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
                bytes_append_u64(bytes, (uint64_t)sqlite3_column_int64(statement, 0));
                size_t size_at = bytes->size;
                bytes_append_u32(bytes, 0);
                cell_append_columns(bytes, statement, 1);
                uint32_t size = (uint32_t)(bytes->size - size_at - sizeof(size));
                memcpy(bytes->data + size_at, &size, sizeof(size));
                count++;
        }
        memcpy(bytes->data + count_at, &count, sizeof(count));
        return code == SQLITE_DONE ? 0 : -EIO;
}

int truth_dump_table(sqlite3 *db, const struct table *table, struct bytes *bytes)
{
        bytes_append_u32(bytes, table->number);
        bytes_append_text(bytes, table->name);
        bytes_append_u32(bytes, table->column_count);
        for (unsigned i = 0; i < table->column_count; i++) {
                bytes_append_text(bytes, table->columns[i].name);
                bytes_append_u8(bytes, (uint8_t)table->columns[i].key);
        }
        return dump_rows(db, table, bytes);
}

static size_t record_start(struct bytes *bytes, uint64_t number, unsigned flags, unsigned writer)
{
        size_t start = bytes->size;
        bytes_append_u32(bytes, 0);
        bytes_append_u64(bytes, number);
        bytes_append_u8(bytes, (uint8_t)flags);
        bytes_append_u8(bytes, (uint8_t)writer);
        return start;
}

static void record_end(struct bytes *bytes, size_t start)
{
        uint32_t size = (uint32_t)(bytes->size - start - sizeof(size));
        memcpy(bytes->data + start, &size, sizeof(size));
}

int truth_dump_all(sqlite3 *db, const struct shared *shared, unsigned purpose, struct bytes *bytes)
{
        __attribute__((cleanup(catalog_release))) struct catalog catalog = {0};
        size_t start = record_start(bytes, 0, RECORD_VERIFIES, 0);
        bytes_append_text(bytes, "");
        int result = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
        if (result == 0)
                result = catalog_refresh(db, &catalog);
        if (result == 0)
                result = truth_append_schema(db, &catalog, shared, bytes);
        for (unsigned i = 0; i < catalog.table_count && result == 0; i++) {
                if (!shared->is_watched[catalog.tables[i].number])
                        continue;
                bytes_append_u8(bytes, 'D');
                bytes_append_u8(bytes, (uint8_t)purpose);
                result = truth_dump_table(db, &catalog.tables[i], bytes);
        }
        record_end(bytes, start);
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
        return result;
}

static bool is_watched(const struct writer *writer, const struct table *table)
{
        return atomic_load(&writer->shared->is_watched[table->number]);
}

static void end_session(struct writer *writer)
{
        if (writer->session)
                sqlite3session_delete(writer->session);
        writer->session = NULL;
}

int truth_begin(struct writer *writer)
{
        if (!writer->is_session)
                return 0;
        if (sqlite3session_create(writer->db, "main", &writer->session) != SQLITE_OK)
                return -EIO;
        for (unsigned i = 0; i < writer->catalog.table_count; i++) {
                const struct table *table = &writer->catalog.tables[i];
                if (table->truth == TRUTH_SESSION && is_watched(writer, table) &&
                        sqlite3session_attach(writer->session, table->name) != SQLITE_OK)
                        return -EIO;
        }
        return 0;
}

/* What a changeset touches is no longer what was dumped last. */
static int forget_fingerprints(struct writer *writer, void *changeset, int size)
{
        sqlite3_changeset_iter *iterator = NULL;
        if (sqlite3changeset_start(&iterator, size, changeset) != SQLITE_OK)
                return -EIO;
        while (sqlite3changeset_next(iterator) == SQLITE_ROW) {
                const char *name = NULL;
                int columns, operation, is_indirect;
                sqlite3changeset_op(iterator, &name, &columns, &operation, &is_indirect);
                const struct table *table = catalog_find(&writer->catalog, name);
                if (table)
                        atomic_store(&writer->shared->fingerprint[table->number], 0);
        }
        return sqlite3changeset_finalize(iterator) == SQLITE_OK ? 0 : -EIO;
}

static int collect_session(struct writer *writer)
{
        void *changeset = NULL;
        int size = 0;
        if (!writer->session)
                return 0;
        if (sqlite3session_changeset(writer->session, &size, &changeset) != SQLITE_OK)
                return -EIO;
        int result = forget_fingerprints(writer, changeset, size);
        bytes_append_u8(&writer->record, 'C');
        bytes_append_blob(&writer->record, changeset, (size_t)size);
        sqlite3_free(changeset);
        return result;
}

/* The content of a table, unless it is what was dumped last (by any writer). */
static int collect_table(struct writer *writer, const struct table *table, bool is_forced)
{
        struct bytes *record = &writer->record;
        bool is_truth = !writer->session || table->truth == TRUTH_DUMP;
        if (!is_watched(writer, table) || !(is_truth || is_forced))
                return 0;
        size_t start = record->size;
        bytes_append_u8(record, 'D');
        bytes_append_u8(record, is_truth ? DUMP_IS_TRUTH : DUMP_VERIFIES);
        size_t content = record->size;
        int result = truth_dump_table(writer->db, table, record);
        uint64_t hash = bytes_hash(record->data + content, record->size - content) | 1;
        uint64_t last = atomic_exchange(&writer->shared->fingerprint[table->number], hash);
        if (last == hash && !is_forced)
                record->size = start;
        return result;
}

/* A table that is gone and comes again was not dumped before. */
static void forget_gone(struct writer *writer)
{
        bool is_there[TABLES_MAX] = {false};
        for (unsigned i = 0; i < writer->catalog.table_count; i++)
                is_there[writer->catalog.tables[i].number] = true;
        for (unsigned i = 0; i < TABLES_MAX; i++)
                if (!is_there[i])
                        atomic_store(&writer->shared->fingerprint[i], 0);
}

int truth_collect(struct writer *writer, unsigned flags)
{
        struct bytes *record = &writer->record;
        record->size = 0;
        record_start(record, writer->number, flags, writer->index);
        bytes_append_blob(record, writer->statements.data, writer->statements.size);
        int result = 0;
        if (flags & (RECORD_DEFINES | RECORD_VACUUMS)) {
                forget_gone(writer);
                truth_append_alterations(&writer->alterations, record);
                result = truth_append_schema(writer->db, &writer->catalog, writer->shared, record);
        }
        if (result == 0)
                result = collect_session(writer);
        for (unsigned i = 0; i < writer->catalog.table_count && result == 0; i++)
                result = collect_table(writer, &writer->catalog.tables[i], flags & RECORD_VERIFIES);
        record_end(record, 0);
        return result;
}

int truth_write(struct writer *writer)
{
        end_session(writer);
        const uint8_t *at = writer->record.data;
        size_t left = writer->record.size;
        while (left && writer->record_fd >= 0) {
                ssize_t written = write(writer->record_fd, at, left);
                if (written < 0)
                        return -errno;
                at += written;
                left -= (size_t)written;
        }
        return 0;
}

void truth_abandon(struct writer *writer)
{
        end_session(writer);
        /* Fingerprints may be of content that was taken back. */
        for (unsigned i = 0; writer->record.size && i < TABLES_MAX; i++)
                atomic_store(&writer->shared->fingerprint[i], 0);
        writer->record.size = 0;
}
