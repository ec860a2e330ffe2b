/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <string.h>

#include "memory/sessions.h"
#include "store_fixture.h"

static void scan(struct sessions *sessions, int64_t transactions)
{
        sessions_begin(sessions, STORE_FIXTURE_NOW);
        sessions_end(sessions,
                &(struct sessions_counts){.tran_count = transactions,
                        .start_lsn = lsn_make(1, 2, 1),
                        .current_lsn = lsn_make(1, 3, 1),
                        .end_lsn = lsn_make(1, 4, 1),
                        .last_commit_time_ns = STORE_FIXTURE_NOW},
                STORE_FIXTURE_NOW);
}

static int64_t rows(struct store_fixture *f)
{
        return store_fixture_integer(
                f, "SELECT count(*) FROM dm_cdc_log_scan_sessions WHERE session_id > 0");
}

Test(sessions_flush, a_new_agent_begins_with_empty_views)
{
        struct store_fixture f;
        struct sessions *old = sessions_new(), *new = sessions_new();
        store_fixture_open(&f, TEXT_UTF8);
        for (int i = 0; i < 5; i++)
                scan(old, 1);
        cr_assert_eq(sessions_error(old, &(struct sessions_error){0}, STORE_FIXTURE_NOW), 0);
        cr_assert_eq(sessions_flush(old, f.store), 0);
        cr_expect_eq(rows(&f), 5);
        scan(new, 1);
        cr_assert_eq(sessions_flush(new, f.store), 0);
        cr_expect_eq(rows(&f), 1);
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM dm_cdc_errors"), 0);
        sessions_free(old);
        sessions_free(new);
        store_fixture_close(&f);
}

Test(sessions_flush, every_column_is_filled_in)
{
        struct store_fixture f;
        struct sessions *sessions = sessions_new();
        store_fixture_open(&f, TEXT_UTF16LE);
        scan(sessions, 1);
        cr_assert_eq(sessions_flush(sessions, f.store), 0);
        _cleanup_free_ char *row = store_fixture_text(&f,
                "SELECT session_id || '|' || start_time || '|' || end_time || '|' || scan_phase ||"
                " '|' || start_lsn || '|' || current_lsn || '|' || end_lsn || '|' ||"
                " last_commit_time || '|' || coalesce(last_commit_cdc_lsn, 'NULL') || '|' ||"
                " coalesce(last_commit_cdc_time, 'NULL')"
                " FROM dm_cdc_log_scan_sessions WHERE session_id = 1");
        cr_expect_str_eq(row,
                "1|2026-11-30T10:00:00.000000Z|2026-11-30T10:00:00.000000Z|Done|"
                "00000001:00000002:0001|00000001:00000003:0001|00000001:00000004:0001|"
                "2026-11-30T10:00:00.000000Z|NULL|NULL",
                "%s", row);
        sessions_free(sessions);
        store_fixture_close(&f);
}

Test(sessions_flush, the_newest_thousand_stay)
{
        struct store_fixture f;
        struct sessions *sessions = sessions_new();
        store_fixture_open(&f, TEXT_UTF8);
        store_fixture_begin(&f);
        for (int i = 0; i < 2500; i++) {
                scan(sessions, 1);
                if (i % 700 == 0)
                        cr_assert_eq(sessions_flush(sessions, f.store), 0);
        }
        cr_assert_eq(sessions_flush(sessions, f.store), 0);
        store_fixture_commit(&f);
        cr_expect_eq(rows(&f), SESSIONS_KEPT);
        cr_expect_eq(
                store_fixture_integer(&f, "SELECT min(session_id) FROM dm_cdc_log_scan_sessions"
                                          " WHERE session_id > 0"),
                1501);
        sessions_free(sessions);
        store_fixture_close(&f);
}

Test(sessions_flush, what_was_rolled_back_is_written_again)
{
        struct store_fixture f;
        struct sessions *sessions = sessions_new();
        store_fixture_open(&f, TEXT_UTF8);
        scan(sessions, 1);
        cr_assert_eq(sessions_flush(sessions, f.store), 0);
        scan(sessions, 1);
        store_fixture_begin(&f);
        cr_assert_eq(sessions_flush(sessions, f.store), 0);
        cr_expect_eq(rows(&f), 2);
        store_rollback(f.store);
        sessions_unflush(sessions);
        cr_expect_eq(rows(&f), 1);
        scan(sessions, 1);
        cr_assert_eq(sessions_flush(sessions, f.store), 0);
        cr_expect_eq(rows(&f), 3);
        sessions_free(sessions);
        store_fixture_close(&f);
}
