/* SPDX-License-Identifier: MIT
 *
 * changetable: makes, fills and drops `<instance>_CT`. It refuses to choose numbers or order.
 */
#include "memory/changetable.h"

#include <errno.h>
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "memory/sql.h"

/* Parameters of the insert before the captured columns, and the operations of an update. */
enum { LEADING_PARAMETERS = 5, OPERATION_BEFORE = 3, OPERATION_AFTER = 4 };

static void append_column_names(struct buf *sql, const struct instance *instance)
{
        buf_append_string(sql, "\"__$start_lsn\", \"__$end_lsn\", \"__$seqval\", \"__$operation\","
                               " \"__$update_mask\"");
        for (unsigned i = 0; i < instance->column_count; i++) {
                buf_append_string(sql, ", ");
                text_append_identifier(sql, instance->columns[i].name);
        }
        buf_append_string(sql, ", \"__$command_id\"");
}

static int execute(struct store *store, struct buf *sql)
{
        const char *text = buf_string(sql);
        int r = buf_error(sql);
        return r < 0 ? r : sql_execute(store_db(store), text);
}

int changetable_create(struct store *store, const struct instance *instance)
{
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        buf_append_string(&sql, "CREATE TABLE ");
        text_append_identifier(&sql, instance->change_table);
        buf_append_string(&sql, "(");
        append_column_names(&sql, instance);
        buf_append_string(&sql, ")");
        return execute(store, &sql);
}

int changetable_drop(struct store *store, const struct instance *instance)
{
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        store_statement_forget(store, instance->statement);
        buf_append_string(&sql, "DROP TABLE IF EXISTS ");
        text_append_identifier(&sql, instance->change_table);
        return execute(store, &sql);
}

/* Parameters: 1 rowid, 2 start_lsn, 3 seqval, 4 operation, 5 mask, the columns, command_id. */
static int prepare_insert(
        struct store *store, const struct instance *instance, sqlite3_stmt **ret_stmt)
{
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        buf_append_string(&sql, "INSERT INTO ");
        text_append_identifier(&sql, instance->change_table);
        buf_append_format(&sql, "(%s, ", instance->rowid_name);
        append_column_names(&sql, instance);
        buf_append_string(&sql, ") VALUES(?1, ?2, NULL, ?3, ?4, ?5");
        for (unsigned i = 0; i <= instance->column_count; i++)
                buf_append_format(&sql, ", ?%u", LEADING_PARAMETERS + 1 + i);
        buf_append_string(&sql, ")");
        const char *text = buf_string(&sql);
        int r = buf_error(&sql);
        return r < 0 ? r : store_statement_add(store, instance->statement, text, ret_stmt);
}

static int find_insert(
        struct store *store, const struct instance *instance, sqlite3_stmt **ret_stmt)
{
        *ret_stmt = store_statement_find(store, instance->statement);
        return *ret_stmt ? 0 : prepare_insert(store, instance, ret_stmt);
}

/* Every parameter is bound anew for each row, so nothing is cleared in between: that would cost a
 * walk over all parameters. The borrowed bytes are not looked at again before. */
static int insert_row(sqlite3_stmt *stmt, uint64_t number, int operation,
        const struct value *values, unsigned columns, enum text_encoding encoding)
{
        sqlite3_bind_int64(stmt, 1, (int64_t)(2 * number + (operation != OPERATION_BEFORE)));
        sqlite3_bind_int(stmt, 4, operation);
        for (unsigned i = 0; i < columns; i++) {
                int r = sql_bind_value(
                        stmt, (int)(LEADING_PARAMETERS + 1 + i), &values[i], encoding);
                if (r < 0)
                        return r;
        }
        int result = sqlite3_step(stmt);
        sqlite3_reset(stmt);
        if (result == SQLITE_CONSTRAINT_PRIMARYKEY || result == SQLITE_CONSTRAINT_ROWID)
                return -EEXIST;
        return problem_errno(result);
}

static int bind_transaction(sqlite3_stmt *stmt, const struct change *change, struct lsn start_lsn,
        struct lsn seqval, uint32_t command_id)
{
        int r = sql_bind_lsn(stmt, 2, start_lsn);
        if (r == 0)
                r = sql_bind_lsn(stmt, 3, seqval);
        if (r == 0)
                r = problem_errno(sqlite3_bind_blob(
                        stmt, 5, change->mask, (int)mask_size(change->columns), SQLITE_STATIC));
        if (r == 0)
                r = problem_errno(sqlite3_bind_int64(
                        stmt, (int)(LEADING_PARAMETERS + 1 + change->columns), command_id));
        return r;
}

int changetable_append(struct store *store, const struct instance *instance,
        const struct change *change, struct lsn start_lsn, uint64_t number, uint32_t command_id)
{
        sqlite3_stmt *stmt = NULL;
        enum text_encoding encoding = store_encoding(store);
        if (change->columns != instance->column_count)
                return -EINVAL;
        int r = find_insert(store, instance, &stmt);
        if (r < 0)
                return r;
        r = bind_transaction(stmt, change, start_lsn, lsn_from_change(number), command_id);
        if (r == 0 && change->operation != CHANGE_INSERT)
                r = insert_row(stmt, number,
                        change->operation == CHANGE_UPDATE ? OPERATION_BEFORE : CHANGE_DELETE,
                        change->before, change->columns, encoding);
        if (r == 0 && change->operation != CHANGE_DELETE)
                r = insert_row(stmt, number,
                        change->operation == CHANGE_UPDATE ? OPERATION_AFTER : CHANGE_INSERT,
                        change->after, change->columns, encoding);
        if (r < 0)
                sql_done(stmt);
        return r;
}
