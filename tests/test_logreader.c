/* SPDX-License-Identifier: MIT
 *
 * The log reader as a source of transactions: what it takes from the log, where it stands, and
 * how it holds the log. What rows it tells is held to the truth in test_logreader_*.c.
 */
#include "live.h"

static const struct live_table table_t = {.name = "t", .columns = "a,b", .key = "1"};
static const struct live_table table_u = {.name = "u", .columns = "a,b"};

static const struct live_options two_tables = {
        .schema = "CREATE TABLE t(a PRIMARY KEY, b); INSERT INTO t VALUES(0, 0);"
                  "CREATE TABLE u(a, b); INSERT INTO u VALUES(0, 0)"};

static void open_two_tables(struct live *l)
{
        live_open(l, &two_tables);
        live_attach(l, &table_t);
        live_attach(l, &table_u);
}

/* Copies everything into the database file and lets the pin stand on read-lock 0. */
static void anchor(struct live *l)
{
        live_step(l);
        cr_assert(live_checkpoint(l, SQLITE_CHECKPOINT_PASSIVE));
        live_step(l);
}

/* Number of frames that were copied, as of now. */
static uint32_t source_backfilled(struct live *l)
{
        struct database_header now;
        cr_assert_eq(database_header(l->database, &now), 0);
        return now.backfilled;
}

/* ---- transactions ---- */

Test(logreader, what_was_committed_before_it_opened_is_not_told)
{
        struct live l;
        open_two_tables(&l);
        cr_expect_eq(logreader_poll(l.reader), 0);
        cr_expect_eq(lsn_generation(logreader_lsn(l.reader)), 1);
        cr_expect_eq(lsn_frame(logreader_lsn(l.reader)), logreader_header(l.reader)->max_frame);
        live_run(&l, "INSERT INTO t VALUES(1, 2)");
        cr_expect_eq(live_tell(&l), 1);
        cr_expect_eq(live_tell(&l), 0);
        live_close(&l);
}

Test(logreader, each_commit_is_a_transaction_with_a_greater_lsn)
{
        struct live l;
        struct change_transaction t;
        open_two_tables(&l);
        struct lsn last = logreader_lsn(l.reader);
        for (int i = 1; i <= 20; i++)
                live_run(&l, "INSERT INTO t VALUES(%d, zeroblob(%d))", i, i * 1000);
        cr_assert_eq(logreader_poll(l.reader), 1);
        for (int i = 1; i <= 20; i++) {
                cr_assert_eq(l.source.next(l.source.context, &t), 1, "%d", i);
                cr_expect_gt(lsn_compare(t.lsn, last), 0, "%d", i);
                cr_expect_eq(lsn_frame(t.lsn), lsn_frame(last) + t.frames, "%d", i);
                cr_expect_eq(lsn_compare(t.lsn, logreader_lsn(l.reader)), 0, "%d", i);
                cr_expect(!t.is_ddl && t.event_count == 0 && t.time_ns > 0, "%d", i);
                last = t.lsn;
        }
        cr_expect_eq(l.source.next(l.source.context, &t), 0);
        cr_expect_eq(t.pages, logreader_header(l.reader)->pages);
        cr_expect_eq(lsn_frame(last), logreader_header(l.reader)->max_frame);
        live_close(&l);
}

Test(logreader, commits_after_a_poll_wait_for_the_next_poll)
{
        struct live l;
        struct change_transaction t;
        struct change change;
        open_two_tables(&l);
        live_run(&l, "INSERT INTO t VALUES(1, 1)");
        cr_assert_eq(logreader_poll(l.reader), 1);
        live_run(&l, "INSERT INTO t VALUES(2, 2)");
        live_tell_one(&l);
        cr_expect_eq(l.source.next(l.source.context, &t), 0);
        cr_expect_eq(live_tell(&l), 1);
        cr_expect_eq(l.source.next_change(l.source.context, &change), 0, "the end stays the end");
        live_close(&l);
}

Test(logreader, what_writes_nothing_is_no_transaction)
{
        static const char *const nothings[] = {"UPDATE t SET b = b", "BEGIN IMMEDIATE; COMMIT",
                "DELETE FROM t WHERE a = 99", "BEGIN; INSERT INTO t VALUES(9, 9); ROLLBACK",
                "CREATE TEMP TABLE x(a); INSERT INTO x VALUES(1)", "SELECT * FROM t"};
        struct live l;
        open_two_tables(&l);
        for (size_t i = 0; i < COUNT(nothings); i++) {
                live_run(&l, "%s", nothings[i]);
                cr_expect_eq(logreader_poll(l.reader), 0, "%s", nothings[i]);
        }
        live_close(&l);
}

Test(logreader, a_transaction_may_concern_no_captured_row)
{
        struct live l;
        open_two_tables(&l);
        live_run(&l, "PRAGMA user_version = 7");
        live_run(&l, "CREATE TABLE x(a, b)");
        live_run(&l, "INSERT INTO x VALUES(1, 2)");
        live_run(&l, "BEGIN; INSERT INTO t VALUES(1, 1); DELETE FROM t WHERE a = 1; "
                     "INSERT INTO x VALUES(1, 2); COMMIT");
        cr_expect_eq(live_tell(&l), 0);
        cr_expect_eq(l.transactions, 4);
        live_close(&l);
}

Test(logreader, ddl_is_marked)
{
        static const struct {
                const char *sql;
                bool is_ddl;
        } cases[] = {{"CREATE TABLE x(a)", true}, {"INSERT INTO x VALUES(1)", false},
                {"CREATE INDEX xa ON x(a)", true}, {"PRAGMA user_version = 8", false},
                {"CREATE VIEW v AS SELECT 1", true}, {"ALTER TABLE x RENAME TO y", true},
                {"DROP TABLE y", true}, {"BEGIN; CREATE TABLE x(a); DROP TABLE x; COMMIT", false},
                {"ALTER TABLE t ADD COLUMN c", true}};
        struct live l;
        struct change_transaction t;
        open_two_tables(&l);
        for (size_t i = 0; i < COUNT(cases); i++) {
                live_run(&l, "%s", cases[i].sql);
                cr_assert_eq(logreader_poll(l.reader), 1, "%s", cases[i].sql);
                cr_assert_eq(l.source.next(l.source.context, &t), 1, "%s", cases[i].sql);
                cr_expect_eq(t.is_ddl, cases[i].is_ddl, "%s", cases[i].sql);
        }
        cr_expect(schema_find_table(logreader_schema(l.reader), "v"));
        cr_expect(!schema_find_table(logreader_schema(l.reader), "x"));
        live_close(&l);
}

Test(logreader, a_transaction_in_work_is_not_seen)
{
        struct live l;
        open_two_tables(&l);
        live_run(&l, "PRAGMA cache_size=5");
        live_run(&l, "BEGIN; WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n "
                     "WHERE i < 400) INSERT INTO t SELECT i, zeroblob(1000) FROM n");
        cr_expect_eq(logreader_poll(l.reader), 0);
        live_run(&l, "ROLLBACK");
        cr_expect_eq(logreader_poll(l.reader), 0);
        live_run(&l, "INSERT INTO t VALUES(2, 'after')");
        cr_expect_eq(live_tell(&l), 1);
        live_close(&l);
}

/* SQLite up to 3.49 publishes frames whose salt and checksum it has zeroed. */
Test(logreader, committed_frames_without_a_salt_count)
{
        struct live l;
        struct logreader_statistics statistics;
        open_two_tables(&l);
        live_run(&l, "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n "
                     "WHERE i < 400) INSERT INTO t SELECT i, zeroblob(900) FROM n");
        live_run(&l, "PRAGMA cache_size=5; BEGIN; UPDATE t SET b = zeroblob(899) WHERE a < 100;"
                     "SAVEPOINT s");
        for (int i = 0; i < 4; i++)
                live_run(&l, "UPDATE t SET b = zeroblob(90%d) WHERE a BETWEEN 200 AND 300", i);
        live_run(&l, "ROLLBACK TO s; UPDATE t SET b = zeroblob(905) WHERE a BETWEEN 150 AND 205;"
                     "COMMIT");
        live_run(&l, "INSERT INTO t VALUES(1000, 1)");
        cr_expect_eq(live_tell(&l), 400 + 100 + 56 + 1);
        logreader_statistics(l.reader, &statistics);
        cr_expect_gt(statistics.frames, 400 / 4);
        if (sqlite3_libversion_number() < 3050000)
                cr_expect_gt(statistics.unsigned_frames, 0);
        live_close(&l);
}

/* ---- generations ---- */

Test(logreader, a_restart_of_the_log_is_the_next_generation)
{
        struct live l;
        open_two_tables(&l);
        for (uint32_t generation = 1; generation < 5; generation++) {
                live_run(&l, "INSERT INTO t VALUES(%u, 1)", generation * 10);
                live_run(&l, "INSERT INTO t VALUES(%u, 1)", generation * 10 + 1);
                cr_expect_eq(live_step(&l), 2);
                cr_expect_eq(lsn_generation(logreader_lsn(l.reader)), generation);
                anchor(&l);
                cr_expect_eq(lsn_generation(logreader_lsn(l.reader)), generation,
                        "without a commit it is the same commit");
        }
        live_run(&l, "UPDATE t SET b = 2");
        live_tell(&l);
        cr_expect_eq(lsn_frame(logreader_lsn(l.reader)), logreader_header(l.reader)->max_frame);
        live_close(&l);
}

Test(logreader, the_log_may_be_truncated_twice_without_a_commit)
{
        struct live l;
        open_two_tables(&l);
        live_run(&l, "INSERT INTO t VALUES(1, 1)");
        anchor(&l);
        struct lsn lsn = logreader_lsn(l.reader);
        for (int i = 0; i < 2; i++) {
                cr_assert(live_checkpoint(&l, SQLITE_CHECKPOINT_TRUNCATE));
                cr_expect_eq(live_step(&l), 0);
                cr_expect_eq(lsn_compare(logreader_lsn(l.reader), lsn), 0);
        }
        live_run(&l, "UPDATE t SET b = 2; DELETE FROM u");
        cr_expect_eq(live_step(&l), 3);
        cr_expect_eq(lsn_generation(logreader_lsn(l.reader)), 2);
        live_close(&l);
}

Test(logreader, a_restart_that_is_rolled_back_loses_nothing)
{
        struct live l;
        open_two_tables(&l);
        live_run(&l, "INSERT INTO t VALUES(1, 1)");
        anchor(&l);
        live_run(&l, "PRAGMA cache_size=5; BEGIN; WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL "
                     "SELECT i + 1 FROM n WHERE i < 400) INSERT INTO u SELECT i, zeroblob(1000) "
                     "FROM n; ROLLBACK");
        cr_expect_eq(live_step(&l), 0);
        live_run(&l, "DELETE FROM t");
        cr_expect_eq(live_step(&l), 2);
        cr_expect_eq(lsn_generation(logreader_lsn(l.reader)), 2);
        live_close(&l);
}

/* ---- the pin ---- */

Test(logreader, what_was_not_told_stays_in_the_log)
{
        struct live l;
        open_two_tables(&l);
        live_run(&l, "INSERT INTO t VALUES(1, 1)");
        live_run(&l, "DELETE FROM t");
        cr_expect(!live_checkpoint(&l, SQLITE_CHECKPOINT_TRUNCATE));
        cr_expect(!live_checkpoint(&l, SQLITE_CHECKPOINT_PASSIVE));
        cr_assert_eq(logreader_poll(l.reader), 1);
        cr_expect_eq(logreader_unfilled(l.reader), 2 * 2, "two pages each");
        cr_expect_eq(live_step(&l), 3);
        cr_expect(live_checkpoint(&l, SQLITE_CHECKPOINT_PASSIVE));
        cr_expect_eq(live_step(&l), 0);
        cr_expect_eq(logreader_unfilled(l.reader), 0);
        cr_expect(live_checkpoint(&l, SQLITE_CHECKPOINT_TRUNCATE));
        live_close(&l);
}

Test(logreader, the_old_pin_holds_until_it_is_dropped)
{
        struct live l;
        open_two_tables(&l);
        live_run(&l, "INSERT INTO t VALUES(1, 1)");
        cr_assert_eq(logreader_take_pin(l.reader), 0);
        cr_expect(!live_checkpoint(&l, SQLITE_CHECKPOINT_PASSIVE));
        cr_expect_eq(live_tell(&l), 1);
        cr_expect(!live_checkpoint(&l, SQLITE_CHECKPOINT_PASSIVE));
        logreader_drop_pin(l.reader);
        cr_expect(live_checkpoint(&l, SQLITE_CHECKPOINT_PASSIVE));
        logreader_drop_pin(l.reader);
        live_run(&l, "INSERT INTO t VALUES(2, 1)");
        cr_expect_eq(live_step(&l), 1, "dropping twice does no harm");
        live_close(&l);
}

Test(logreader, it_knows_when_the_pin_is_on_a_mark)
{
        struct live l;
        open_two_tables(&l);
        live_run(&l, "INSERT INTO t VALUES(1, 1)");
        live_step(&l);
        cr_expect(logreader_is_on_mark(l.reader));
        anchor(&l);
        cr_expect(!logreader_is_on_mark(l.reader), "everything is copied: read-lock 0");
        live_run(&l, "INSERT INTO t VALUES(2, 1)");
        live_tell(&l);
        cr_expect(!logreader_is_on_mark(l.reader), "the pin did not move");
        live_step(&l);
        cr_expect(logreader_is_on_mark(l.reader));
        live_close(&l);
}

Test(logreader, a_pin_that_is_kept_is_judged_by_when_it_was_taken)
{
        struct live l;
        open_two_tables(&l);
        anchor(&l);
        cr_assert_eq(logreader_take_pin(l.reader), 0);
        live_run(&l, "INSERT INTO t VALUES(2, 1)");
        cr_assert_eq(logreader_take_pin(l.reader), 0);
        live_tell(&l);
        logreader_drop_pin(l.reader);
        cr_expect(!logreader_is_on_mark(l.reader), "it stands on read-lock 0");
        live_close(&l);
}

/* What a poll has found holds the pin, whether it was told or not. */
Test(logreader, the_pin_steps_aside_only_when_everything_is_told)
{
        struct live l;
        struct change_transaction t;
        open_two_tables(&l);
        for (unsigned told = 0; told <= 2; told++) {
                live_run(&l, "INSERT INTO t VALUES(%u, 1)", told * 2 + 1);
                live_run(&l, "VACUUM");
                cr_assert_eq(logreader_poll(l.reader), 1);
                for (unsigned i = 0; i < told; i++)
                        cr_assert_eq(l.source.next(l.source.context, &t), 1);
                cr_expect_eq(logreader_step_aside(l.reader), told == 2 ? 0 : -EAGAIN, "%u", told);
                cr_expect_eq(live_checkpoint(&l, SQLITE_CHECKPOINT_PASSIVE), told == 2, "%u", told);
                cr_expect_leq(
                        source_backfilled(&l), lsn_frame(logreader_lsn(l.reader)), "%u", told);
                while (l.source.next(l.source.context, &t) == 1)
                        ;
        }
        cr_expect_eq(logreader_take_pin(l.reader), 0);
        logreader_drop_pin(l.reader);
        live_close(&l);
}

/* Where the pin does not hold, nothing is told that another state may have got into. */
Test(logreader, a_log_that_was_not_held_is_stale)
{
        static const struct {
                int mode;
                const char *then;
        } cases[] = {
                {SQLITE_CHECKPOINT_PASSIVE, "SELECT 1"},
                {SQLITE_CHECKPOINT_RESTART, "SELECT 1"},
                {SQLITE_CHECKPOINT_TRUNCATE, "SELECT 1"},
                {SQLITE_CHECKPOINT_PASSIVE, "INSERT INTO u VALUES(1, 1)"},
                {SQLITE_CHECKPOINT_TRUNCATE, "INSERT INTO u VALUES(1, 1)"},
        };
        for (unsigned i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
                struct live l;
                struct change_transaction t;
                open_two_tables(&l);
                if (i % 2)
                        anchor(&l);
                live_run(&l, "INSERT INTO t VALUES(1, 1)");
                live_run(&l, "VACUUM");
                cr_assert_eq(logreader_poll(l.reader), 1);
                pin_close(logreader_steal_pin(l.reader));
                cr_assert(live_checkpoint(&l, cases[i / 2].mode), "%u", i);
                live_run(&l, "%s", cases[i / 2].then);
                cr_expect_eq(l.source.next(l.source.context, &t), -ESTALE, "%u", i);
                live_close(&l);
        }
}

/* ---- the position ---- */

/* Another reader goes on where this one stood. */
static void go_on(struct live *l, const struct logreader_position *position)
{
        struct problem problem;
        struct pin *pin = logreader_steal_pin(l->reader);
        logreader_close(l->reader);
        int r = logreader_open_pinned(l->database, pin, position, 99, l->tmp.directory, &l->reader);
        cr_assert_eq(r, 0, "%d", r);
        l->source = logreader_source(l->reader);
        for (unsigned i = 0; i < l->count; i++)
                cr_assert_eq(live_try_attach(l, &l->tables[i], &problem), 0);
}

Test(logreader, another_reader_goes_on_behind_a_position)
{
        struct live l;
        struct logreader_position position;
        open_two_tables(&l);
        live_run(&l, "INSERT INTO t VALUES(1, 1)");
        live_step(&l);
        cr_assert_eq(logreader_position(l.reader, &position), 0);
        cr_expect_eq(position.generation, 1);
        cr_expect_eq(position.frame, lsn_frame(logreader_lsn(l.reader)));
        cr_expect_neq(position.frame_hash, 0);
        live_run(&l, "UPDATE t SET b = 7 WHERE a = 1");
        live_run(&l, "DELETE FROM u");
        go_on(&l, &position);
        cr_expect_eq(lsn_generation(logreader_lsn(l.reader)), 1);
        cr_expect_eq(live_tell(&l), 2);
        live_close(&l);
}

Test(logreader, another_reader_goes_on_after_a_restart_of_the_log)
{
        struct live l;
        struct logreader_position position;
        open_two_tables(&l);
        live_run(&l, "INSERT INTO t VALUES(1, 1)");
        anchor(&l);
        cr_assert_eq(logreader_position(l.reader, &position), 0);
        cr_expect(position.is_backfilled);
        live_run(&l, "UPDATE t SET b = 7 WHERE a = 1");
        live_run(&l, "DELETE FROM u");
        go_on(&l, &position);
        cr_expect_eq(live_tell(&l), 2);
        cr_expect_eq(lsn_generation(logreader_lsn(l.reader)), 2);
        live_close(&l);
}

Test(logreader, a_position_holds_after_the_log_was_restarted_unseen)
{
        struct live l;
        struct logreader_position before, after;
        open_two_tables(&l);
        live_run(&l, "INSERT INTO t VALUES(1, 1)");
        anchor(&l);
        cr_assert_eq(logreader_position(l.reader, &before), 0);
        cr_assert(live_checkpoint(&l, SQLITE_CHECKPOINT_TRUNCATE));
        cr_assert_eq(logreader_position(l.reader, &after), 0, "the frame cannot be read any more");
        cr_expect_eq(memcmp(&before, &after, sizeof(after)), 0);
        live_run(&l, "DELETE FROM t");
        live_run(&l, "DELETE FROM u");
        cr_assert_eq(logreader_position(l.reader, &after), 0, "another frame stands there now");
        cr_expect_eq(memcmp(&before, &after, sizeof(after)), 0);
        cr_expect_eq(live_step(&l), 3);
        live_close(&l);
}

Test(logreader, a_log_that_is_shorter_than_the_position_is_stale)
{
        struct live l;
        open_two_tables(&l);
        l.reader->base.frame += 1;
        cr_expect_eq(logreader_poll(l.reader), -ESTALE);
        live_close(&l);
}

/* ---- instances ---- */

Test(logreader, two_instances_of_a_table_are_told_both)
{
        struct live l;
        open_two_tables(&l);
        live_attach(&l, &(struct live_table){.name = "t", .columns = "b"});
        cr_expect(logreader_is_attached(l.reader, 3));
        live_run(&l, "INSERT INTO t VALUES(1, 1), (2, 2)");
        live_run(&l, "UPDATE t SET a = a + 10, b = b + 1");
        cr_expect_eq(live_tell(&l), 4 + 6 + 3);
        live_run(&l, "DELETE FROM t");
        cr_expect_eq(live_step(&l), 6);
        live_close(&l);
}

Test(logreader, a_detached_instance_is_not_told_and_the_other_goes_on)
{
        struct live l;
        open_two_tables(&l);
        live_attach(&l, &(struct live_table){.name = "t", .columns = "b"});
        live_give_up(&l, "t");
        l.tables[2].name = "t";
        live_free_states(&l);
        l.told = l.last = live_read_state(&l);
        l.source.detach(l.source.context, 1);
        l.source.detach(l.source.context, 1);
        cr_expect(!logreader_is_attached(l.reader, 1));
        live_run(&l, "INSERT INTO t VALUES(1, zeroblob(10000))");
        cr_expect_eq(live_step(&l), 1);
        live_run(&l, "DELETE FROM t");
        cr_expect_eq(live_step(&l), 2);
        live_close(&l);
}

Test(logreader, a_table_made_while_it_reads_can_be_attached)
{
        struct live l;
        open_two_tables(&l);
        live_run(&l, "CREATE TABLE v(a INTEGER PRIMARY KEY, b)");
        live_run(&l, "INSERT INTO v VALUES(1, 'before')");
        cr_expect_eq(live_tell(&l), 0);
        live_attach(&l, &(struct live_table){
                                .name = "v", .columns = "a,b", .key = "1", .is_rowid_key = true});
        live_run(&l, "UPDATE v SET b = 'after'");
        cr_expect_eq(live_step(&l), 1);
        live_close(&l);
}

/* The untold commit's frame of a page is overwritten with zeroes. */
static void spoil_frame_of_root(struct live *l, const char *table)
{
        sqlite3_file *wal = NULL;
        const struct schema_table *t = schema_find_table(logreader_schema(l->reader), table);
        uint32_t size = l->database->page_size;
        _cleanup_free_ uint8_t *zeroes = calloc(1, size);
        sqlite3_file_control(l->app, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
        cr_assert_eq(logreader_poll(l->reader), 1);
        for (uint32_t i = l->reader->base.frame + 1; i <= l->reader->header.max_frame; i++) {
                uint8_t header[WALFRAME_HEADER];
                cr_assert_eq(database_read_wal(
                                     l->database, walframe_offset(i, size), header, sizeof(header)),
                        0);
                if (be32(header) == t->root)
                        wal->pMethods->xWrite(wal, zeroes, (int)size,
                                (sqlite3_int64)walframe_offset(i, size) + WALFRAME_HEADER);
        }
}

Test(logreader, a_corrupt_table_stops_its_instances_and_no_other)
{
        struct live l;
        open_two_tables(&l);
        live_attach(&l, &(struct live_table){.name = "t", .columns = "b"});
        live_run(&l, "BEGIN; INSERT INTO t VALUES(1, 1); INSERT INTO u VALUES(1, 1); COMMIT");
        spoil_frame_of_root(&l, "t");
        live_give_up(&l, "t");
        cr_expect_eq(live_tell(&l), 1);
        cr_expect(strstr(buf_string(&l.events), "1 stopped "), "%s", buf_string(&l.events));
        cr_expect(strstr(buf_string(&l.events), "3 stopped "), "%s", buf_string(&l.events));
        cr_expect(!strstr(buf_string(&l.events), "2 stopped "), "%s", buf_string(&l.events));
        cr_expect(!logreader_is_attached(l.reader, 1) && !logreader_is_attached(l.reader, 3));
        live_close(&l);
}
