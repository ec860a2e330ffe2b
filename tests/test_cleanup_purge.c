/* SPDX-License-Identifier: MIT
 *
 * cleanup_purge: what is deleted and when, in batches, without a trace.
 */
#include <sys/stat.h>

#include "cleanup_fixture.h"

static int64_t integer(struct files_fixture *f, const char *sql)
{
        return store_fixture_integer(&f->base, sql);
}

/* Files 1-2 (10 rows), 2+1 to 3 (10 rows), 10 rows more, and the mark at 3. */
static int64_t fill(struct files_fixture *f)
{
        int number;
        files_fixture_open(f);
        int64_t id = files_fixture_table(f, "t");
        for (int i = 0; i < 2; i++) {
                files_fixture_commit(f, id, 10, 20);
                files_fixture_rotate(f);
        }
        files_fixture_commit(f, id, 10, 20);
        cr_assert_eq(cleanup_by_hand(f, id, cleanup_lsn(3), 100, &number), 1);
        return id;
}

Test(cleanup_purge, withdrawn_files_keep_their_rows_until_their_time_is_over)
{
        struct files_fixture f;
        struct cleanup_purge purge;
        int64_t due;
        fill(&f);
        cr_assert_eq(cleanup_next_due(store_db(f.base.store), 50, &due), 0);
        cr_expect_eq(due, 150);
        cr_expect_eq(cleanup_purge_all(&f, 50, 1000, 149, &purge), 0);
        cr_expect_eq(purge.deleted, 0);
        cr_expect_eq(integer(&f, "SELECT count(*) FROM main_t_CT"), 30);
        cr_expect_eq(integer(&f, "SELECT count(*) FROM lsn_time_mapping"), 4);
        cr_expect_eq(cleanup_purge_all(&f, 50, 1000, 150, &purge), 0);
        cr_expect_eq(integer(&f, "SELECT count(*) FROM main_t_CT"), 20, "those from 3 on");
        cr_expect_eq(integer(&f, "SELECT count(*) FROM cdcfs_files WHERE is_withdrawn"), 0);
        cr_expect_eq(integer(&f, "SELECT count(*) FROM lsn_time_mapping"), 2);
        cr_assert_eq(cleanup_next_due(store_db(f.base.store), 50, &due), 0);
        cr_expect_eq(due, INT64_MAX);
        files_fixture_close(&f);
}

Test(cleanup_purge, a_batch_has_at_most_so_many_rows)
{
        struct files_fixture f;
        struct cleanup_now now = {.wall_ns = STORE_FIXTURE_NOW, .running_ns = 100};
        struct cleanup_limits limits = {.threshold = 3};
        struct cleanup_purge purge = {0};
        struct problem problem = {0};
        fill(&f);
        int64_t left = 30;
        while (cleanup_purge(f.base.store, &now, &limits, &purge, &problem) > 0) {
                int64_t rows = integer(&f, "SELECT count(*) FROM main_t_CT");
                cr_expect_leq(left - rows, 3);
                left = rows;
        }
        cr_expect_eq(left, 20);
        cr_expect_eq(purge.deleted, 12, "10 rows and two of the mapping");
        files_fixture_close(&f);
}

Test(cleanup_purge, a_file_that_is_not_measured_yet_keeps_its_rows)
{
        struct files_fixture f;
        struct cleanup_purge purge;
        int number;
        files_fixture_open(&f);
        int64_t id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, id, 10, 20);
        files_fixture_border(&f);
        files_fixture_commit(&f, id, 10, 20);
        cr_assert_eq(cleanup_by_hand(&f, id, cleanup_lsn(3), 0, &number), 1);
        cleanup_purge_all(&f, 0, 1000, 100, &purge);
        cr_expect_eq(integer(&f, "SELECT count(*) FROM main_t_CT"), 20);
        files_fixture_publish(&f);
        cleanup_purge_all(&f, 0, 1000, 100, &purge);
        cr_expect_eq(integer(&f, "SELECT count(*) FROM main_t_CT"), 10);
        files_fixture_close(&f);
}

Test(cleanup_purge, one_instances_failure_does_not_stop_the_others)
{
        struct files_fixture f;
        struct cleanup_purge purge;
        int number;
        files_fixture_open(&f);
        int64_t bad = files_fixture_table(&f, "bad"), good = files_fixture_table(&f, "good");
        files_fixture_commit(&f, bad, 5, 20);
        files_fixture_commit(&f, good, 5, 20);
        files_fixture_commit(&f, good, 1, 20);
        cr_assert_eq(cleanup_by_hand(&f, bad, cleanup_lsn(4), 0, &number), 1);
        cr_assert_eq(cleanup_by_hand(&f, good, cleanup_lsn(5), 0, &number), 1);
        store_fixture_check(sql_execute(store_db(f.base.store),
                                    "CREATE TRIGGER no BEFORE DELETE ON main_bad_CT BEGIN"
                                    " SELECT raise(ABORT, 'not this one'); END"),
                "CREATE TRIGGER");
        cr_expect_eq(cleanup_purge_all(&f, 0, 1000, 100, &purge), 22852);
        cr_expect_eq(purge.failed, 1);
        cr_expect_eq(integer(&f, "SELECT count(*) FROM main_bad_CT"), 5);
        cr_expect_eq(integer(&f, "SELECT count(*) FROM main_good_CT"), 1);
        EXPECT_LISTING(&f, bad, "040001", "040001-");
        store_fixture_check(sql_execute(store_db(f.base.store), "DROP TRIGGER no"), "DROP");
        cr_expect_eq(cleanup_purge_all(&f, 0, 1000, 100, &purge), 0);
        cr_expect_eq(integer(&f, "SELECT count(*) FROM main_bad_CT"), 0, "the next one makes good");
        files_fixture_close(&f);
}

Test(cleanup_purge, mapping_rows_stay_from_the_smallest_mark_on)
{
        struct files_fixture f;
        struct cleanup_purge purge;
        int number;
        files_fixture_open(&f);
        int64_t a = files_fixture_table(&f, "a"), b = files_fixture_table(&f, "b"); /* 1, 2 */
        for (int i = 0; i < 3; i++)
                files_fixture_commit(&f, i % 2 ? a : b, 1, 20); /* 3, 4, 5 */
        cr_assert_eq(cleanup_by_hand(&f, a, cleanup_lsn(5), 0, &number), 1);
        cleanup_purge_all(&f, 0, 1000, 100, &purge);
        cr_expect_eq(integer(&f, "SELECT count(*) FROM lsn_time_mapping"), 4, "b begins at 2");
        cr_assert_eq(cleanup_by_hand(&f, b, cleanup_lsn(4), 0, &number), 1);
        cleanup_purge_all(&f, 0, 1000, 100, &purge);
        cr_expect_eq(integer(&f, "SELECT count(*) FROM lsn_time_mapping"), 2);
        files_fixture_close(&f);
}

/* How often the text stands in a file; 0 where there is none. */
static unsigned count_in_file(const char *path, const char *text)
{
        unsigned count = 0;
        FILE *file = fopen(path, "rb");
        size_t size = 0, length = strlen(text);
        char *bytes = malloc(64 << 20);
        if (file) {
                size = fread(bytes, 1, 64 << 20, file);
                fclose(file);
        }
        for (char *p = bytes; (p = memmem(p, size - (size_t)(p - bytes), text, length));
                p += length)
                count++;
        free(bytes);
        return count;
}

Test(cleanup_purge, deleted_values_are_gone_from_the_bytes_of_the_store)
{
        struct files_fixture f;
        struct cleanup_purge purge;
        char wal[600];
        int number;
        files_fixture_open(&f);
        int64_t id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, id, 500, 300);
        files_fixture_rotate(&f);
        files_fixture_commit(&f, id, 1, 10);
        snprintf(wal, sizeof wal, "%s-wal", f.base.path);
        static const char text[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
        cr_expect_gt(count_in_file(f.base.path, text) + count_in_file(wal, text), 0);
        cr_assert_eq(cleanup_by_hand(&f, id, cleanup_lsn(3), 0, &number), 1);
        cr_expect_eq(cleanup_purge_all(&f, 0, 50, 100, &purge), 0);
        struct stat st;
        cr_assert_eq(stat(wal, &st), 0);
        cr_expect_eq(st.st_size, 0, "the log is truncated");
        cr_expect_eq(count_in_file(f.base.path, text), 0);
        files_fixture_close(&f);
}
