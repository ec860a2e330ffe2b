/* SPDX-License-Identifier: MIT
 *
 * desk_fixture: a real source in WAL mode, its store, the notices that calls give, and a process
 * that answers as an agent.
 *
 *      struct desk_fixture x;
 *      desk_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, x)");
 *      cr_assert_eq(cdc_enable_db(&x.database, false, desk_fixture_notice, &x, &x.error), 0);
 *      desk_fixture_close(&x);
 *
 * No connection to the source is open in this process, as in a command.
 */
#ifndef CDC_TEST_DESK_FIXTURE_H
#define CDC_TEST_DESK_FIXTURE_H

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "cdc.h"
#include "changes_fixture.h"
#include "ground/buf.h"
#include "memory/requests.h"

struct desk_fixture {
        struct store_fixture f; /* its store is opened by desk_fixture_store */
        struct cdc_database database;
        struct cdc_error error;
        char notices[4096]; /* `number line` each */
        pid_t agent;
};

static inline void desk_fixture_notice(void *context, int number, const char *line)
{
        struct desk_fixture *x = context;
        size_t size = strlen(x->notices);
        snprintf(x->notices + size, sizeof x->notices - size, "%d %s\n", number, line);
}

static inline void desk_fixture_run(const char *path, const char *sql)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        store_fixture_check(problem_errno(sqlite3_open(path, &db)), path);
        if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
                fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
                abort();
        }
}

static inline void desk_fixture_open(struct desk_fixture *x, const char *sql)
{
        memset(x, 0, sizeof *x);
        tmp_open(&x->f.tmp);
        snprintf(x->f.source, sizeof x->f.source, "%s", store_fixture_path(&x->f, "app.db"));
        snprintf(x->f.path, sizeof x->f.path, "%s-cdc", x->f.source);
        desk_fixture_run(x->f.source, "PRAGMA journal_mode=WAL");
        desk_fixture_run(x->f.source, sql);
        x->database.source = x->f.source;
}

/* The store, for what the fixtures below write into it. */
static inline struct store_fixture *desk_fixture_store(struct desk_fixture *x)
{
        if (!x->f.store)
                store_fixture_reopen(&x->f);
        return &x->f;
}

static inline int64_t desk_fixture_id(struct desk_fixture *x, const char *instance)
{
        char sql[200];
        snprintf(sql, sizeof sql,
                "SELECT object_id FROM change_tables WHERE capture_instance = '%s'", instance);
        return store_fixture_integer(desk_fixture_store(x), sql);
}

/* Answers every request with result and message, for ever; what is pending is captured then. */
static inline void desk_fixture_answer(const char *path, int result, const char *message)
{
        struct store *store = NULL;
        int64_t last = 0;
        store_fixture_check(store_open(path, STORE_WRITE, NULL, &store), "store_open");
        for (;; usleep(1000)) {
                _cleanup_(request_release) struct request request = {0};
                struct problem problem = {.number = result ? 22903 : 0};
                if (requests_next(store, last, &request) <= 0)
                        continue;
                last = request.id;
                snprintf(
                        problem.message, sizeof problem.message, "%s %s", request.command, message);
                store_fixture_check(store_begin(store), "store_begin");
                store_fixture_check(
                        sql_execute(store_db(store), "UPDATE change_tables SET "
                                                     "start_lsn = x'00000001000000010001'"),
                        "UPDATE");
                store_fixture_check(requests_finish(store, request.id, result,
                                            result ? &problem : NULL, STORE_FIXTURE_NOW),
                        "requests_finish");
                store_fixture_check(store_commit(store), "store_commit");
        }
}

/* A process that holds the lock of the source; it answers if message is given. */
static inline void desk_fixture_start_agent(struct desk_fixture *x, int result, const char *message)
{
        int ready[2];
        char byte;
        tmp_check(pipe(ready) == 0, "pipe");
        x->agent = fork();
        tmp_check(x->agent >= 0, "fork");
        if (x->agent == 0) {
                int fd = open(x->f.source, O_RDONLY);
                tmp_check(fd >= 0 && flock(fd, LOCK_EX) == 0, "flock");
                tmp_check(write(ready[1], "x", 1) == 1, "write");
                if (message)
                        desk_fixture_answer(x->f.path, result, message);
                pause();
                _exit(0);
        }
        tmp_check(read(ready[0], &byte, 1) == 1, "read");
        close(ready[0]);
        close(ready[1]);
}

static inline void desk_fixture_stop_agent(struct desk_fixture *x)
{
        if (x->agent > 0) {
                kill(x->agent, SIGKILL);
                waitpid(x->agent, NULL, 0);
        }
        x->agent = 0;
}

static inline void desk_fixture_close(struct desk_fixture *x)
{
        desk_fixture_stop_agent(x);
        store_fixture_close(&x->f);
}

#endif
