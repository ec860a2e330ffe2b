/* SPDX-License-Identifier: MIT
 *
 * requests: posts, takes, finishes and awaits rows of cdcfs_requests. It refuses to know what a
 * command does.
 */
#include "memory/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "ground/clock.h"
#include "ground/cleanup.h"
#include "memory/sql.h"

enum { POLL_MS = 5 };
static const int64_t kept_ns = INT64_C(3600) * 1000000000; /* of finished rows */

void request_release(struct request *request)
{
        free(request->command);
        free(request->argument);
        memset(request, 0, sizeof *request);
}

void request_answer_release(struct request_answer *answer)
{
        free(answer->message);
        answer->message = NULL;
}

static int insert(struct store *store, const char *command, const char *argument, int64_t now_ns,
        int64_t *ret_id)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "INSERT INTO cdcfs_requests(command, argument, created) VALUES(?, ?, ?)", &stmt);
        if (r == 0)
                r = sql_bind_text(stmt, 1, command);
        if (r == 0)
                r = sql_bind_text(stmt, 2, argument);
        if (r == 0)
                r = sql_bind_time(stmt, 3, now_ns);
        if (r == 0)
                r = sql_run(stmt);
        if (r == 0)
                *ret_id = sqlite3_last_insert_rowid(store_db(store));
        return r;
}

int requests_post(struct store *store, const char *command, const char *argument, int64_t now_ns,
        int64_t *ret_id)
{
        int r = store_begin(store);
        if (r < 0)
                return r;
        r = insert(store, command, argument, now_ns, ret_id);
        if (r == 0)
                r = store_commit(store);
        if (r < 0)
                store_rollback(store);
        else
                store_announce(store);
        return r;
}

int requests_withdraw(struct store *store, int64_t id)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(
                store, "DELETE FROM cdcfs_requests WHERE request = ? AND done IS NULL", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, id);
        return sql_run(stmt);
}

/* 1 and the answer; 0: not finished yet; -ENOENT: gone. */
static int find_answer(struct store *store, int64_t id, struct request_answer *ret_answer)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT done, result, number, message FROM cdcfs_requests WHERE request = ?",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, id);
        r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        if (sqlite3_column_type(stmt, 0) == SQLITE_NULL)
                return 0;
        ret_answer->result = sqlite3_column_int(stmt, 1);
        ret_answer->number = sqlite3_column_int(stmt, 2);
        r = sql_column_string(stmt, 3, &ret_answer->message);
        return r < 0 ? r : 1;
}

int requests_wait(
        struct store *store, int64_t id, int timeout_ms, struct request_answer *ret_answer)
{
        const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
        int64_t deadline = clock_monotonic(NULL) + timeout_ms * INT64_C(1000000);
        /* The first look needs no change: the answer may be there before we began to wait. */
        bool is_to_look = true;
        for (;;) {
                int r = is_to_look ? find_answer(store, id, ret_answer) : 0;
                if (r != 0)
                        return r < 0 ? r : 0;
                if (clock_monotonic(NULL) >= deadline)
                        return -ETIMEDOUT;
                nanosleep(&pause, NULL);
                r = store_changed(store);
                if (r < 0)
                        return r;
                is_to_look = r > 0;
        }
}

int requests_next(struct store *store, int64_t after, struct request *ret_request)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        _cleanup_(request_release) struct request request = {0};
        int r = store_statement(store,
                "SELECT request, command, argument, created FROM cdcfs_requests"
                " WHERE done IS NULL AND request > ? ORDER BY request LIMIT 1",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, after);
        r = sql_next(stmt);
        if (r <= 0)
                return r;
        request.id = sqlite3_column_int64(stmt, 0);
        request.created_ns = sql_column_time(stmt, 3);
        r = sql_column_string(stmt, 1, &request.command);
        if (r == 0)
                r = sql_column_string(stmt, 2, &request.argument);
        if (r < 0)
                return r;
        *ret_request = request;
        memset(&request, 0, sizeof request);
        return 1;
}

static int delete_old(struct store *store, int64_t now_ns)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store, "DELETE FROM cdcfs_requests WHERE done < ?", &stmt);
        if (r == 0)
                r = sql_bind_time(stmt, 1, now_ns - kept_ns);
        return r < 0 ? r : sql_run(stmt);
}

int requests_finish(
        struct store *store, int64_t id, int result, const struct problem *problem, int64_t now_ns)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_requests SET done = ?2, result = ?3, number = ?4, message = ?5"
                " WHERE request = ?1",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, id);
        sqlite3_bind_int(stmt, 3, result);
        sqlite3_bind_int(stmt, 4, problem ? problem->number : 0);
        r = sql_bind_time(stmt, 2, now_ns);
        if (r == 0 && problem && problem->message[0])
                r = sql_bind_text(stmt, 5, problem->message);
        if (r == 0)
                r = sql_run(stmt);
        return r < 0 ? r : delete_old(store, now_ns);
}
