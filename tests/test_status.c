/* SPDX-License-Identifier: MIT
 *
 * status: facts as rows of name and value.
 */
#include "cdc.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "desk_fixture.h"

static void setup(struct desk_fixture *x)
{
        struct cdc_table_options options = {.table = "t", .supports_net_changes = -1};
        desk_fixture_open(x, "CREATE TABLE t(id INTEGER PRIMARY KEY, x)");
        cr_assert_eq(cdc_enable_db(&x->database, false, NULL, NULL, &x->error), 0);
        cr_assert_eq(cdc_enable_table(&x->database, &options, NULL, NULL, &x->error), 0);
}

/* All facts as `name=value` lines. */
static void read_status(struct desk_fixture *x, struct buf *buf)
{
        struct cdc_rows *rows = NULL;
        struct cdc_value name, value;
        cr_assert_eq(cdc_status(&x->database, &rows, &x->error), 0, "%s", x->error.message);
        cr_assert_eq(cdc_rows_columns(rows), 2);
        while (cdc_rows_next(rows) > 0) {
                cdc_rows_value(rows, 0, &name);
                cdc_rows_value(rows, 1, &value);
                buf_append_format(buf, "%.*s=", (int)name.size, (const char *)name.bytes);
                if (value.type == CDC_INTEGER)
                        buf_append_format(buf, "%lld\n", (long long)value.integer);
                else
                        buf_append_format(
                                buf, "%.*s\n", (int)value.size, (const char *)value.bytes);
        }
        cdc_rows_close(rows);
}

static void expect(struct desk_fixture *x, const char *const *lines, unsigned count)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        buf_append_byte(&buf, '\n');
        read_status(x, &buf);
        for (unsigned i = 0; i < count; i++) {
                char line[200];
                snprintf(line, sizeof line, "\n%s\n", lines[i]);
                cr_expect_not_null(strstr(buf_string(&buf), line), "%s is missing in %s", lines[i],
                        buf_string(&buf));
        }
}

Test(status, tells_of_a_database_that_nobody_captures)
{
        static const char *const lines[] = {"agent=none", "capture=no agent",
                "min_lsn=", "max_lsn=", "max_time=", "instances=1", "pending_instances=1",
                "files=0", "errors=0", "gaps=0", "uncaptured_frames="};
        struct desk_fixture x;
        setup(&x);
        expect(&x, lines, COUNT(lines));
        desk_fixture_close(&x);
}

Test(status, tells_the_position_and_what_is_wrong)
{
        static const char *const lines[] = {"agent=running", "capture=running",
                "min_lsn=00000001:0000000a:0001", "max_lsn=00000001:0000000f:0001",
                "max_time=2026-11-30T10:00:15.000000Z", "pending_instances=0",
                "stopped_instance=main_t: no rowid", "dropped_instance=main_t", "gaps=2",
                "gap=from 00000001:0000000b:0001 to 00000001:0000000c:0001: the log was reset",
                "gap=main_t: from 00000001:00000010:0001 on: the log was reset", "errors=1",
                "last_error=then went wrong"};
        struct desk_fixture x;
        setup(&x);
        struct store_fixture *f = desk_fixture_store(&x);
        int64_t id = desk_fixture_id(&x, "main_t");
        changes_fixture_recognise(f, id, 10);
        changes_fixture_commit(f, id, 15, "i1");
        changes_fixture_gap(f, 0, 11, 12);
        changes_fixture_gap(f, id, 16, 0);
        store_fixture_check(
                sql_execute(store_db(f->store), "UPDATE cdcfs_instances SET error = 'no rowid';"
                                                "UPDATE change_tables SET has_drop_pending = 1;"
                                                "INSERT INTO dm_cdc_errors(entry_time, "
                                                "error_message) VALUES('then', 'went wrong')"),
                "UPDATE");
        desk_fixture_start_agent(&x, 0, NULL);
        expect(&x, lines, COUNT(lines));
        desk_fixture_close(&x);
}

Test(status, tells_of_a_stopped_job)
{
        static const char *const lines[] = {"capture=stopped", "agent=none"};
        struct desk_fixture x;
        setup(&x);
        struct store_fixture *f = desk_fixture_store(&x);
        store_fixture_begin(f);
        store_fixture_check(state_set_capture_stopped(f->store, true), "stopped");
        store_fixture_commit(f);
        expect(&x, lines, COUNT(lines));
        desk_fixture_close(&x);
}

/* How much of the log is not captured yet: another process writes it. */
Test(status, counts_the_frames_that_wait)
{
        struct desk_fixture x;
        int ready[2];
        char byte;
        setup(&x);
        cr_assert_eq(pipe(ready), 0);
        pid_t writer = fork();
        if (writer == 0) {
                sqlite3 *db = NULL;
                if (sqlite3_open(x.f.source, &db) == SQLITE_OK &&
                        sqlite3_exec(db, "INSERT INTO t(x) VALUES(1); INSERT INTO t(x) VALUES(2)",
                                NULL, NULL, NULL) == SQLITE_OK &&
                        write(ready[1], "x", 1) == 1)
                        pause();
                _exit(1);
        }
        cr_assert_eq(read(ready[0], &byte, 1), 1);
        expect(&x, (const char *const[]){"uncaptured_frames=2"}, 1);
        kill(writer, SIGKILL);
        waitpid(writer, NULL, 0);
        desk_fixture_close(&x);
}

Test(status, needs_an_enabled_database)
{
        struct desk_fixture x;
        struct cdc_rows *rows = NULL;
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        cr_expect_eq(cdc_status(&x.database, &rows, &x.error), -ENOENT);
        cr_expect_eq(x.error.number, 22901);
        desk_fixture_close(&x);
}
