/* SPDX-License-Identifier: MIT
 *
 * mapping: appends to and searches lsn_time_mapping. It refuses to say which LSNs are valid.
 */
#include "memory/mapping.h"

#include <errno.h>
#include <string.h>
#include "ground/clock.h"
#include "ground/cleanup.h"
#include "ground/text.h"
#include "memory/sql.h"

/* Appending. */

static int last_lsn(struct store *store, struct lsn *ret_lsn)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(
                store, "SELECT start_lsn FROM lsn_time_mapping ORDER BY rowid DESC LIMIT 1", &stmt);
        if (r == 0)
                r = sql_next(stmt);
        if (r > 0)
                sql_column_lsn(stmt, 0, ret_lsn);
        return r;
}

static int insert(struct store *store, const struct mapping_row *row)
{
        static const uint8_t dummy_id[1];
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(
                store, "INSERT INTO lsn_time_mapping VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 6, (int64_t)row->first_change);
        sqlite3_bind_int64(stmt, 7, (int64_t)row->change_count);
        sqlite3_bind_int(stmt, 8, row->is_resync);
        r = sql_bind_lsn(stmt, 1, row->start_lsn);
        if (r == 0)
                r = sql_bind_time(stmt, 2, row->begin_ns);
        if (r == 0)
                r = sql_bind_time(stmt, 3, row->end_ns);
        if (r == 0)
                r = problem_errno(row->is_dummy
                                          ? sqlite3_bind_blob(stmt, 4, dummy_id, 1, SQLITE_STATIC)
                                          : sqlite3_bind_blob(stmt, 4, row->tran_id,
                                                    MAPPING_ID_SIZE, SQLITE_STATIC));
        if (r == 0)
                r = sql_bind_lsn(stmt, 5, row->begin_lsn);
        if (r == 0)
                r = sql_bind_text(stmt, 9, row->rows);
        return r < 0 ? r : sql_run(stmt);
}

int mapping_append(struct store *store, struct state *state, const struct mapping_row *row)
{
        struct mapping_row clamped = *row;
        struct lsn last;
        int r = last_lsn(store, &last);
        if (r < 0)
                return r;
        if (r > 0) {
                int order = lsn_compare(row->start_lsn, last);
                if (order == 0 && row->is_dummy)
                        return 0;
                if (order <= 0)
                        return -EINVAL;
        }
        if (clamped.end_ns < state->last_commit_time_ns)
                clamped.end_ns = state->last_commit_time_ns;
        if (clamped.begin_ns == 0 || clamped.begin_ns > clamped.end_ns)
                clamped.begin_ns = clamped.end_ns;
        r = insert(store, &clamped);
        if (r == 0)
                state->last_commit_time_ns = clamped.end_ns;
        return r;
}

/* Searching. */

#define SELECT_ROW                                                                                 \
        "SELECT start_lsn, tran_begin_time, tran_end_time, tran_id, tran_begin_lsn,"               \
        "  cdcfs_first_change, cdcfs_change_count, cdcfs_resynced FROM lsn_time_mapping"

static void read_row(sqlite3_stmt *stmt, struct mapping_row *row)
{
        memset(row, 0, sizeof *row);
        sql_column_lsn(stmt, 0, &row->start_lsn);
        row->begin_ns = sql_column_time(stmt, 1);
        row->end_ns = sql_column_time(stmt, 2);
        row->is_dummy = sqlite3_column_bytes(stmt, 3) != MAPPING_ID_SIZE;
        if (!row->is_dummy)
                memcpy(row->tran_id, sqlite3_column_blob(stmt, 3), MAPPING_ID_SIZE);
        sql_column_lsn(stmt, 4, &row->begin_lsn);
        row->first_change = (uint64_t)sqlite3_column_int64(stmt, 5);
        row->change_count = (uint64_t)sqlite3_column_int64(stmt, 6);
        row->is_resync = sqlite3_column_int(stmt, 7) != 0;
}

/* The rows are numbered without holes, so that half way between two of them is one too. */
struct search {
        sqlite3_stmt *by_rowid;
        int64_t first; /* rowids; first > last in an empty table */
        int64_t last;
};

static void search_close(struct search *search)
{
        sqlite3_finalize(search->by_rowid);
}

static int search_open(sqlite3 *db, struct search *search)
{
        _cleanup_stmt_ sqlite3_stmt *ends = NULL;
        int r = problem_errno(sqlite3_prepare_v2(db,
                "SELECT (SELECT min(rowid) FROM lsn_time_mapping),"
                "  (SELECT max(rowid) FROM lsn_time_mapping)",
                -1, &ends, NULL));
        if (r == 0)
                r = problem_errno(sqlite3_prepare_v2(
                        db, SELECT_ROW " WHERE rowid = ?", -1, &search->by_rowid, NULL));
        if (r < 0)
                return r;
        r = sql_next(ends);
        if (r <= 0)
                return r < 0 ? r : -EIO;
        bool is_empty = sqlite3_column_type(ends, 0) == SQLITE_NULL;
        search->first = is_empty ? 1 : sqlite3_column_int64(ends, 0);
        search->last = is_empty ? 0 : sqlite3_column_int64(ends, 1);
        return 0;
}

static int search_row(struct search *search, int64_t rowid, struct mapping_row *ret_row)
{
        sqlite3_reset(search->by_rowid);
        sqlite3_bind_int64(search->by_rowid, 1, rowid);
        int r = sql_next(search->by_rowid);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        read_row(search->by_rowid, ret_row);
        return 0;
}

/* What bisecting looks for: by LSN, or by time where lsn is NULL. */
struct border {
        const struct lsn *lsn;
        int64_t time_ns;
        bool is_above; /* the first row above, not the first at or above */
};

static bool is_beyond(const struct mapping_row *row, const struct border *border)
{
        int order = border->lsn ? lsn_compare(row->start_lsn, *border->lsn)
                                : (row->end_ns > border->time_ns) - (row->end_ns < border->time_ns);
        return border->is_above ? order > 0 : order >= 0;
}

/* The rowid of the first row beyond the border; last + 1 if none is. */
static int bisect(struct search *search, const struct border *border, int64_t *ret_rowid)
{
        int64_t low = search->first, high = search->last + 1;
        while (low < high) {
                struct mapping_row row;
                int64_t middle = low + (high - low) / 2;
                int r = search_row(search, middle, &row);
                if (r < 0)
                        return r;
                if (is_beyond(&row, border))
                        high = middle;
                else
                        low = middle + 1;
        }
        *ret_rowid = low;
        return 0;
}

/* The first row beyond the border, or the one before it. 1, 0, or negative errno. */
static int find_at(
        sqlite3 *db, const struct border *border, bool is_before, struct mapping_row *ret_row)
{
        _cleanup_(search_close) struct search search = {0};
        int64_t rowid = 0;
        int r = search_open(db, &search);
        if (r == 0)
                r = bisect(&search, border, &rowid);
        if (r < 0)
                return r;
        rowid -= is_before;
        if (rowid < search.first || rowid > search.last)
                return 0;
        r = search_row(&search, rowid, ret_row);
        return r < 0 ? r : 1;
}

int mapping_find_lsn(sqlite3 *db, struct lsn lsn, struct mapping_row *ret_row)
{
        struct mapping_row row;
        struct border border = {.lsn = &lsn};
        int r = find_at(db, &border, false, &row);
        if (r <= 0 || lsn_compare(row.start_lsn, lsn) != 0)
                return r < 0 ? r : 0;
        *ret_row = row;
        return 1;
}

int mapping_find_rows(sqlite3 *db, struct lsn from, struct lsn to, struct mapping_rows *ret_rows)
{
        _cleanup_(search_close) struct search search = {0};
        struct border at_from = {.lsn = &from}, above_to = {.lsn = &to, .is_above = true};
        struct mapping_row first, last;
        int64_t begin = 0, end = 0;
        int r = search_open(db, &search);
        if (r == 0)
                r = bisect(&search, &at_from, &begin);
        if (r == 0)
                r = bisect(&search, &above_to, &end);
        if (r < 0 || begin >= end)
                return r;
        r = search_row(&search, begin, &first);
        if (r == 0)
                r = search_row(&search, end - 1, &last);
        if (r < 0)
                return r;
        *ret_rows = (struct mapping_rows){begin, end - 1, first.end_ns, last.end_ns};
        return 1;
}

int mapping_find_up_to(sqlite3 *db, struct lsn lsn, struct mapping_row *ret_row)
{
        struct border border = {.lsn = &lsn, .is_above = true};
        return find_at(db, &border, true, ret_row);
}

static const char *const operator_texts[] = {
        [MAPPING_LARGEST_LESS_THAN] = "largest less than",
        [MAPPING_LARGEST_LESS_THAN_OR_EQUAL] = "largest less than or equal",
        [MAPPING_SMALLEST_GREATER_THAN] = "smallest greater than",
        [MAPPING_SMALLEST_GREATER_THAN_OR_EQUAL] = "smallest greater than or equal",
};

int mapping_parse_operator(const char *text, enum mapping_operator *ret_operator)
{
        for (size_t i = 0; i < COUNT(operator_texts); i++) {
                if (text_equal_name(text, operator_texts[i])) {
                        *ret_operator = (enum mapping_operator)i;
                        return 0;
                }
        }
        return -EINVAL;
}

int mapping_find_time(
        sqlite3 *db, enum mapping_operator operator, int64_t wall_ns, struct mapping_row *ret_row)
{
        /* The row before the first one at or above T is the largest one less than T. */
        struct border border = {
                .time_ns = wall_ns,
                .is_above = operator== MAPPING_LARGEST_LESS_THAN_OR_EQUAL || operator==
                MAPPING_SMALLEST_GREATER_THAN,
        };
        bool is_before = operator== MAPPING_LARGEST_LESS_THAN || operator==
                MAPPING_LARGEST_LESS_THAN_OR_EQUAL;
        return find_at(db, &border, is_before, ret_row);
}

int mapping_find_changes(
        sqlite3 *db, struct lsn from, struct lsn to, uint64_t *ret_first, uint64_t *ret_last)
{
        struct mapping_row first, last;
        struct border at_from = {.lsn = &from};
        struct border above_to = {.lsn = &to, .is_above = true};
        int r = find_at(db, &at_from, false, &first);
        if (r > 0)
                r = find_at(db, &above_to, true, &last);
        if (r <= 0 || lsn_compare(first.start_lsn, last.start_lsn) > 0)
                return r < 0 ? r : 0;
        *ret_first = first.first_change;
        *ret_last = last.first_change + last.change_count - 1;
        return *ret_first <= *ret_last;
}

int mapping_last(sqlite3 *db, struct mapping_row *ret_row)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(
                sqlite3_prepare_v2(db, SELECT_ROW " ORDER BY rowid DESC LIMIT 1", -1, &stmt, NULL));
        if (r == 0)
                r = sql_next(stmt);
        if (r > 0)
                read_row(stmt, ret_row);
        return r;
}
