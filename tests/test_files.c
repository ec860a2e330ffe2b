/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "memory/files.h"
#include "store_fixture.h"

static const struct files_format csv = {"csv", 1}, jsonl = {"jsonl", 3};

static uint64_t open_file(struct store_fixture *f, int64_t object_id,
        const struct files_format *format, uint32_t from)
{
        uint64_t ino = 0;
        cr_assert_eq(
                files_open(f->store, object_id, format, lsn_make(1, from, 1), from * 10, &ino), 0);
        return ino;
}

/* As segments_close does it. */
static void close_file(
        struct store_fixture *f, uint64_t ino, uint32_t to, int64_t closed_ns, int64_t segment)
{
        char sql[400], lsn[LSN_NAME_SIZE];
        lsn_format_name(lsn_make(1, to, 1), lsn);
        snprintf(sql, sizeof sql,
                "UPDATE cdcfs_files SET to_lsn = x'%s', segment = %d, closed_ns = %lld,"
                "  last_change = 99, row_count = 5, inserts = 1, updates = 2, deletes = 0,"
                "  first_time_ns = 7, last_time_ns = 8 WHERE ino = %lld",
                lsn, (int)segment, (long long)closed_ns, (long long)ino);
        cr_assert_eq(sql_execute(store_db(f->store), sql), 0);
}

static const struct files_measure measure = {.bytes = 123, .sha256 = {1, 2, 3}, .odd_text = 4};

Test(files, a_file_keeps_its_row_and_its_inode_from_opening_to_the_end)
{
        struct store_fixture f;
        struct file_row file;
        int64_t mtime = 0;
        store_fixture_open(&f, TEXT_UTF16LE);
        uint64_t ino = open_file(&f, 5, &jsonl, 10);
        cr_assert_eq(files_find_ino(store_db(f.store), ino, &file), 1);
        cr_expect(file.is_open);
        cr_expect_not(file.is_published);
        cr_expect_str_eq(file.format, "jsonl");
        cr_expect_eq(file.renderer_version, 3);
        cr_expect_eq(file.first_change, 100);
        cr_expect(lsn_is_zero(file.to_lsn));
        cr_expect_eq(files_publish(f.store, ino, &measure, &mtime), -ENOENT, "it is still open");

        close_file(&f, ino, 20, 1000, 1);
        cr_assert_eq(files_publish(f.store, ino, &measure, &mtime), 0);
        cr_expect_eq(mtime, 1000);
        cr_expect_eq(files_publish(f.store, ino, &measure, &mtime), -ENOENT, "only once");
        cr_assert_eq(files_find_ino(store_db(f.store), ino, &file), 1);
        cr_expect_not(file.is_open);
        cr_expect(file.is_published);
        cr_expect_eq(lsn_frame(file.from_lsn), 10);
        cr_expect_eq(lsn_frame(file.to_lsn), 20);
        cr_expect_eq(file.last_change, 99);
        cr_expect_eq(file.rows, 5);
        cr_expect_eq(file.updates, 2);
        cr_expect_eq(file.first_time_ns, 7);
        cr_expect_eq(file.last_time_ns, 8);
        cr_expect_eq(file.closed_ns, 1000);
        cr_expect_eq(file.bytes, 123);
        cr_expect_eq(memcmp(file.sha256, measure.sha256, HASH_SIZE), 0);
        cr_expect_eq(file.odd_text, 4);
        cr_expect_eq(file.mtime_ns, 1000);
        cr_expect_eq(files_find_ino(store_db(f.store), 1, &file), 0);
        store_fixture_close(&f);
}

Test(files, ordinals_count_for_each_instance_and_format)
{
        struct store_fixture f;
        struct file_row file;
        static const struct {
                int64_t object_id;
                const struct files_format *format;
                int64_t ordinal;
        } cases[] = {{1, &csv, 1}, {1, &csv, 2}, {1, &jsonl, 1}, {2, &csv, 1}, {1, &csv, 3}};
        uint64_t last = 0;
        store_fixture_open(&f, TEXT_UTF8);
        for (size_t i = 0; i < COUNT(cases); i++) {
                uint64_t ino = open_file(&f, cases[i].object_id, cases[i].format, (uint32_t)i);
                cr_expect_gt(ino, last);
                last = ino;
                cr_assert_eq(files_find_ino(store_db(f.store), ino, &file), 1);
                cr_expect_eq(file.ordinal, cases[i].ordinal, "%zu", i);
        }
        struct files_format too_long = {"a_name_of_16_byt", 1};
        cr_expect_eq(files_open(f.store, 1, &too_long, lsn_make(1, 1, 1), 1, &last), -EINVAL);
        store_fixture_close(&f);
}

Test(files, they_are_published_in_the_order_of_closing_with_rising_times)
{
        enum { FILES = 5 };
        static const int64_t closed[FILES] = {1000, 1000, 900, 2000, 2000};
        static const int64_t mtimes[FILES] = {1000, 1001, 1002, 2000, 2001};
        struct store_fixture f;
        struct files files;
        uint64_t inos[FILES];
        store_fixture_open(&f, TEXT_UTF8);
        for (uint32_t i = 0; i < FILES; i++) {
                inos[i] = open_file(&f, 1, &csv, i * 10);
                close_file(&f, inos[i], i * 10 + 9, closed[i], i + 1);
        }
        open_file(&f, 1, &csv, 90);
        cr_assert_eq(files_unpublished(store_db(f.store), &files), 0);
        cr_assert_eq(files.count, FILES);
        for (size_t i = 0; i < FILES; i++) {
                int64_t mtime = 0;
                cr_expect_eq(files.items[i].ino, inos[i], "%zu", i);
                cr_assert_eq(files_publish(f.store, files.items[i].ino, &measure, &mtime), 0);
                cr_expect_eq(mtime, mtimes[i], "%zu", i);
        }
        files_release(&files);
        cr_assert_eq(files_unpublished(store_db(f.store), &files), 0);
        cr_expect_eq(files.count, 0);
        files_release(&files);
        store_fixture_close(&f);
}

Test(files, the_directory_changes_when_a_name_appears)
{
        struct store_fixture f;
        struct instances instances;
        int64_t mtime = 0;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t object_id = store_fixture_enable(&f, "CREATE TABLE t(a)", "t", NULL);
        uint64_t ino = open_file(&f, object_id, &csv, 1);
        close_file(&f, ino, 2, STORE_FIXTURE_NOW + 5, 1);
        cr_assert_eq(files_publish(f.store, ino, &measure, &mtime), 0);
        cr_assert_eq(instances_load(f.store, &instances), 0);
        cr_expect_eq(instances.items[0].changed_ns, STORE_FIXTURE_NOW + 5);
        instances_release(&instances);
        store_fixture_close(&f);
}

Test(files, listings_have_published_names_only_and_go_on_after_an_ordinal)
{
        enum { FILES = 6 };
        struct store_fixture f;
        struct files files;
        struct file_row file;
        uint64_t inos[FILES];
        int64_t mtime = 0;
        store_fixture_open(&f, TEXT_UTF8);
        for (uint32_t i = 0; i < FILES; i++) {
                inos[i] = open_file(&f, 1, &csv, i * 10);
                close_file(&f, inos[i], i * 10 + 9, 1000, i + 1);
                if (i < FILES - 1)
                        cr_assert_eq(files_publish(f.store, inos[i], &measure, &mtime), 0);
        }
        open_file(&f, 1, &csv, 60);
        cr_assert_eq(sql_execute(store_db(f.store),
                             "UPDATE cdcfs_files SET is_withdrawn = 1 WHERE ordinal = 1"),
                0);
        static const struct {
                int64_t after;
                size_t limit, count;
        } cases[] = {{0, 0, 4}, {0, 3, 3}, {3, 0, 2}, {5, 0, 0}, {0, 99, 4}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                cr_assert_eq(files_list(store_db(f.store), 1, "csv", cases[i].after, cases[i].limit,
                                     &files),
                        0);
                cr_expect_eq(files.count, cases[i].count, "%zu", i);
                for (size_t j = 0; j < files.count; j++)
                        cr_expect_eq(files.items[j].ordinal,
                                (int64_t)(j + 1) + (cases[i].after ? cases[i].after : 1));
                files_release(&files);
        }
        cr_expect_eq(files_find_range(store_db(f.store), 1, "csv", lsn_make(1, 0, 1),
                             lsn_make(1, 9, 1), &file),
                1, "a withdrawn one opens by its exact name");
        cr_expect(file.is_withdrawn);
        cr_expect_eq(files_find_range(store_db(f.store), 1, "csv", lsn_make(1, 0, 1),
                             lsn_make(1, 8, 1), &file),
                0);
        cr_expect_eq(files_find_range(store_db(f.store), 1, "csv", lsn_make(1, 50, 1),
                             lsn_make(1, 59, 1), &file),
                0, "one that is not published does not");
        cr_expect_eq(files_find_range(store_db(f.store), 2, "csv", lsn_make(1, 10, 1),
                             lsn_make(1, 19, 1), &file),
                0);
        cr_expect_eq(files_find_live(store_db(f.store), 1, "csv", &file), 1);
        cr_expect_eq(file.ino, inos[FILES - 1], "live shows what is closed and not yet published");
        cr_assert_eq(files_publish(f.store, inos[FILES - 1], &measure, &mtime), 0);
        cr_expect_eq(files_find_live(store_db(f.store), 1, "csv", &file), 1);
        cr_expect(file.is_open);
        cr_expect_eq(files_find_live(store_db(f.store), 1, "jsonl", &file), 0);
        store_fixture_close(&f);
}
