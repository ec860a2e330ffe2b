/* SPDX-License-Identifier: MIT
 *
 * cleanup: where marks go, by the job and by hand, and which files they withdraw.
 */
#include "memory/cleanup.h"

#include <errno.h>

#include "cleanup_fixture.h"
#include "memory/holds.h"

/* An instance from commit 1 on, with files 1-2, 2+1 to 3, 3+1 to 4, and commit 5 in the open one;
 * listed at running time 0. */
static int64_t fill(struct files_fixture *f)
{
        files_fixture_open(f);
        int64_t id = files_fixture_table(f, "t");
        for (int i = 0; i < 3; i++) {
                files_fixture_commit(f, id, 2, 20);
                files_fixture_rotate(f);
        }
        files_fixture_commit(f, id, 2, 20);
        cleanup_note(f, 0);
        return id;
}

Test(cleanup, the_job_counts_back_from_the_newest_commit_down_to_a_files_from)
{
        struct files_fixture f;
        int64_t id = fill(&f);
        EXPECT_LISTING(&f, id, "010001", "010001-020001 020002-030001 030002-040001 040002-");
        cr_expect_eq(cleanup_job(&f, 4 * SECOND, 100 * SECOND), 0, "commit 1 is young enough");
        cr_expect_eq(cleanup_job(&f, 2 * SECOND, 100 * SECOND), 1);
        EXPECT_LISTING(&f, id, "020002", "020002-030001 030002-040001 040002-");
        cr_expect_eq(cleanup_job(&f, 4 * SECOND, 100 * SECOND), 0, "marks only rise");
        cr_expect_eq(store_fixture_integer(&f.base, "SELECT hex(min_lsn) = hex((SELECT start_lsn "
                                                    "FROM change_tables)) FROM cdcfs_state"),
                1, "so does the database's");
        files_fixture_close(&f);
}

Test(cleanup, rows_that_were_never_listed_stay)
{
        struct files_fixture f;
        int64_t id = fill(&f);
        f.now_ns += 1000 * SECOND;
        files_fixture_commit(&f, id, 1, 20);
        cr_expect_eq(cleanup_job(&f, 1 * SECOND, 5000 * SECOND), 1);
        EXPECT_LISTING(&f, id, "040002", "040002-");
        files_fixture_close(&f);
}

/* B067 */
Test(cleanup, b067_a_clock_that_jumps_forward_takes_nothing)
{
        struct files_fixture f;
        int64_t id = fill(&f), day = 86400 * SECOND;
        f.now_ns += 30 * day;
        files_fixture_commit(&f, id, 1, 20);
        cr_expect_eq(cleanup_job(&f, day, 60 * SECOND), 0, "listed for a minute");
        cr_expect_eq(cleanup_job(&f, day, day - 1), 0);
        EXPECT_LISTING(&f, id, "010001", "010001-020001 020002-030001 030002-040001 040002-");
        cr_expect_eq(cleanup_job(&f, day, day), 1, "and for a day");
        files_fixture_close(&f);
}

Test(cleanup, a_file_that_waits_to_be_listed_stays)
{
        struct files_fixture f;
        int64_t id = fill(&f);
        files_fixture_border(&f); /* 4+1 to 5, not published */
        f.now_ns += 1000 * SECOND;
        files_fixture_commit(&f, id, 1, 20);
        cr_expect_eq(cleanup_job(&f, 1 * SECOND, 5000 * SECOND), 1);
        EXPECT_LISTING(&f, id, "040002", "040002-050001 050002-");
        files_fixture_close(&f);
}

Test(cleanup, an_instance_without_changes_follows_the_others)
{
        struct files_fixture f;
        int64_t id = fill(&f), quiet = files_fixture_table(&f, "quiet"); /* commit 6 */
        for (int i = 0; i < 4; i++)
                files_fixture_commit(&f, id, 1, 20);
        files_fixture_rotate(&f);
        cleanup_note(&f, 0);
        cr_expect_eq(cleanup_job(&f, 2 * SECOND, 100 * SECOND), 2); /* commit 8 */
        EXPECT_LISTING(&f, quiet, "080001", "080001-");
        EXPECT_LISTING(&f, id, "040002", "040002-0A0001 0A0002-");
        files_fixture_close(&f);
}

Test(cleanup, no_mark_rises_above_a_live_hold)
{
        struct files_fixture f;
        int64_t id = fill(&f);
        int number;
        struct hold hold = {.object_id = id,
                .name = "etl",
                .lsn = cleanup_lsn(3),
                .created_ns = f.now_ns,
                .expires_ns = f.now_ns + 10 * SECOND};
        store_fixture_begin(&f.base);
        cr_assert_eq(holds_set(f.base.store, &hold), 0);
        store_fixture_commit(&f.base);
        cr_expect_eq(cleanup_job(&f, 1, 100 * SECOND), 1);
        EXPECT_LISTING(&f, id, "020002", "020002-030001 030002-040001 040002-");
        cr_expect_eq(cleanup_by_hand(&f, id, cleanup_lsn(4), 0, &number), -EBUSY);
        cr_expect_eq(cleanup_by_hand(&f, id, cleanup_lsn(3), 0, &number), 1);
        f.now_ns += 11 * SECOND;
        cr_expect_eq(cleanup_by_hand(&f, id, cleanup_lsn(4), 0, &number), 1, "the hold is over");
        files_fixture_close(&f);
}

Test(cleanup, by_hand_a_mark_inside_a_file_unlists_it)
{
        struct files_fixture f;
        int64_t id = fill(&f);
        int number;
        files_fixture_commit(&f, id, 2, 20);
        files_fixture_rotate(&f); /* 4+1 to 6 */
        cr_expect_eq(cleanup_by_hand(&f, id, cleanup_lsn(6), 7, &number), 1);
        EXPECT_LISTING(&f, id, "060001", "060002-");
        cr_expect_eq(store_fixture_integer(&f.base,
                             "SELECT count(*) FROM cdcfs_files WHERE is_withdrawn AND "
                             "withdrawn_ns = 7 AND format = 'csv' AND object_id > 0"),
                4);
        files_fixture_close(&f);
}

Test(cleanup, by_hand_a_mark_inside_the_open_file_shortens_it)
{
        struct files_fixture f;
        int64_t id = fill(&f);
        int number;
        size_t count;
        files_fixture_commit(&f, id, 3, 20);
        files_fixture_commit(&f, id, 4, 20);
        cr_expect_eq(cleanup_by_hand(&f, id, cleanup_lsn(6), 0, &number), 1);
        EXPECT_LISTING(&f, id, "060001", "060001-");
        segments_free(f.segments);
        state_release(&f.state);
        files_fixture_load(&f);
        const struct segments_tally *tally = segments_list(f.segments, &count);
        cr_expect_eq(tally->rows, 7);
        cr_expect_eq(lsn_frame(tally->from_lsn), 6);
        files_fixture_rotate(&f);
        EXPECT_LISTING(&f, id, "060001", "060001-070001 070002-");
        files_fixture_close(&f);
}

/* B073 */
Test(cleanup, b073_commits_of_one_time_stay_or_go_together)
{
        struct files_fixture f;
        int number;
        files_fixture_open(&f);
        int64_t id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, id, 1, 20);
        for (int i = 0; i < 3; i++) { /* 3, 4 and 5 at one time */
                f.now_ns -= (i > 0) * SECOND;
                files_fixture_commit(&f, id, 1, 20);
        }
        cr_expect_eq(cleanup_by_hand(&f, id, cleanup_lsn(4), 0, &number), 1);
        EXPECT_LISTING(&f, id, "030001", "030001-");
        cr_expect_eq(cleanup_by_hand(&f, id, cleanup_lsn(5), 0, &number), 0, "equal: nothing");
        cr_expect_eq(cleanup_by_hand(&f, id, cleanup_lsn(2), 0, &number), -ERANGE);
        cr_expect_eq(number, 22957);
        f.now_ns += 10 * SECOND;
        files_fixture_commit(&f, id, 1, 20);
        cr_expect_eq(cleanup_job(&f, 11 * SECOND, 100 * SECOND), 0, "the time of all three");
        files_fixture_close(&f);
}

Test(cleanup, by_hand_other_marks_are_refused)
{
        struct files_fixture f;
        int number;
        int64_t id = fill(&f);
        cr_expect_eq(cleanup_by_hand(&f, id, lsn_increment(cleanup_lsn(3)), 0, &number), -EINVAL);
        cr_expect_eq(number, 22964);
        int64_t late = files_fixture_table(&f, "late");
        cr_expect_eq(cleanup_by_hand(&f, late, cleanup_lsn(3), 0, &number), -ERANGE);
        cr_expect_eq(number, 22957);
        int64_t pending =
                store_fixture_enable(&f.base, "CREATE TABLE p(id INTEGER PRIMARY KEY)", "p", "p");
        cr_expect_eq(cleanup_by_hand(&f, pending, cleanup_lsn(3), 0, &number), -ERANGE);
        cr_expect_eq(cleanup_job(&f, 1, 100 * SECOND), 1, "that is no obstacle to the others");
        files_fixture_close(&f);
}

/* B068 */
Test(cleanup, b068_a_clock_that_goes_back_disorders_nothing)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, id, 1, 20);
        files_fixture_rotate(&f);
        f.now_ns -= 3600 * SECOND;
        files_fixture_commit(&f, id, 1, 20);
        files_fixture_rotate(&f);
        segments_free(f.segments);
        state_release(&f.state);
        files_fixture_load(&f);
        files_fixture_commit(&f, id, 1, 20);
        files_fixture_rotate(&f);
        EXPECT_LISTING(&f, id, "010001", "010001-020001 020002-030001 030002-040001 040002-");
        cr_expect_eq(store_fixture_integer(&f.base,
                             "SELECT count(*) FROM lsn_time_mapping AS a JOIN lsn_time_mapping AS b"
                             " ON b.rowid = a.rowid + 1 WHERE b.start_lsn <= a.start_lsn OR"
                             " b.tran_end_time < a.tran_end_time"),
                0);
        cr_expect_eq(store_fixture_integer(&f.base,
                             "SELECT count(*) FROM cdcfs_files AS a JOIN cdcfs_files AS b USING"
                             "(object_id, format) WHERE b.ordinal = a.ordinal + 1 AND"
                             " b.mtime_ns <= a.mtime_ns"),
                0);
        struct mapping_row row;
        cr_assert_eq(mapping_find_time(store_db(f.base.store), MAPPING_LARGEST_LESS_THAN_OR_EQUAL,
                             f.now_ns + 7200 * SECOND, &row),
                1);
        cr_expect_eq(lsn_frame(row.start_lsn), 4, "now is the newest");
        files_fixture_close(&f);
}
