/* SPDX-License-Identifier: MIT
 *
 * The seam: scripted transactions instead of a log.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "changes_fixture.h"
#include "desk/scan.h"

#define COLUMNS 2

/* A script: transactions with the changes and events that each has. */
struct script {
        struct step {
                uint32_t frame;
                int changes; /* inserts */
                struct change_event events[2];
                unsigned event_count;
        } steps[16];
        int count, next, told;
        int fail_at; /* this transaction fails with -EIO; -1 = none */
        int64_t object_id;
        struct value values[COLUMNS];
        uint8_t mask;
};

static int script_next(void *context, struct change_transaction *ret_transaction)
{
        struct script *s = context;
        if (s->next == s->fail_at)
                return -EIO;
        if (s->next == s->count)
                return 0;
        struct step *step = &s->steps[s->next++];
        s->told = 0;
        *ret_transaction = (struct change_transaction){
                .lsn = changes_fixture_lsn(step->frame),
                .time_ns = STORE_FIXTURE_NOW + step->frame,
                .frames = 2,
                .events = step->events,
                .event_count = step->event_count,
        };
        return 1;
}

static int script_change(void *context, struct change *ret_change)
{
        struct script *s = context;
        if (s->told == s->steps[s->next - 1].changes)
                return 0;
        s->told++;
        s->values[0] = (struct value){.type = VALUE_INTEGER, .integer = s->next * 100 + s->told};
        s->values[1] = (struct value){.type = VALUE_NULL};
        s->mask = 3;
        *ret_change = (struct change){.object_id = s->object_id,
                .operation = CHANGE_INSERT,
                .columns = COLUMNS,
                .after = s->values,
                .mask = &s->mask};
        return 1;
}

struct fixture {
        struct store_fixture f;
        struct state state;
        struct instances instances;
        struct script script;
        struct scan scan;
};

static const struct files_format formats[] = {{"csv", 1}, {"jsonl", 1}};

static void setup(struct fixture *x)
{
        memset(x, 0, sizeof *x);
        store_fixture_open(&x->f, TEXT_UTF8);
        x->script.object_id = store_fixture_enable(
                &x->f, "CREATE TABLE t(a INTEGER PRIMARY KEY, b)", "t", "main_t");
        x->script.fail_at = -1;
        store_fixture_check(state_load(x->f.store, &x->state), "state_load");
        x->state.max_lsn = changes_fixture_lsn(1);
        store_fixture_begin(&x->f);
        x->scan = (struct scan){.store = x->f.store,
                .state = &x->state,
                .sessions = sessions_new(),
                .limits = SEGMENTS_LIMITS_DEFAULT,
                .source = {
                        .context = &x->script, .next = script_next, .next_change = script_change}};
        store_fixture_check(
                segments_load(x->f.store, formats, 2, &x->scan.segments), "segments_load");
        store_fixture_check(instances_recognise(x->f.store, x->script.object_id, x->state.max_lsn),
                "instances_recognise");
        store_fixture_check(segments_open(x->scan.segments, x->f.store, x->script.object_id,
                                    x->state.max_lsn, x->state.next_change),
                "segments_open");
        store_fixture_check(instances_load(x->f.store, &x->instances), "instances_load");
        x->scan.instances = &x->instances;
        sessions_begin(x->scan.sessions, STORE_FIXTURE_NOW);
        scan_begin(&x->scan);
}

static void teardown(struct fixture *x)
{
        store_rollback(x->f.store);
        scan_end(&x->scan);
        sessions_free(x->scan.sessions);
        segments_free(x->scan.segments);
        instances_release(&x->instances);
        state_release(&x->state);
        store_fixture_close(&x->f);
}

static void add(struct fixture *x, uint32_t frame, int changes)
{
        x->script.steps[x->script.count++] = (struct step){.frame = frame, .changes = changes};
}

Test(scan, writes_rows_with_rising_numbers_and_shared_lsns)
{
        struct fixture x;
        unsigned count;
        setup(&x);
        add(&x, 3, 2);
        add(&x, 5, 0);
        add(&x, 8, 1);
        cr_assert_eq(scan_transactions(&x.scan, 100, &count), 0);
        cr_expect_eq(count, 3);
        _cleanup_free_ char *rows = store_fixture_text(&x.f,
                "SELECT group_concat(hex(\"__$start_lsn\") || ':' || hex(\"__$seqval\") || ':' || "
                "\"__$operation\" || ':' || a || ':' || \"__$command_id\", ' ') FROM main_t_CT");
        cr_expect_str_eq(rows,
                "00000001000000030001:00000000000000000001:2:101:1 "
                "00000001000000030001:00000000000000000002:2:102:2 "
                "00000001000000080001:00000000000000000003:2:301:1",
                "%s", rows);
        _cleanup_free_ char *counts = store_fixture_text(
                &x.f, "SELECT group_concat(cdcfs_rows, ' ') FROM lsn_time_mapping");
        cr_expect_str_eq(counts, "{\"main_t\":2} {\"main_t\":1}", "%s", counts);
        cr_expect_eq(lsn_compare(x.state.max_lsn, changes_fixture_lsn(8)), 0);
        cr_expect_eq(x.state.next_change, 4);
        cr_expect_eq(x.scan.counts.tran_count, 2, "those with rows");
        cr_expect_eq(x.scan.counts.command_count, 3);
        teardown(&x);
}

/* One mapping row a transaction with rows, and one of id 0 if the last of a cycle has none. */
Test(scan, maps_what_has_rows_and_where_the_cycle_ended)
{
        static const struct {
                const char *name;
                int changes[4];
                int64_t rows, dummies;
        } cases[] = {
                {"all have rows", {1, 1, 1, 1}, 4, 0},
                {"none has", {0, 0, 0, 0}, 0, 1},
                {"the last has none", {2, 0, 1, 0}, 2, 1},
                {"the last has", {0, 0, 0, 3}, 1, 0},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct fixture x;
                unsigned count;
                setup(&x);
                for (uint32_t k = 0; k < 4; k++)
                        add(&x, 2 + k, cases[i].changes[k]);
                cr_assert_eq(scan_transactions(&x.scan, 100, &count), 0);
                cr_expect_eq(
                        store_fixture_integer(&x.f,
                                "SELECT count(*) FROM lsn_time_mapping WHERE tran_id <> x'00'"),
                        cases[i].rows, "%s", cases[i].name);
                cr_expect_eq(store_fixture_integer(&x.f,
                                     "SELECT count(*) FROM lsn_time_mapping WHERE tran_id = x'00'"),
                        cases[i].dummies, "%s", cases[i].name);
                teardown(&x);
        }
}

Test(scan, stops_at_its_limit_and_goes_on_there)
{
        struct fixture x;
        unsigned count;
        setup(&x);
        for (uint32_t k = 0; k < 5; k++)
                add(&x, 2 + k, 1);
        cr_assert_eq(scan_transactions(&x.scan, 3, &count), 0);
        cr_expect_eq(count, 3);
        cr_assert_eq(scan_transactions(&x.scan, 3, &count), 0);
        cr_expect_eq(count, 2);
        cr_assert_eq(scan_transactions(&x.scan, 3, &count), 0);
        cr_expect_eq(count, 0);
        teardown(&x);
}

Test(scan, passes_on_the_failure_of_its_source)
{
        struct fixture x;
        unsigned count;
        setup(&x);
        add(&x, 2, 1);
        add(&x, 3, 1);
        x.script.fail_at = 1;
        cr_expect_eq(scan_transactions(&x.scan, 10, &count), -EIO);
        teardown(&x);
}

/* DDL ends the files before it and stands in the history at its LSN. */
Test(scan, closes_files_before_a_schema_change)
{
        struct fixture x;
        unsigned count;
        setup(&x);
        add(&x, 2, 1);
        add(&x, 4, 1);
        x.script.steps[1].events[0] = (struct change_event){.type = CHANGE_EVENT_DDL,
                .object_id = x.script.object_id,
                .text = "ALTER TABLE \"t\" ADD COLUMN c"};
        x.script.steps[1].event_count = 1;
        cr_assert_eq(scan_transactions(&x.scan, 10, &count), 0);
        cr_expect_eq(x.scan.files_closed, 2);
        _cleanup_free_ char *history = store_fixture_text(
                &x.f, "SELECT ddl_command || ' ' || hex(ddl_lsn) FROM ddl_history");
        cr_expect_str_eq(
                history, "ALTER TABLE \"t\" ADD COLUMN c 00000001000000040001", "%s", history);
        _cleanup_free_ char *closed = store_fixture_text(
                &x.f, "SELECT DISTINCT hex(to_lsn) FROM cdcfs_files WHERE to_lsn IS NOT NULL");
        cr_expect_str_eq(closed, "00000001000000020001", "%s", closed);
        teardown(&x);
}

Test(scan, records_what_ends_an_instance)
{
        struct fixture x;
        unsigned count;
        setup(&x);
        add(&x, 2, 0);
        add(&x, 3, 0);
        x.script.steps[0].events[0] = (struct change_event){.type = CHANGE_EVENT_STOPPED,
                .object_id = x.script.object_id,
                .text = "a page is corrupt"};
        x.script.steps[0].event_count = 1;
        x.script.steps[1].events[0] = (struct change_event){
                .type = CHANGE_EVENT_DROPPED, .object_id = x.script.object_id, .text = ""};
        x.script.steps[1].event_count = 1;
        cr_assert_eq(scan_transactions(&x.scan, 10, &count), 0);
        cr_expect(x.scan.is_catalog_changed);
        cr_expect_eq(store_fixture_integer(&x.f,
                             "SELECT count(*) FROM cdcfs_gaps WHERE to_lsn IS NULL AND from_lsn = "
                             "x'00000001000000020001' AND cause = 'a page is corrupt'"),
                1);
        cr_expect_eq(store_fixture_integer(&x.f, "SELECT has_drop_pending FROM change_tables"), 1);
        cr_expect_eq(
                store_fixture_integer(&x.f,
                        "SELECT count(*) FROM cdcfs_instances WHERE error = 'a page is corrupt'"),
                1);
        teardown(&x);
}

/* A clock that goes back moves no commit before another. */
Test(scan, keeps_commit_times_rising)
{
        struct fixture x;
        unsigned count;
        setup(&x);
        x.state.last_commit_time_ns = STORE_FIXTURE_NOW + 5000000000;
        add(&x, 2, 1);
        cr_assert_eq(scan_transactions(&x.scan, 10, &count), 0);
        cr_expect_eq(x.state.last_commit_time_ns, STORE_FIXTURE_NOW + 5000000000);
        cr_expect_eq(x.scan.counts.last_commit_time_ns, STORE_FIXTURE_NOW + 5000000000);
        teardown(&x);
}
