/* SPDX-License-Identifier: MIT
 *
 * scalars: a row of a table for each function. It decides nothing that faces/functions does.
 */
#include "extension/scalars.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "extension/answer.h"
#include "extension/storefind.h"
#include "faces/functions.h"
#include "faces/validity.h"
#include "ground/cleanup.h"
#include "ground/clock.h"

static bool has_null(int count, sqlite3_value **values)
{
        for (int i = 0; i < count; i++) {
                if (sqlite3_value_type(values[i]) == SQLITE_NULL)
                        return true;
        }
        return false;
}

static const char *text_of(sqlite3_value *value)
{
        const char *text = (const char *)sqlite3_value_text(value);
        return text ? text : "";
}

/* ---- LSNs ---- */

static void answer_end(sqlite3_context *context, int64_t object_id, bool is_min)
{
        struct problem problem = {0};
        struct validity validity;
        int r = validity_read(sqlite3_context_db_handle(context), object_id, &validity);
        if (r < 0)
                answer_problem(context, r, &problem);
        else if (!validity.is_pending)
                answer_lsn(context, is_min ? validity.min : validity.max);
}

static void get_min_lsn(sqlite3_context *context, int count, sqlite3_value **values)
{
        sqlite3 *db = sqlite3_context_db_handle(context);
        struct problem problem = {0};
        int64_t object_id = 0;
        if (has_null(count, values))
                return;
        int r = storefind(db, NULL, &problem);
        if (r == 0 && count > 0)
                r = functions_find_instance(db, text_of(values[0]), NULL, &object_id);
        if (r == -ENOENT && !problem.message[0])
                answer_lsn(context, (struct lsn){{0}});
        else if (r < 0)
                answer_problem(context, r, &problem);
        else
                answer_end(context, object_id, true);
}

static void get_max_lsn(sqlite3_context *context, int count, sqlite3_value **values)
{
        struct problem problem = {0};
        int r = storefind(sqlite3_context_db_handle(context), NULL, &problem);
        if (r < 0)
                answer_problem(context, r, &problem);
        else
                answer_end(context, 0, false);
}

static void move_lsn(sqlite3_context *context, sqlite3_value *value, struct lsn (*move)(struct lsn))
{
        struct problem problem = {0};
        struct lsn lsn;
        int r = answer_read_lsn(value, &lsn, &problem);
        if (r < 0)
                answer_problem(context, r, &problem);
        else if (r > 0)
                answer_lsn(context, move(lsn));
}

static void increment_lsn(sqlite3_context *context, int count, sqlite3_value **values)
{
        move_lsn(context, values[0], lsn_increment);
}

static void decrement_lsn(sqlite3_context *context, int count, sqlite3_value **values)
{
        move_lsn(context, values[0], lsn_decrement);
}

/* ---- times ---- */

static void map_time_to_lsn(sqlite3_context *context, int count, sqlite3_value **values)
{
        sqlite3 *db = sqlite3_context_db_handle(context);
        struct problem problem = {0};
        struct lsn lsn;
        if (has_null(count, values))
                return;
        int r = storefind(db, NULL, &problem);
        if (r == 0)
                r = functions_map_time(db, text_of(values[0]), text_of(values[1]), &problem, &lsn);
        if (r < 0)
                answer_problem(context, r, &problem);
        else if (r > 0)
                answer_lsn(context, lsn);
}

static void map_lsn_to_time(sqlite3_context *context, int count, sqlite3_value **values)
{
        sqlite3 *db = sqlite3_context_db_handle(context);
        struct problem problem = {0};
        char text[CLOCK_TEXT_SIZE];
        struct lsn lsn;
        int64_t wall_ns;
        int r = answer_read_lsn(values[0], &lsn, &problem);
        if (r > 0) {
                r = storefind(db, NULL, &problem);
                r = r < 0 ? r : functions_map_lsn(db, lsn, &wall_ns);
        }
        if (r < 0)
                answer_problem(context, r, &problem);
        if (r <= 0)
                return;
        clock_format(wall_ns, text);
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/* ---- columns and masks ---- */

/* A BLOB, or hex digits as text. */
static int read_mask(sqlite3_value *value, struct buf *mask, struct problem *problem)
{
        if (sqlite3_value_type(value) != SQLITE_BLOB)
                return functions_parse_mask(text_of(value), mask, problem);
        buf_append(mask, sqlite3_value_blob(value), (size_t)sqlite3_value_bytes(value));
        return buf_error(mask);
}

static void answer_bit(sqlite3_context *context, sqlite3_value *mask_value, int64_t position)
{
        _cleanup_(buf_release) struct buf mask = BUF_INIT;
        struct problem problem = {0};
        bool is_possible = position > 0 && position <= UINT32_MAX;
        int r = read_mask(mask_value, &mask, &problem);
        if (r < 0)
                answer_problem(context, r, &problem);
        else
                sqlite3_result_int(context,
                        is_possible && mask_is_set(mask.data, mask.size, (unsigned)position));
}

static void is_bit_set(sqlite3_context *context, int count, sqlite3_value **values)
{
        if (!has_null(count, values))
                answer_bit(context, values[1], sqlite3_value_int64(values[0]));
}

/* The column's ordinal; false, with the answer given if it is not NULL, where there is none. */
static bool find_column(sqlite3_context *context, sqlite3_value **values, unsigned *ret_ordinal)
{
        sqlite3 *db = sqlite3_context_db_handle(context);
        struct problem problem = {0};
        int64_t object_id;
        int r = storefind(db, NULL, &problem);
        if (r == 0) {
                r = functions_find_instance(db, text_of(values[0]), NULL, &object_id);
                if (r == -ENOENT)
                        return false;
        }
        if (r == 0)
                r = functions_find_column(db, object_id, text_of(values[1]), ret_ordinal);
        if (r < 0)
                answer_problem(context, r, &problem);
        return r > 0;
}

static void get_column_ordinal(sqlite3_context *context, int count, sqlite3_value **values)
{
        unsigned ordinal;
        if (!has_null(count, values) && find_column(context, values, &ordinal))
                sqlite3_result_int64(context, ordinal);
}

static void has_column_changed(sqlite3_context *context, int count, sqlite3_value **values)
{
        unsigned ordinal;
        if (!has_null(count, values) && find_column(context, values, &ordinal))
                answer_bit(context, values[2], ordinal);
}

/* ---- the table ---- */

enum { PURE = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, READS = SQLITE_UTF8 };

static const struct {
        const char *name;
        int arguments;
        int flags;
        void (*function)(sqlite3_context *, int, sqlite3_value **);
} functions[] = {
        {"get_min_lsn", 0, READS, get_min_lsn},
        {"get_min_lsn", 1, READS, get_min_lsn},
        {"get_max_lsn", 0, READS, get_max_lsn},
        {"increment_lsn", 1, PURE, increment_lsn},
        {"decrement_lsn", 1, PURE, decrement_lsn},
        {"map_time_to_lsn", 2, READS, map_time_to_lsn},
        {"map_lsn_to_time", 1, READS, map_lsn_to_time},
        {"is_bit_set", 2, PURE, is_bit_set},
        {"get_column_ordinal", 2, READS, get_column_ordinal},
        {"has_column_changed", 3, READS, has_column_changed},
};

static int register_one(sqlite3 *db, unsigned function, const char *prefix)
{
        char *name = sqlite3_mprintf("%s%s", prefix, functions[function].name);
        if (!name)
                return SQLITE_NOMEM;
        int result = sqlite3_create_function_v2(db, name, functions[function].arguments,
                functions[function].flags, NULL, functions[function].function, NULL, NULL, NULL);
        sqlite3_free(name);
        return result;
}

int scalars_register(sqlite3 *db)
{
        static const char *const prefixes[] = {"", "fn_cdc_", "sys_fn_cdc_"};
        int result = SQLITE_OK;
        for (unsigned i = 0; result == SQLITE_OK && i < COUNT(functions) * COUNT(prefixes); i++)
                result = register_one(db, i / COUNT(prefixes), prefixes[i % COUNT(prefixes)]);
        return result;
}
