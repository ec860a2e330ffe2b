/* SPDX-License-Identifier: MIT
 *
 * writer: the connection, single statements, and how tables, rows and values are picked.
 */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* pick(limit): a random number below it, from the writer's seed (SQLite's own random() must not
 * be seeded: the salts of the log come from it). */
static void sql_pick(sqlite3_context *context, int count, sqlite3_value **values)
{
        struct writer *writer = sqlite3_user_data(context);
        unsigned limit = (unsigned)sqlite3_value_int64(values[0]);
        sqlite3_result_int64(context, limit ? random_below(&writer->random, limit) : 0);
}

/* filler(size): a random blob. */
static void sql_filler(sqlite3_context *context, int count, sqlite3_value **values)
{
        struct writer *writer = sqlite3_user_data(context);
        _cleanup_arguments_ struct arguments arguments = {0};
        arguments_add_sized(
                &arguments, &writer->random, CELL_BLOB, (size_t)sqlite3_value_int64(values[0]));
        sqlite3_result_blob64(
                context, arguments.bytes[0].data, arguments.cells[0].size, SQLITE_TRANSIENT);
}

/* Asks again often: SQLite's own handler sleeps up to 100 ms, and others would win every time. */
static int be_patient(void *context, int count)
{
        enum { MOST_TRIES = 100000 };
        usleep(count < 10 ? 200 : 700);
        return count < MOST_TRIES;
}

static int configure(struct writer *writer)
{
        const struct settings *settings = writer->settings;
        _cleanup_sql_ char *sql =
                sqlite3_mprintf("PRAGMA cache_size = %d;"
                                "PRAGMA secure_delete = %s; PRAGMA synchronous = %s;"
                                "PRAGMA recursive_triggers = %d; PRAGMA foreign_keys = %d;"
                                "PRAGMA wal_autocheckpoint = %d;",
                        settings->cache_size, settings->secure_delete, settings->synchronous,
                        settings->has_recursive_triggers, settings->has_foreign_keys,
                        settings->autocheckpoint);
        sqlite3_busy_handler(writer->db, be_patient, NULL);
        sqlite3_create_function(writer->db, "pick", 1, SQLITE_UTF8, writer, sql_pick, NULL, NULL);
        sqlite3_create_function(
                writer->db, "filler", 1, SQLITE_UTF8, writer, sql_filler, NULL, NULL);
        return sqlite3_exec(writer->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

int writer_open(struct writer *writer)
{
        /* Opened before SQLite's own descriptor and kept: closing it would drop SQLite's locks. */
        if (writer->page_fd < 0)
                writer->page_fd = open(writer->settings->database, O_RDONLY | O_CLOEXEC);
        if (sqlite3_open_v2(writer->settings->database, &writer->db, SQLITE_OPEN_READWRITE, NULL) !=
                SQLITE_OK)
                return -EIO;
        int result = configure(writer);
        if (result == 0)
                result = catalog_refresh(writer->db, &writer->catalog);
        return result;
}

void writer_close(struct writer *writer)
{
        catalog_release(&writer->catalog);
        sqlite3_close_v2(writer->db);
        writer->db = NULL;
}

/* What was run, so that a difference can be understood; long values are shortened. */
static void note_statement(
        struct writer *writer, const char *sql, const struct arguments *arguments, const char *end)
{
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        if (!file)
                abort();
        fprintf(file, "%.2000s", sql);
        for (unsigned i = 0; arguments && i < arguments->count && i < 12; i++) {
                fputs(i ? ", " : "  -- ", file);
                cell_print(file, &arguments->cells[i]);
        }
        fprintf(file, "%s\n", end);
        fclose(file);
        bytes_append(&writer->statements, text, size);
        free(text);
}

static int fail(struct writer *writer, const char *sql)
{
        fprintf(stderr, "differential: writer %u: %s: %s\n", writer->index,
                sqlite3_errmsg(writer->db), sql);
        writer->failure = -EIO;
        return -EIO;
}

static bool is_refusal(int code)
{
        return code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH || code == SQLITE_TOOBIG;
}

/* What ALTER TABLE cannot do, VACUUM of a file in the legacy format with generated columns and a
 * descending index ("values were supplied": PRAGMA legacy_file_format), and the depth of recursive
 * triggers, are refused by text only. */
static bool is_refusal_text(const char *message)
{
        static const char *const texts[] = {"too many levels of trigger recursion", "annot add a",
                "annot drop ", "after drop column", "already another table", "values were supplied",
                "integer overflow"};
        for (unsigned i = 0; i < COUNT(texts); i++)
                if (strstr(message, texts[i]))
                        return true;
        return false;
}

int perform(struct writer *writer, const char *sql, const struct arguments *arguments)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        if (!sql || writer->failure < 0)
                return writer->failure ? writer->failure : -ENOMEM;
        int code = sqlite3_prepare_v2(writer->db, sql, -1, &statement, NULL);
        for (unsigned i = 0; code == SQLITE_OK && arguments && i < arguments->count; i++)
                code = cell_bind(statement, (int)i + 1, &arguments->cells[i]);
        if (code == SQLITE_OK)
                do {
                        code = sqlite3_step(statement);
                } while (code == SQLITE_ROW);
        atomic_fetch_add(&writer->shared->statements, 1);
        if (code == SQLITE_DONE) {
                note_statement(writer, sql, arguments, "");
                return 1;
        }
        if (!is_refusal(code & 0xff) && !is_refusal_text(sqlite3_errmsg(writer->db)))
                return fail(writer, sql);
        note_statement(writer, sql, arguments, "  -- refused");
        atomic_fetch_add(&writer->shared->refused, 1);
        return 0;
}

int perform_text(struct writer *writer, char *sql, const struct arguments *arguments)
{
        _cleanup_sql_ char *owned = sql;
        return perform(writer, owned, arguments);
}

bool writer_is_well(const struct writer *writer)
{
        bool is_open = !sqlite3_get_autocommit(writer->db);
        return writer->failure == 0 && (is_open || writer->is_autocommit);
}

const struct table *pick_table(struct writer *writer)
{
        const struct table *found[TABLES_MAX];
        unsigned count = 0;
        for (unsigned i = 1; i < writer->catalog.table_count; i++) {
                const struct table *table = &writer->catalog.tables[i];
                bool is_watched = writer->shared->is_watched[table->number];
                if (count < TABLES_MAX && !(writer->is_aside && is_watched))
                        found[count++] = table;
        }
        return count ? found[random_below(&writer->random, count)] : NULL;
}

char *table_place(const struct table *table)
{
        if (!table->is_without_rowid)
                return sqlite3_mprintf("rowid = ?");
        sqlite3_str *text = sqlite3_str_new(NULL);
        for (unsigned i = 0; i < table->column_count; i++)
                if (table->columns[i].key)
                        sqlite3_str_appendf(text, "%s\"%w\" = ?",
                                sqlite3_str_length(text) ? " AND " : "", table->columns[i].name);
        return sqlite3_str_finish(text);
}

char *table_range(const struct table *table)
{
        if (!table->is_without_rowid)
                return sqlite3_mprintf("rowid");
        for (unsigned i = 0; i < table->column_count; i++)
                if (table->columns[i].key == 1)
                        return sqlite3_mprintf("\"%w\"", table->columns[i].name);
        return NULL;
}

char *table_place_columns(const struct table *table)
{
        if (!table->is_without_rowid)
                return sqlite3_mprintf("rowid");
        sqlite3_str *text = sqlite3_str_new(NULL);
        for (unsigned i = 0; i < table->column_count; i++)
                if (table->columns[i].key)
                        sqlite3_str_appendf(text, "%s\"%w\"", sqlite3_str_length(text) ? ", " : "",
                                table->columns[i].name);
        return sqlite3_str_finish(text);
}

bool pick_place(struct writer *writer, const struct table *table, bool is_range,
        struct arguments *arguments)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        int64_t count = count_rows(writer, table);
        if (!count)
                return false;
        _cleanup_sql_ char *columns = is_range ? table_range(table) : table_place_columns(table);
        _cleanup_sql_ char *sql = sqlite3_mprintf("SELECT %s FROM \"%w\" LIMIT 1 OFFSET %u",
                columns, table->name, random_below(&writer->random, (unsigned)count));
        if (sqlite3_prepare_v2(writer->db, sql, -1, &statement, NULL) != SQLITE_OK ||
                sqlite3_step(statement) != SQLITE_ROW)
                return false;
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
                struct cell cell = cell_of_column(statement, i);
                arguments_add(arguments, &cell);
        }
        return true;
}

int64_t count_rows(struct writer *writer, const struct table *table)
{
        _cleanup_sql_ char *sql = sqlite3_mprintf("SELECT count(*) FROM \"%w\"", table->name);
        return query_integer(writer->db, sql);
}

char *table_columns(const struct table *table)
{
        sqlite3_str *text = sqlite3_str_new(NULL);
        for (unsigned i = 0; i < table->column_count; i++)
                if (!table->columns[i].is_generated)
                        sqlite3_str_appendf(text, "%s\"%w\"", sqlite3_str_length(text) ? ", " : "",
                                table->columns[i].name);
        return sqlite3_str_finish(text);
}

int pick_column(struct writer *writer, const struct table *table, bool is_key)
{
        unsigned start = random_below(&writer->random, table->column_count);
        for (unsigned i = 0; i < table->column_count; i++) {
                unsigned column = (start + i) % table->column_count;
                if (!table->columns[column].is_generated && (!is_key || table->columns[column].key))
                        return (int)column;
        }
        return -1;
}

void append_value(struct writer *writer, const struct table *table, unsigned column,
        sqlite3_str *sql, struct arguments *arguments)
{
        const struct column *target = &table->columns[column];
        if (target->parent_table && random_percent(&writer->random, 90)) {
                sqlite3_str_appendf(sql, "(SELECT \"%w\" FROM \"%w\" LIMIT 1 OFFSET ?)",
                        target->parent_column, target->parent_table);
                arguments_add_integer(arguments, random_below(&writer->random, 40));
                return;
        }
        if (table->rowid_column == (int)column && random_percent(&writer->random, 40)) {
                sqlite3_str_appendall(sql, "NULL"); /* SQLite chooses the rowid */
                return;
        }
        struct value_wish wish = {
                .bias = target->bias,
                .is_strict = table->is_strict && target->bias != VALUE_ANY,
                .is_not_null = target->is_not_null || table->rowid_column == (int)column ||
                               (target->key && random_percent(&writer->random, 50)),
                .is_key = target->key > 0,
                .is_small = table->column_count > 20,
        };
        sqlite3_str_appendchar(sql, 1, '?');
        arguments_add_random(arguments, &writer->random, writer->settings->page_size, &wish);
}
