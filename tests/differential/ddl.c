/* SPDX-License-Identifier: MIT
 *
 * ddl: see ddl.h.
 */
#include "ddl.h"

#include <errno.h>
#include <stdio.h>
#include "catalog.h"

void ddl_history_release(struct ddl_history *history)
{
        for (unsigned i = 0; i < history->count; i++)
                free(history->rows[i].command);
        free(history->rows);
        names_release(&history->expected);
        *history = (struct ddl_history){0};
}

static struct stream *find_stream(struct stream *streams, unsigned count, const char *name)
{
        for (unsigned i = 0; i < count; i++)
                if (strcmp(streams[i].instance->name, name) == 0)
                        return &streams[i];
        return NULL;
}

static void take_row(struct ddl_history *history, sqlite3_stmt *statement)
{
        const char *digits = (const char *)sqlite3_column_text(statement, 2);
        history->rows = memory_grow(history->rows, (history->count + 1) * sizeof(*history->rows));
        struct ddl_row *row = &history->rows[history->count++];
        *row = (struct ddl_row){
                .command = memory_text((const char *)sqlite3_column_text(statement, 3)),
                .is_required = sqlite3_column_int(statement, 4),
        };
        snprintf(row->lsn, sizeof(row->lsn), "%.8s:%.8s:%.4s", digits, digits + 8, digits + 16);
}

int ddl_read(struct stream *streams, unsigned count, const struct settings *settings)
{
        char path[PATH_SIZE + 16];
        _cleanup_database_ sqlite3 *db = NULL;
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        static const char sql[] =
                "SELECT t.capture_instance, t.has_drop_pending, lower(hex(d.ddl_lsn)),"
                " d.ddl_command, d.required_column_update"
                " FROM change_tables AS t LEFT JOIN ddl_history AS d USING(object_id)"
                " ORDER BY d.rowid";
        snprintf(path, sizeof(path), "%s-cdc", settings->database);
        if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
                sqlite3_busy_timeout(db, 20000) != SQLITE_OK ||
                sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
                return -EIO;
        int code;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
                struct stream *stream = find_stream(
                        streams, count, (const char *)sqlite3_column_text(statement, 0));
                if (!stream)
                        continue;
                stream->has_drop_pending = sqlite3_column_int(statement, 1);
                if (sqlite3_column_type(statement, 3) != SQLITE_NULL)
                        take_row(&stream->ddl, statement);
        }
        return code == SQLITE_DONE ? 0 : -EIO;
}

/* Has a captured column another type now? */
static bool is_retyped(const struct stream *stream, const struct model_table *table)
{
        const struct lens *lens = &stream->lens;
        const struct shape_change *change = &table->change;
        if (change->event == SHAPE_ENDED)
                return false;
        for (unsigned i = 0; i < lens->column_count; i++) {
                int old = lens->columns[i];
                int new = old >= 0 && change->map ? change->map[old] : old;
                if (new >= 0 &&
                        strcmp(table->before.types.items[old], table->shape.types.items[new]) != 0)
                        return true;
        }
        return false;
}

void ddl_expect(struct stream *stream, const struct model_table *table)
{
        shape_statements(&table->change, &table->before, &table->shape, &stream->ddl.expected);
        stream->ddl.is_required = is_retyped(stream, table);
}

static bool take_expected(struct ddl_history *history, const struct ddl_row *row)
{
        int place = names_find(&history->expected, row->command);
        if (place < 0 || row->is_required != history->is_required)
                return false;
        free(history->expected.items[place]);
        history->expected.items[place] = history->expected.items[--history->expected.count];
        return true;
}

void ddl_check(struct stream *stream, const char *lsn, const struct transaction *transaction,
        struct report *report)
{
        struct ddl_history *history = &stream->ddl;
        for (; history->next < history->count; history->next++) {
                const struct ddl_row *row = &history->rows[history->next];
                int order = strcmp(row->lsn, lsn);
                if (order > 0)
                        break;
                if (order < 0 || !take_expected(history, row))
                        report_difference(report, transaction, stream->instance->name,
                                "DDL at %s that nobody expects (required_column_update %d): %s",
                                row->lsn, row->is_required, row->command);
        }
        for (unsigned i = 0; i < history->expected.count; i++)
                report_difference(report, transaction, stream->instance->name,
                        "DDL history lacks at %s (required_column_update %d): %s", lsn,
                        history->is_required, history->expected.items[i]);
        names_release(&history->expected);
}

void ddl_check_end(const struct stream *stream, struct report *report)
{
        const struct ddl_history *history = &stream->ddl;
        if (history->next < history->count)
                report_difference(report, NULL, stream->instance->name,
                        "DDL at %s, where nobody changed the schema: %s",
                        history->rows[history->next].lsn, history->rows[history->next].command);
        if (stream->has_drop_pending != stream->is_over)
                report_difference(report, NULL, stream->instance->name, "has_drop_pending is %d",
                        stream->has_drop_pending);
}
