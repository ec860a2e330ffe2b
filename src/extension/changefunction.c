/* SPDX-License-Identifier: MIT
 *
 * changefunction: a virtual table whose three hidden columns are the arguments of its function.
 *
 * It refuses to know which rows there are; faces/functions gives them.
 */
#include "extension/changefunction.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "extension/answer.h"
#include "extension/storefind.h"
#include "faces/functions.h"
#include "faces/validity.h"
#include "ground/cleanup.h"
#include "memory/sql.h"

enum { ARGUMENT_FROM, ARGUMENT_TO, ARGUMENT_FILTER, ARGUMENTS };

/* What a name stands for. */
struct function {
        bool is_net;
        char instance[]; /* with the NUL */
};

struct table {
        sqlite3_vtab base;
        sqlite3 *db;
        const struct function *function; /* borrowed of the module */
        struct result_shape shape;       /* as declared */
};

struct cursor {
        sqlite3_vtab_cursor base;
        sqlite3_stmt *hold;      /* owned; keeps the state of the store that was judged */
        struct changes *changes; /* owned, or NULL */
        struct netchanges *net;  /* owned, or NULL */
        const struct value *row; /* in hand; NULL at the end */
        sqlite3_int64 rowid;
        enum text_encoding encoding;
};

/* ---- the table ---- */

static int read_shape(const struct function *function, sqlite3 *db, struct problem *problem,
        struct result_shape *shape)
{
        static const char *const all[] = {
                "__$start_lsn", "__$seqval", "__$operation", "__$update_mask", NULL};
        static const char *const net[] = {"__$start_lsn", "__$operation", "__$update_mask", NULL};
        int64_t object_id;
        int r = storefind(db, function->instance, problem);
        if (r == 0)
                r = functions_find_instance(db, function->instance, problem, &object_id);
        if (r == 0 && function->is_net)
                r = netchanges_check(db, object_id, problem);
        for (const char *const *name = function->is_net ? net : all; r == 0 && *name; name++)
                r = result_add_column(shape, *name, RESULT_VALUE);
        return r < 0 ? r : changes_add_columns(db, object_id, shape);
}

static int declare(sqlite3 *db, const struct result_shape *shape)
{
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        buf_append_string(&sql, "CREATE TABLE changes(");
        for (unsigned i = 0; i < shape->count; i++) {
                text_append_identifier(&sql, shape->columns[i].name);
                buf_append_string(&sql, ", ");
        }
        buf_append_string(&sql, "\"__$from_lsn\" HIDDEN, \"__$to_lsn\" HIDDEN,"
                                " \"__$row_filter\" HIDDEN)");
        const char *text = buf_string(&sql);
        return buf_error(&sql) < 0 ? SQLITE_NOMEM : sqlite3_declare_vtab(db, text);
}

static void table_free(struct table *table)
{
        result_release_shape(&table->shape);
        free(table);
}

static int table_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
        sqlite3_vtab **ret_table, char **ret_words)
{
        struct problem problem = {0};
        struct table *table = calloc(1, sizeof(*table));
        if (!table)
                return SQLITE_NOMEM;
        table->db = db;
        table->function = context;
        int r = read_shape(context, db, &problem, &table->shape);
        if (r < 0)
                *ret_words = answer_words(r, &problem);
        int result = r < 0 ? SQLITE_ERROR : declare(db, &table->shape);
        if (result != SQLITE_OK)
                table_free(table);
        else
                *ret_table = &table->base;
        return result;
}

static int table_disconnect(sqlite3_vtab *base)
{
        table_free((struct table *)base);
        return SQLITE_OK;
}

/* Rows come by LSN. */
static bool is_in_order(const sqlite3_index_info *info)
{
        return info->nOrderBy == 1 && info->aOrderBy[0].iColumn == 0 && !info->aOrderBy[0].desc;
}

/* idxNum has a bit for each argument that is given, and they come in their order. */
static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
        int first = (int)((struct table *)base)->shape.count;
        int given[ARGUMENTS] = {-1, -1, -1}, next = 1;
        for (int i = 0; i < info->nConstraint; i++) {
                int argument = info->aConstraint[i].iColumn - first;
                if (argument < 0 || argument >= ARGUMENTS ||
                        info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
                        continue;
                /* An argument that depends on another table must be known first. */
                if (!info->aConstraint[i].usable)
                        return SQLITE_CONSTRAINT;
                given[argument] = i;
        }
        for (int i = 0; i < ARGUMENTS; i++) {
                if (given[i] < 0)
                        continue;
                info->aConstraintUsage[given[i]].argvIndex = next++;
                info->aConstraintUsage[given[i]].omit = 1;
                info->idxNum |= 1 << i;
        }
        info->orderByConsumed = is_in_order(info);
        info->estimatedCost = 10000;
        info->estimatedRows = 10000;
        return SQLITE_OK;
}

/* ---- the cursor ---- */

static int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor)
{
        struct cursor *cursor = calloc(1, sizeof(*cursor));
        if (!cursor)
                return SQLITE_NOMEM;
        *ret_cursor = &cursor->base;
        return SQLITE_OK;
}

static void cursor_reset(struct cursor *cursor)
{
        changes_close(steal(cursor->changes));
        netchanges_close(steal(cursor->net));
        sqlite3_finalize(steal(cursor->hold));
        cursor->row = NULL;
        cursor->rowid = 0;
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
        cursor_reset((struct cursor *)base);
        free(base);
        return SQLITE_OK;
}

static int fail(sqlite3_vtab *table, int result, const struct problem *problem)
{
        sqlite3_free(table->zErrMsg);
        table->zErrMsg = answer_words(result, problem);
        return result == -ENOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
        struct cursor *cursor = (struct cursor *)base;
        struct problem problem = {0};
        int r = 0;
        if (cursor->changes)
                r = changes_next(cursor->changes, &cursor->row);
        else if (cursor->net)
                r = netchanges_next(cursor->net, &cursor->row);
        cursor->rowid++;
        if (r <= 0)
                cursor->row = NULL;
        return r < 0 ? fail(base->pVtab, r, &problem) : SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
        return !((struct cursor *)base)->row;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid)
{
        *ret_rowid = ((struct cursor *)base)->rowid;
        return SQLITE_OK;
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
        struct cursor *cursor = (struct cursor *)base;
        const struct table *table = (const struct table *)base->pVtab;
        if (column >= 0 && (unsigned)column < table->shape.count)
                answer_value(context, &cursor->row[column], cursor->encoding);
        return SQLITE_OK;
}

/* ---- filtering ---- */

/* The arguments as texts. */
struct arguments {
        char lsns[2][LSN_TEXT_SIZE]; /* of BLOBs */
        struct functions_window window;
};

/* A BLOB of ten bytes is an LSN; of anything else its text is judged. */
static const char *lsn_text(sqlite3_value *value, char buffer[LSN_TEXT_SIZE])
{
        struct lsn lsn;
        if (sqlite3_value_type(value) != SQLITE_BLOB || sqlite3_value_bytes(value) != LSN_SIZE)
                return (const char *)sqlite3_value_text(value);
        memcpy(lsn.bytes, sqlite3_value_blob(value), LSN_SIZE);
        lsn_format(lsn, buffer);
        return buffer;
}

static void read_arguments(
        int given, sqlite3_value **values, const char *instance, struct arguments *arguments)
{
        struct functions_window *window = &arguments->window;
        *window = (struct functions_window){.instance = instance};
        if (given & 1 << ARGUMENT_FROM)
                window->from = lsn_text(*values++, arguments->lsns[0]);
        if (given & 1 << ARGUMENT_TO)
                window->to = lsn_text(*values++, arguments->lsns[1]);
        if (given & 1 << ARGUMENT_FILTER) {
                window->filter = (const char *)sqlite3_value_text(*values);
                /* NULL that was written is no filter; the default is for what was left out. */
                if (!window->filter)
                        window->filter = "";
        }
}

static bool has_shape(const struct table *table, const struct result_shape *shape)
{
        if (shape->count != table->shape.count)
                return false;
        for (unsigned i = 0; i < shape->count; i++) {
                if (strcmp(shape->columns[i].name, table->shape.columns[i].name) != 0)
                        return false;
        }
        return true;
}

/* Every LSN up to max_lsn was asked for already, and nothing beyond it is. */
static bool is_read_up(sqlite3 *db, const char *to)
{
        struct validity validity;
        struct lsn lsn;
        return lsn_parse(to, &lsn) == 0 && validity_read(db, 0, &validity) == 0 &&
               lsn_compare(lsn, validity.max) <= 0;
}

static int open_rows(struct cursor *cursor, const struct table *table,
        const struct functions_window *window, struct problem *problem)
{
        int r = storefind(table->db, window->instance, problem);
        if (r == 0)
                r = problem_errno(sqlite3_prepare_v2(
                        table->db, "SELECT 1 FROM change_tables", -1, &cursor->hold, NULL));
        if (r == 0)
                r = sql_next(cursor->hold);
        if (r < 0)
                return r;
        r = table->function->is_net
                    ? functions_get_net(table->db, window, problem, &cursor->net)
                    : functions_get_all(table->db, window, problem, &cursor->changes);
        if (r == -EAGAIN && is_read_up(table->db, window->to))
                return 0;
        return r;
}

static int check_shape(struct cursor *cursor, const struct table *table, struct problem *problem)
{
        const struct result_shape *shape = NULL;
        if (cursor->changes)
                shape = changes_shape(cursor->changes);
        else if (cursor->net)
                shape = netchanges_shape(cursor->net);
        if (!shape)
                return 0;
        cursor->encoding = shape->encoding;
        if (has_shape(table, shape))
                return 0;
        return problem_set(problem, ESTALE, 0,
                "the instance '%s' has other columns than it had: SELECT cdc_register()",
                table->function->instance);
}

static int cursor_filter(
        sqlite3_vtab_cursor *base, int given, const char *text, int count, sqlite3_value **values)
{
        struct cursor *cursor = (struct cursor *)base;
        struct table *table = (struct table *)base->pVtab;
        struct problem problem = {0};
        struct arguments arguments;
        cursor_reset(cursor);
        read_arguments(given, values, table->function->instance, &arguments);
        int r = open_rows(cursor, table, &arguments.window, &problem);
        if (r == 0)
                r = check_shape(cursor, table, &problem);
        return r < 0 ? fail(base->pVtab, r, &problem) : cursor_next(base);
}

/* ---- modules ---- */

/* Without xCreate it is eponymous only. */
static const sqlite3_module module = {
        .xConnect = table_connect,
        .xBestIndex = table_best_index,
        .xDisconnect = table_disconnect,
        .xOpen = cursor_open,
        .xClose = cursor_close,
        .xFilter = cursor_filter,
        .xNext = cursor_next,
        .xEof = cursor_eof,
        .xColumn = cursor_column,
        .xRowid = cursor_rowid,
};

static int register_one(sqlite3 *db, const char *instance, bool is_net)
{
        size_t size = strlen(instance) + 1;
        struct function *function = malloc(sizeof(*function) + size);
        char *name = sqlite3_mprintf("fn_cdc_get_%s_changes_%s", is_net ? "net" : "all", instance);
        if (!function || !name) {
                free(function);
                sqlite3_free(name);
                return SQLITE_NOMEM;
        }
        function->is_net = is_net;
        memcpy(function->instance, instance, size);
        /* SQLite frees the function, also when this fails. */
        int result = sqlite3_create_module_v2(db, name, &module, function, free);
        sqlite3_free(name);
        return result;
}

int changefunction_register(sqlite3 *db, const char *instance)
{
        int result = register_one(db, instance, false);
        return result == SQLITE_OK ? register_one(db, instance, true) : result;
}
