/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>

#include "content_fixture.h"
#include "faces/filebytes.h"

/* All bytes of a file. */
static void render_whole(struct content_fixture *f, const struct file_row *file, struct buf *buf)
{
        struct filebytes_position position = filebytes_start(file);
        cr_assert_eq(filebytes_render(f->db, file, SIZE_MAX / 4, &position, buf, NULL), 0);
}

Test(content, reads_any_part_of_a_file_without_short_counts)
{
        struct content_fixture f;
        content_fixture_open(&f, 0);
        content_fixture_add(&f, 6000, 100);
        struct file_row file = content_fixture_file(&f, 0, 1);
        struct buf whole = BUF_INIT;
        render_whole(&f, &file, &whole);
        static const struct {
                size_t offset, size;
        } parts[] = {{0, 10}, {0, 0}, {500000, 200000}, {1, 131072}, {700000, 1 << 20},
                {1 << 30, 10}, {0, 1 << 20}};
        struct content *content = NULL;
        char *buffer = malloc(1 << 20);
        cr_assert_eq(content_open(f.pool, f.db, file.ino, &content), 0);
        for (size_t i = 0; i < COUNT(parts); i++) {
                size_t got = 0;
                size_t left = parts[i].offset < whole.size ? whole.size - parts[i].offset : 0;
                size_t want = parts[i].size < left ? parts[i].size : left;
                cr_assert_eq(
                        content_read(content, f.db, parts[i].offset, buffer, parts[i].size, &got),
                        0);
                cr_expect_eq(got, want);
                cr_expect_eq(memcmp(buffer, whole.data + (want ? parts[i].offset : 0), got), 0);
        }
        content_close(content);
        free(buffer);
        buf_release(&whole);
        content_fixture_close(&f);
}

Test(content, renders_only_what_is_asked_for)
{
        struct content_fixture f;
        content_fixture_open(&f, 0);
        content_fixture_add(&f, 20000, 100);
        struct content *content = NULL;
        char buffer[100];
        size_t got = 0;
        cr_assert_eq(content_open(f.pool, f.db, content_fixture_file(&f, 0, 1).ino, &content), 0);
        cr_expect_eq(content_pool_bytes(f.pool), 0);
        cr_expect_eq(content_try_read(content, 0, buffer, sizeof buffer, &got), -EAGAIN);
        cr_expect_eq(content_read(content, f.db, 0, buffer, sizeof buffer, &got), 0);
        cr_expect_eq(content_try_read(content, 0, buffer, sizeof buffer, &got), 0);
        cr_expect_eq(got, sizeof buffer);
        cr_expect_leq(content_pool_bytes(f.pool), 17 << 10, "a glance costs 16 KiB");
        cr_expect_eq(content_try_read(content, 1 << 20, buffer, sizeof buffer, &got), -EAGAIN);
        content_close(content);
        content_fixture_close(&f);
}

/* All of a file through small reads; is its hash right? */
static bool is_read_right(struct content_fixture *f, const struct file_row *file)
{
        struct content *content = NULL;
        struct hash hash;
        uint8_t digest[HASH_SIZE];
        char buffer[30000];
        size_t got = 1;
        hash_init(&hash);
        cr_assert_eq(content_open(f->pool, f->db, file->ino, &content), 0);
        for (uint64_t offset = 0; got > 0; offset += got) {
                cr_assert_eq(content_read(content, f->db, offset, buffer, sizeof buffer, &got), 0);
                hash_update(&hash, buffer, got);
        }
        content_close(content);
        hash_finish(&hash, digest);
        return memcmp(digest, file->sha256, HASH_SIZE) == 0;
}

/* The budget holds for what is open too: pieces that go are made again. */
Test(content, keeps_to_its_budget_whoever_has_files_open)
{
        enum { BUDGET = 3 << 20, FILES = 3 };
        struct content_fixture f;
        content_fixture_open(&f, BUDGET);
        struct content *contents[FILES];
        for (int i = 0; i < FILES; i++) {
                content_fixture_add(&f, 30000, 100);
                cr_assert_eq(content_open(f.pool, f.db, content_fixture_file(&f, 0, i + 1).ino,
                                     &contents[i]),
                        0);
        }
        for (int round = 0; round < 2; round++) {
                for (int i = 0; i < FILES; i++) {
                        struct file_row file = content_fixture_file(&f, 0, i + 1);
                        cr_assert_gt(file.bytes, BUDGET);
                        cr_expect(is_read_right(&f, &file));
                        cr_expect_leq(content_pool_bytes(f.pool), BUDGET);
                        cr_expect_gt(content_pool_bytes(f.pool), BUDGET / 2);
                }
        }
        for (int i = 0; i < FILES; i++)
                content_close(contents[i]);
        content_fixture_close(&f);
}

Test(content, keeps_what_was_used_last)
{
        struct content_fixture f;
        content_fixture_open(&f, 500000);
        for (int i = 0; i < 6; i++)
                content_fixture_add(&f, 2000, 50);
        for (int64_t ordinal = 1; ordinal <= 6; ordinal++) {
                struct file_row file = content_fixture_file(&f, 0, ordinal);
                cr_expect(is_read_right(&f, &file));
        }
        struct content *last = NULL, *first = NULL;
        char buffer[100];
        size_t got = 0;
        cr_assert_eq(content_open(f.pool, f.db, content_fixture_file(&f, 0, 6).ino, &last), 0);
        cr_assert_eq(content_open(f.pool, f.db, content_fixture_file(&f, 0, 1).ino, &first), 0);
        cr_expect_eq(content_try_read(last, 0, buffer, 100, &got), 0);
        cr_expect_eq(content_try_read(first, 0, buffer, 100, &got), -EAGAIN);
        content_close(last);
        content_close(first);
        content_fixture_close(&f);
}

Test(content, refuses_what_does_not_come_out_as_it_was_measured)
{
        static const char *const changes[] = {
                "UPDATE cdcfs_files SET bytes = bytes + 1",
                "UPDATE cdcfs_files SET bytes = bytes - 2",
                "DELETE FROM main_t_CT WHERE rowid % 3 = 0",
        };
        for (size_t i = 0; i < COUNT(changes); i++) {
                struct content_fixture f;
                content_fixture_open(&f, 0);
                content_fixture_add(&f, 500, 50);
                cr_assert_eq(sql_execute(f.db, changes[i]), 0);
                struct content *content = NULL;
                char *buffer = malloc(1 << 20);
                size_t got = 0;
                cr_assert_eq(
                        content_open(f.pool, f.db, content_fixture_file(&f, 0, 1).ino, &content),
                        0);
                cr_expect_eq(content_read(content, f.db, 0, buffer, 1 << 20, &got), -EIO, "%s",
                        changes[i]);
                cr_expect_eq(content_read(content, f.db, 0, buffer, 1 << 20, &got), -EIO);
                content_close(content);
                free(buffer);
                content_fixture_close(&f);
        }
}

Test(content, tells_files_that_are_not_there)
{
        struct content_fixture f;
        content_fixture_open(&f, 0);
        files_fixture_commit(&f.files, f.object_id, 10, 10);
        struct content *content = NULL;
        struct file_row live;
        cr_assert_eq(files_find_live(f.db, f.object_id, "csv", &live), 1);
        cr_expect_eq(content_open(f.pool, f.db, 1, &content), -ENOENT);
        cr_expect_eq(content_open(f.pool, f.db, live.ino, &content), -ENOENT);
        content_fixture_close(&f);
}

Test(content, puts_large_files_on_the_disk_and_leaves_no_name)
{
        struct content_fixture f;
        content_fixture_open(&f, 0);
        content_fixture_add(&f, 9000, 1000);
        struct file_row file = content_fixture_file(&f, 0, 1);
        cr_assert_gt(file.bytes, 8 << 20);
        struct content *content = NULL;
        char buffer[100];
        size_t got = 0;
        cr_assert_eq(content_open(f.pool, f.db, file.ino, &content), 0);
        cr_assert_eq(content_read(content, f.db, (uint64_t)file.bytes - 50, buffer, 100, &got), 0);
        cr_expect_eq(got, 50);
        cr_expect_eq(buffer[49], '\n');
        struct run_result result = run("ls -A %s | grep -v '^app.db'", f.files.base.tmp.directory);
        cr_expect_str_eq(result.text, "");
        run_release(&result);
        content_close(content);
        content_fixture_close(&f);
}

/* A range over all changes so far. */
static struct file_row range_of(
        struct content_fixture *f, unsigned format, uint64_t first, uint64_t last)
{
        struct file_row range = {
                .object_id = f->object_id,
                .renderer_version = render_at(format)->version,
                .from_lsn = lsn_make(1, (uint32_t)first, 1),
                .to_lsn = lsn_make(1, (uint32_t)last, 1),
                .first_change = first,
                .last_change = last,
                .mtime_ns = 77,
        };
        strcpy(range.format, render_at(format)->name);
        return range;
}

Test(content, a_range_is_measured_once_and_has_a_number_of_its_own)
{
        struct content_fixture f;
        content_fixture_open(&f, 0);
        files_fixture_commit(&f.files, f.object_id, 20000, 100);
        for (unsigned format = 0; format < 2; format++) {
                struct file_row range = range_of(&f, format, 5, 19000);
                _cleanup_(buf_release) struct buf whole = BUF_INIT;
                render_whole(&f, &range, &whole);
                struct content *content = NULL, *again = NULL, *by_ino = NULL;
                uint64_t ino = 0, size = 0;
                int64_t mtime = 0;
                cr_assert_eq(content_open_range(f.pool, &range, &content), 0);
                cr_assert_eq(content_measure(content, f.db, NULL), 0);
                content_status(content, &ino, &size, &mtime);
                cr_expect_eq(ino, CONTENT_FIRST_RANGE + format);
                cr_expect_eq(size, whole.size);
                cr_expect_eq(mtime, 77);
                size_t got = 0;
                char *buffer = malloc(whole.size);
                cr_expect_eq(content_try_read(content, 0, buffer, whole.size, &got), 0);
                cr_expect_eq(got, whole.size);
                cr_expect_eq(memcmp(buffer, whole.data, whole.size), 0);
                free(buffer);
                cr_assert_eq(content_open_range(f.pool, &range, &again), 0);
                cr_assert_eq(content_open(f.pool, f.db, ino, &by_ino), 0);
                cr_expect(again == content && by_ino == content);
                content_close(by_ino);
                content_close(again);
                content_close(content);
        }
        content_fixture_close(&f);
}

Test(content, many_ranges_that_are_open_keep_to_the_budget)
{
        enum { BUDGET = 1 << 20, RANGES = 25 };
        struct content_fixture f;
        content_fixture_open(&f, BUDGET);
        files_fixture_commit(&f.files, f.object_id, 20000, 100);
        struct content *contents[RANGES];
        for (unsigned i = 0; i < RANGES; i++) {
                struct file_row range = range_of(&f, i % 2, 1 + i, 15000 + i);
                cr_assert_eq(content_open_range(f.pool, &range, &contents[i]), 0);
                cr_assert_eq(content_measure(contents[i], f.db, NULL), 0);
                cr_expect_leq(content_pool_bytes(f.pool), BUDGET + (BUDGET >> 4));
        }
        for (unsigned i = 0; i < RANGES; i++) {
                struct file_row range = range_of(&f, i % 2, 1 + i, 15000 + i);
                _cleanup_(buf_release) struct buf whole = BUF_INIT;
                render_whole(&f, &range, &whole);
                char last[200];
                size_t got = 0;
                cr_assert_eq(content_read(contents[i], f.db, whole.size - 100, last, 200, &got), 0);
                cr_expect_eq(got, 100);
                cr_expect_eq(memcmp(last, whole.data + whole.size - 100, 100), 0);
                content_close(contents[i]);
        }
        content_fixture_close(&f);
}

Test(content, an_empty_range_is_its_header)
{
        struct content_fixture f;
        content_fixture_open(&f, 0);
        for (unsigned format = 0; format < 2; format++) {
                struct file_row range = range_of(&f, format, 1, 0);
                struct content *content = NULL;
                uint64_t ino = 0, size = 0;
                int64_t mtime = 0;
                size_t got = 1;
                char byte;
                cr_assert_eq(content_open_range(f.pool, &range, &content), 0);
                cr_assert_eq(content_measure(content, f.db, NULL), 0);
                content_status(content, &ino, &size, &mtime);
                cr_expect_eq(size, format == 0 ? sizeof "__$start_lsn,__$seqval,__$operation,"
                                                        "__$update_mask,id,v,w"
                                               : 0);
                cr_expect_eq(content_read(content, f.db, size, &byte, 1, &got), 0);
                cr_expect_eq(got, 0);
                content_close(content);
        }
        cr_expect_eq(content_open(f.pool, f.db, CONTENT_FIRST_RANGE + 9, &(struct content *){NULL}),
                -ENOENT);
        content_fixture_close(&f);
}

static bool count_down(void *context)
{
        return --*(int *)context < 0;
}

Test(content, measuring_can_be_stopped_and_goes_on_where_it_was)
{
        struct content_fixture f;
        content_fixture_open(&f, 0);
        files_fixture_commit(&f.files, f.object_id, 40000, 100);
        struct file_row range = range_of(&f, 0, 1, 40000);
        struct content *content = NULL;
        int rounds = 0;
        cr_assert_eq(content_open_range(f.pool, &range, &content), 0);
        int r = -EINTR;
        for (; r == -EINTR; rounds++) {
                int left = 2;
                struct content_stop stop = {count_down, &left};
                r = content_measure(content, f.db, &stop);
        }
        cr_expect_eq(r, 0);
        cr_expect_gt(rounds, 2);
        cr_expect_lt(rounds, 10);
        content_close(content);
        content_fixture_close(&f);
}

Test(content, a_range_whose_rows_went_is_stale)
{
        struct content_fixture f;
        content_fixture_open(&f, 100000);
        files_fixture_commit(&f.files, f.object_id, 40000, 100);
        struct file_row range = range_of(&f, 0, 1, 40000);
        struct content *content = NULL;
        char byte;
        size_t got = 0;
        cr_assert_eq(content_open_range(f.pool, &range, &content), 0);
        cr_assert_eq(content_measure(content, f.db, NULL), 0);
        store_fixture_check(sql_execute(f.db, "DELETE FROM main_t_CT WHERE id < 1000"), "purge");
        cr_expect_eq(content_read(content, f.db, 100, &byte, 1, &got), -ESTALE);
        content_close(content);
        content_fixture_close(&f);
}
