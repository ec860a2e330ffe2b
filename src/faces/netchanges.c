/* SPDX-License-Identifier: MIT
 *
 * netchanges: one pass over the keys of a window, then the row of each key's last change.
 *
 * It refuses to know whether the window may be asked for, and how keys are kept meanwhile.
 */
#include "faces/netchanges.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "faces/netkeys.h"
#include "memory/sql.h"

enum {
        NUMBER_NO_OBJECT = 208,
        OPERATION_DELETE = 1,
        OPERATION_UPDATE = 4,
        OPERATION_MERGE = 5,
};

/* Columns of the pass over the window; those of the key follow. */
enum { SCAN_SEQVAL, SCAN_OPERATION, SCAN_MASK, SCAN_KEY };

struct netchanges {
        enum netchanges_filter filter;
        struct netkeys *keys; /* owned */
        sqlite3_stmt *hold;   /* owned; stands at a row, so that its connection keeps its state */
        struct result result; /* the row of one change */
        struct value *values; /* owned; of the row in hand */
        uint64_t start;       /* rows with a smaller number are left out */
        uint64_t number;      /* of the row in hand */
};

int netchanges_parse_filter(const char *text, enum netchanges_filter *ret_filter)
{
        static const char *const words[] = {
                [NETCHANGES_ALL] = "all",
                [NETCHANGES_ALL_WITH_MASK] = "all with mask",
                [NETCHANGES_ALL_WITH_MERGE] = "all with merge",
        };
        for (unsigned i = 0; text && i < COUNT(words); i++) {
                if (changes_is_filter(text, words[i])) {
                        *ret_filter = (enum netchanges_filter)i;
                        return 0;
                }
        }
        return -EINVAL;
}

static int prepare(sqlite3 *store, const char *sql, int64_t object_id, sqlite3_stmt **ret_stmt)
{
        int r = problem_errno(sqlite3_prepare_v2(store, sql, -1, ret_stmt, NULL));
        if (r == 0)
                sqlite3_bind_int64(*ret_stmt, 1, object_id);
        return r;
}

int netchanges_check(sqlite3 *store, int64_t object_id, struct problem *problem)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(store,
                "SELECT supports_net_changes, capture_instance, index_name IS NULL "
                "FROM change_tables WHERE object_id = ?",
                object_id, &stmt);
        if (r < 0 || (r = sql_next(stmt)) < 0)
                return r;
        if (r == 0)
                return -ENOENT;
        if (sqlite3_column_int(stmt, 0) != 0)
                return 0;
        return problem_set(problem, ENOTSUP, NUMBER_NO_OBJECT,
                "the instance '%s' does not support net changes: %s",
                (const char *)sqlite3_column_text(stmt, 1),
                sqlite3_column_int(stmt, 2)
                        ? "its table had no key when it was enabled, so that nothing says which "
                          "changes are of one row; ask for all changes"
                        : "it was enabled with --supports-net-changes 0; ask for all changes, or "
                          "enable another instance of the table");
}

/* ---- the pass over the window ---- */

/* `SELECT seqval, operation, mask, key… FROM …`. */
static int write_scan(sqlite3 *store, int64_t object_id, struct buf *sql)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        unsigned count = 0;
        int r = prepare(store,
                "SELECT column_name FROM index_columns WHERE object_id = ? ORDER BY index_ordinal",
                object_id, &stmt);
        buf_append_string(sql, "SELECT \"__$seqval\", \"__$operation\", \"__$update_mask\"");
        for (; r >= 0 && (r = sql_next(stmt)) > 0; count++) {
                const char *name = (const char *)sqlite3_column_text(stmt, 0);
                if (!name)
                        return -ENOMEM;
                buf_append_string(sql, ", ");
                text_append_identifier(sql, name);
        }
        if (r < 0)
                return r;
        r = changes_append_source(store, object_id, CHANGES_ALL, sql);
        return r == 0 && count == 0 ? -ENOTSUP : r;
}

/* False if a NULL is in it. */
static bool read_key(const struct value *values, unsigned count, struct buf *key)
{
        buf_reset(key);
        for (unsigned i = 0; i < count; i++) {
                if (values[i].type == VALUE_NULL)
                        return false;
                value_append_key(key, &values[i]);
        }
        return true;
}

/* Anyone may write to the store with the shell; what is no change must not be counted as one. */
static bool is_change(const struct value *row)
{
        const struct value *seqval = &row[SCAN_SEQVAL], *operation = &row[SCAN_OPERATION];
        if (seqval->type != VALUE_BLOB || seqval->size != LSN_SIZE ||
                row[SCAN_MASK].type != VALUE_BLOB || operation->type != VALUE_INTEGER)
                return false;
        return operation->integer == 1 || operation->integer == 2 || operation->integer == 4;
}

static int add_change(
        struct netkeys *keys, const struct value *row, unsigned key_count, struct buf *key)
{
        struct lsn seqval;
        if (!is_change(row))
                return -EBADMSG;
        memcpy(seqval.bytes, row[SCAN_SEQVAL].bytes, LSN_SIZE);
        bool has_key = read_key(row + SCAN_KEY, key_count, key);
        if (buf_error(key) < 0)
                return buf_error(key);
        int r = netkeys_add(keys, has_key ? key->data : NULL, key->size,
                (int)row[SCAN_OPERATION].integer, lsn_to_change(seqval), row[SCAN_MASK].bytes,
                row[SCAN_MASK].size);
        return r == -EINVAL ? -EBADMSG : r;
}

static int scan(sqlite3 *store, int64_t object_id, struct changes_range range, struct netkeys *keys)
{
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        _cleanup_(buf_release) struct buf key = BUF_INIT;
        _cleanup_(result_close) struct result result = {0};
        const struct value *row;
        int r = write_scan(store, object_id, &sql);
        if (r == 0)
                r = result_open(&result, store, buf_string(&sql));
        if (r < 0)
                return r;
        changes_bind_range(result.stmt, range);
        while (r >= 0 && (r = result_next(&result, &row)) > 0)
                r = add_change(keys, row, result.shape.count - SCAN_KEY, &key);
        return r < 0 ? r : netkeys_finish(keys);
}

/* ---- the rows ---- */

static int open_rows(sqlite3 *store, int64_t object_id, struct netchanges *net)
{
        static const struct result_column metadata[NETCHANGES_METADATA] = {
                {"__$start_lsn", RESULT_LSN},
                {"__$operation", RESULT_VALUE},
                {"__$update_mask", RESULT_VALUE},
        };
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        struct result_shape *shape = &net->result.shape;
        int r = 0;
        for (unsigned i = 0; r >= 0 && i < NETCHANGES_METADATA; i++)
                r = result_add_column(shape, metadata[i].name, metadata[i].kind);
        if (r >= 0)
                r = changes_add_columns(store, object_id, shape);
        for (unsigned i = 0; r >= 0 && i < shape->count; i++) {
                buf_append_string(&sql, i == 0 ? "SELECT " : ", ");
                text_append_identifier(&sql, shape->columns[i].name);
        }
        if (r >= 0)
                r = changes_append_source(store, object_id, CHANGES_ALL, &sql);
        if (r >= 0)
                r = result_open(&net->result, store, buf_string(&sql));
        if (r < 0)
                return r;
        net->values = calloc(shape->count, sizeof(*net->values));
        return net->values ? 0 : -ENOMEM;
}

/* Outside a transaction every row would be read in one of its own, and at a price. */
static int hold_state(sqlite3 *store, sqlite3_stmt **ret_hold)
{
        int r = problem_errno(
                sqlite3_prepare_v2(store, "SELECT 1 FROM change_tables", -1, ret_hold, NULL));
        if (r < 0)
                return r;
        r = sql_next(*ret_hold);
        return r == 0 ? -ENOENT : r < 0 ? r : 0;
}

int netchanges_open_range(sqlite3 *store, int64_t object_id, struct changes_range range,
        enum netchanges_filter filter, struct netchanges **ret_net)
{
        _cleanup_netchanges_ struct netchanges *net = calloc(1, sizeof(*net));
        if (!net)
                return -ENOMEM;
        net->filter = filter;
        int r = netkeys_new(NETKEYS_LIMIT, &net->keys);
        if (r == 0)
                r = hold_state(store, &net->hold);
        if (r == 0)
                r = open_rows(store, object_id, net);
        if (r == 0)
                r = scan(store, object_id, range, net->keys);
        if (r < 0)
                return r;
        *ret_net = steal(net);
        return 0;
}

int netchanges_open(sqlite3 *store, int64_t object_id, struct lsn from, struct lsn to,
        enum netchanges_filter filter, struct netchanges **ret_net)
{
        struct changes_range range;
        int r = changes_find_range(store, from, to, &range);
        return r < 0 ? r : netchanges_open_range(store, object_id, range, filter, ret_net);
}

void netchanges_close(struct netchanges *net)
{
        if (!net)
                return;
        netkeys_free(net->keys);
        sqlite3_finalize(net->hold);
        result_close(&net->result);
        free(net->values);
        free(net);
}

void netchanges_closep(struct netchanges **net)
{
        netchanges_close(*net);
}

const struct result_shape *netchanges_shape(const struct netchanges *net)
{
        return &net->result.shape;
}

void netchanges_skip(struct netchanges *net, uint64_t number)
{
        net->start = number;
}

uint64_t netchanges_number(const struct netchanges *net)
{
        return net->number;
}

/* The row of one change, without the operation and mask that it had. */
static int read_row(struct netchanges *net, uint64_t number)
{
        const struct value *row;
        struct result *result = &net->result;
        sqlite3_reset(result->stmt);
        result->is_ended = false;
        changes_bind_range(result->stmt, (struct changes_range){number, number});
        int r = result_next(result, &row);
        if (r <= 0)
                return r < 0 ? r : -ESTALE;
        if (row[0].type != VALUE_BLOB || row[0].size != LSN_SIZE)
                return -EBADMSG;
        memcpy(net->values, row, result->shape.count * sizeof(*row));
        return 0;
}

static void set_metadata(struct netchanges *net, const struct netkey *key)
{
        bool is_merge = net->filter == NETCHANGES_ALL_WITH_MERGE;
        bool has_mask =
                net->filter == NETCHANGES_ALL_WITH_MASK && key->operation == OPERATION_UPDATE;
        net->values[1] = (struct value){.type = VALUE_INTEGER,
                .integer = is_merge && key->operation != OPERATION_DELETE ? OPERATION_MERGE
                                                                          : key->operation};
        net->values[2] = (struct value){.type = VALUE_NULL};
        if (has_mask)
                net->values[2] =
                        (struct value){VALUE_BLOB, (uint32_t)key->mask_size, {.bytes = key->mask}};
}

int netchanges_next(struct netchanges *net, const struct value **ret_values)
{
        struct netkey key;
        int r;
        do {
                r = netkeys_next(net->keys, &key);
        } while (r > 0 && key.number < net->start);
        if (r <= 0 || (r = read_row(net, key.number)) < 0)
                return r;
        set_metadata(net, &key);
        net->number = key.number;
        *ret_values = net->values;
        return 1;
}
