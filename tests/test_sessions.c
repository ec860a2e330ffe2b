/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "memory/sessions.h"
#include "store_fixture.h"

static const int64_t second = INT64_C(1000000000);

static void scan(struct sessions *sessions, int64_t begin, int64_t end, int64_t transactions)
{
        struct sessions_counts counts = {.tran_count = transactions,
                .command_count = transactions * 2,
                .log_record_count = transactions * 3,
                .last_commit_cdc_time_ns = STORE_FIXTURE_NOW + begin * second};
        if (transactions > 0)
                counts.last_commit_lsn = counts.last_commit_cdc_lsn = lsn_make(1, (uint32_t)end, 1);
        sessions_begin(sessions, STORE_FIXTURE_NOW + begin * second);
        sessions_end(sessions, &counts, STORE_FIXTURE_NOW + end * second);
}

static char *flushed(struct store_fixture *f, struct sessions *sessions, const char *sql)
{
        cr_assert_eq(sessions_flush(sessions, f->store), 0);
        return store_fixture_text(f, sql);
}

Test(sessions, consecutive_empty_scans_are_one_row)
{
        struct store_fixture f;
        struct sessions *sessions = sessions_new();
        store_fixture_open(&f, TEXT_UTF8);
        cr_expect_eq(sessions_current(sessions), 0);
        for (int i = 0; i < 10; i++)
                scan(sessions, i, i + 1, 1);
        for (int i = 0; i < 5; i++)
                scan(sessions, 20 + i, 21 + i, 0);
        cr_expect_eq(sessions_current(sessions), 11);
        _cleanup_free_ char *rows = flushed(&f, sessions,
                "SELECT max(session_id) || ' ' || count(*) || ' ' || (SELECT empty_scan_count FROM"
                " dm_cdc_log_scan_sessions ORDER BY session_id DESC) FROM dm_cdc_log_scan_sessions"
                " WHERE session_id > 0");
        cr_expect_str_eq(rows, "11 11 5");
        scan(sessions, 30, 31, 1);
        scan(sessions, 32, 33, 0);
        _cleanup_free_ char *later = flushed(&f, sessions,
                "SELECT group_concat(empty_scan_count) FROM (SELECT empty_scan_count FROM"
                " dm_cdc_log_scan_sessions WHERE session_id > 9 ORDER BY session_id)");
        cr_expect_str_eq(later, "0,5,0,1");
        sessions_free(sessions);
        store_fixture_close(&f);
}

Test(sessions, row_zero_adds_them_up)
{
        struct store_fixture f;
        struct sessions *sessions = sessions_new();
        store_fixture_open(&f, TEXT_UTF8);
        scan(sessions, 0, 3, 4);
        scan(sessions, 10, 15, 1);
        scan(sessions, 20, 21, 0);
        sessions_begin(sessions, STORE_FIXTURE_NOW + 30 * second);
        sessions_begin(sessions, STORE_FIXTURE_NOW + 40 * second); /* the one before failed */
        _cleanup_free_ char *row = flushed(&f, sessions,
                "SELECT scan_phase || ' ' || start_time || ' ' || duration || ' ' || tran_count ||"
                " ' ' || command_count || ' ' || log_record_count || ' ' || latency || ' ' ||"
                " empty_scan_count || ' ' || failed_sessions_count || ' ' || last_commit_lsn"
                " FROM dm_cdc_log_scan_sessions WHERE session_id = 0");
        cr_expect_str_eq(row,
                "Aggregate 2026-11-30T10:00:00.000000Z 8 5 10 15 5 1 1 00000001:0000000f:0001",
                "%s", row);
        sessions_free(sessions);
        store_fixture_close(&f);
}

Test(sessions, latency_and_duration_are_those_of_scans_with_changes)
{
        struct store_fixture f;
        struct sessions *sessions = sessions_new();
        store_fixture_open(&f, TEXT_UTF8);
        scan(sessions, 5, 9, 1);
        scan(sessions, 20, 29, 0);
        _cleanup_free_ char *rows = flushed(&f, sessions,
                "SELECT group_concat(latency || '/' || duration) FROM dm_cdc_log_scan_sessions"
                " WHERE session_id > 0");
        cr_expect_str_eq(rows, "4/4,0/0");
        sessions_free(sessions);
        store_fixture_close(&f);
}

Test(sessions, errors_belong_to_the_session_in_hand)
{
        struct store_fixture f;
        struct sessions *sessions = sessions_new();
        struct sessions_error error = {.phase = SESSIONS_PHASE_ROWS,
                .number = 22863,
                .severity = 16,
                .state = 1,
                .message = "disk full",
                .start_lsn = lsn_make(1, 2, 1)};
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(sessions_error(sessions, &error, STORE_FIXTURE_NOW), 0);
        scan(sessions, 0, 1, 1);
        sessions_begin(sessions, STORE_FIXTURE_NOW);
        cr_assert_eq(sessions_error(sessions, &error, STORE_FIXTURE_NOW), 0);
        sessions_end(sessions, &(struct sessions_counts){.is_failed = true}, STORE_FIXTURE_NOW);
        _cleanup_free_ char *errors = flushed(&f, sessions,
                "SELECT group_concat(session_id || ':' || phase_number || ':' || error_number ||"
                " ':' || error_severity || ':' || error_state || ':' || error_message || ':' ||"
                " start_lsn || ':' || coalesce(begin_lsn, 'NULL'), ' ') FROM dm_cdc_errors");
        cr_expect_str_eq(errors,
                "0:7:22863:16:1:disk full:00000001:00000002:0001:NULL "
                "2:7:22863:16:1:disk full:00000001:00000002:0001:NULL",
                "%s", errors);
        _cleanup_free_ char *counts = store_fixture_text(&f,
                "SELECT group_concat(session_id || '=' || error_count || '/' ||"
                " failed_sessions_count, ' ') FROM dm_cdc_log_scan_sessions");
        cr_expect_str_eq(counts, "0=1/1 1=0/0 2=1/1");
        sessions_free(sessions);
        store_fixture_close(&f);
}

Test(sessions, errors_of_the_last_thirty_two_sessions_stay)
{
        struct store_fixture f;
        struct sessions *sessions = sessions_new();
        struct sessions_error error = {.message = "x"};
        store_fixture_open(&f, TEXT_UTF8);
        for (int i = 0; i < 100; i++) {
                sessions_begin(sessions, STORE_FIXTURE_NOW);
                cr_assert_eq(sessions_error(sessions, &error, STORE_FIXTURE_NOW), 0);
                sessions_end(
                        sessions, &(struct sessions_counts){.is_failed = true}, STORE_FIXTURE_NOW);
        }
        _cleanup_free_ char *range = flushed(&f, sessions,
                "SELECT min(session_id) || '-' || max(session_id) || ' ' || count(*)"
                " FROM dm_cdc_errors");
        cr_expect_str_eq(range, "69-100 32");
        for (int i = 0; i < 5000; i++)
                cr_assert_eq(sessions_error(sessions, &error, STORE_FIXTURE_NOW), 0);
        _cleanup_free_ char *many = flushed(&f, sessions, "SELECT count(*) FROM dm_cdc_errors");
        cr_expect_leq(strtol(many, NULL, 10), 256, "a storm is bounded: %s", many);
        sessions_free(sessions);
        store_fixture_close(&f);
}
