/* SPDX-License-Identifier: MIT */
#include "faces/content.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>

#include "faces/filebytes.h"
#include "files_fixture.h"

struct fixture {
        struct files_fixture files;
        int64_t object_id;
        struct content_pool *pool;
        sqlite3 *db;
};

static void open_fixture(struct fixture *f, uint64_t budget)
{
        files_fixture_open(&f->files);
        f->object_id = files_fixture_table(&f->files, "t");
        f->db = store_db(f->files.base.store);
        cr_assert_eq(content_pool_new(f->files.base.tmp.directory, budget, NULL, &f->pool), 0);
}

static void close_fixture(struct fixture *f)
{
        content_pool_free(f->pool);
        files_fixture_close(&f->files);
}

static void add_file(struct fixture *f, unsigned rows, size_t size)
{
        files_fixture_commit(&f->files, f->object_id, rows, size);
        files_fixture_rotate(&f->files);
}

static struct file_row file_at(struct fixture *f, unsigned format, int64_t ordinal)
{
        struct files files = {0};
        cr_assert_eq(
                files_list(f->db, f->object_id, render_at(format)->name, ordinal - 1, 1, &files),
                0);
        cr_assert_eq(files.count, 1);
        struct file_row file = files.items[0];
        files_release(&files);
        return file;
}

/* All bytes of a file. */
static void render_whole(struct fixture *f, const struct file_row *file, struct buf *buf)
{
        struct filebytes_position position = filebytes_start(file);
        cr_assert_eq(filebytes_render(f->db, file, SIZE_MAX / 4, &position, buf, NULL), 0);
}

Test(content, reads_any_part_of_a_file_without_short_counts)
{
        struct fixture f;
        open_fixture(&f, 0);
        add_file(&f, 6000, 100);
        struct file_row file = file_at(&f, 0, 1);
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
        close_fixture(&f);
}

Test(content, renders_only_what_is_asked_for)
{
        struct fixture f;
        open_fixture(&f, 0);
        add_file(&f, 20000, 100);
        struct content *content = NULL;
        char buffer[100];
        size_t got = 0;
        cr_assert_eq(content_open(f.pool, f.db, file_at(&f, 0, 1).ino, &content), 0);
        cr_expect_eq(content_pool_bytes(f.pool), 0);
        cr_expect_eq(content_try_read(content, 0, buffer, sizeof buffer, &got), -EAGAIN);
        cr_expect_eq(content_read(content, f.db, 0, buffer, sizeof buffer, &got), 0);
        cr_expect_eq(content_try_read(content, 0, buffer, sizeof buffer, &got), 0);
        cr_expect_eq(got, sizeof buffer);
        cr_expect_leq(content_pool_bytes(f.pool), 2 * CONTENT_PIECE_FIRST);
        cr_expect_eq(content_try_read(content, 1 << 20, buffer, sizeof buffer, &got), -EAGAIN);
        content_close(content);
        close_fixture(&f);
}

Test(content, keeps_to_its_budget_and_keeps_what_was_used_last)
{
        struct fixture f;
        open_fixture(&f, 500000);
        for (int i = 0; i < 6; i++)
                add_file(&f, 2000, 50);
        char *buffer = malloc(1 << 20);
        for (int64_t ordinal = 1; ordinal <= 6; ordinal++) {
                struct content *content = NULL;
                size_t got = 0;
                struct file_row file = file_at(&f, 0, ordinal);
                cr_assert_eq(content_open(f.pool, f.db, file.ino, &content), 0);
                cr_assert_eq(content_read(content, f.db, 0, buffer, 1 << 20, &got), 0);
                cr_expect_eq(got, (size_t)file.bytes);
                content_close(content);
                cr_expect_leq(content_pool_bytes(f.pool), 500000);
        }
        struct content *last = NULL, *first = NULL;
        size_t got = 0;
        cr_assert_eq(content_open(f.pool, f.db, file_at(&f, 0, 6).ino, &last), 0);
        cr_assert_eq(content_open(f.pool, f.db, file_at(&f, 0, 1).ino, &first), 0);
        cr_expect_eq(content_try_read(last, 0, buffer, 100, &got), 0);
        cr_expect_eq(content_try_read(first, 0, buffer, 100, &got), -EAGAIN);
        content_close(last);
        content_close(first);
        free(buffer);
        close_fixture(&f);
}

Test(content, never_lets_go_of_a_file_that_is_open)
{
        struct fixture f;
        open_fixture(&f, 1);
        add_file(&f, 2000, 50);
        add_file(&f, 2000, 50);
        struct content *contents[2] = {NULL, NULL}, *again = NULL;
        char buffer[100];
        size_t got = 0;
        for (int i = 0; i < 2; i++) {
                cr_assert_eq(
                        content_open(f.pool, f.db, file_at(&f, 0, i + 1).ino, &contents[i]), 0);
                cr_assert_eq(content_read(contents[i], f.db, 0, buffer, 100, &got), 0);
        }
        cr_assert_eq(content_open(f.pool, f.db, file_at(&f, 0, 1).ino, &again), 0);
        cr_expect_eq(again, contents[0]);
        content_close(again);
        for (int i = 0; i < 2; i++) {
                cr_expect_eq(content_try_read(contents[i], 0, buffer, 100, &got), 0);
                content_close(contents[i]);
        }
        cr_expect_eq(content_pool_bytes(f.pool), 0);
        close_fixture(&f);
}

Test(content, refuses_what_does_not_come_out_as_it_was_measured)
{
        static const char *const changes[] = {
                "UPDATE cdcfs_files SET bytes = bytes + 1",
                "UPDATE cdcfs_files SET bytes = bytes - 2",
                "DELETE FROM main_t_CT WHERE rowid % 3 = 0",
        };
        for (size_t i = 0; i < COUNT(changes); i++) {
                struct fixture f;
                open_fixture(&f, 0);
                add_file(&f, 500, 50);
                cr_assert_eq(sql_execute(f.db, changes[i]), 0);
                struct content *content = NULL;
                char *buffer = malloc(1 << 20);
                size_t got = 0;
                cr_assert_eq(content_open(f.pool, f.db, file_at(&f, 0, 1).ino, &content), 0);
                cr_expect_eq(content_read(content, f.db, 0, buffer, 1 << 20, &got), -EIO, "%s",
                        changes[i]);
                cr_expect_eq(content_read(content, f.db, 0, buffer, 1 << 20, &got), -EIO);
                content_close(content);
                free(buffer);
                close_fixture(&f);
        }
}

Test(content, tells_files_that_are_not_there)
{
        struct fixture f;
        open_fixture(&f, 0);
        files_fixture_commit(&f.files, f.object_id, 10, 10);
        struct content *content = NULL;
        struct file_row live;
        cr_assert_eq(files_find_live(f.db, f.object_id, "csv", &live), 1);
        cr_expect_eq(content_open(f.pool, f.db, 1, &content), -ENOENT);
        cr_expect_eq(content_open(f.pool, f.db, live.ino, &content), -ENOENT);
        close_fixture(&f);
}

Test(content, puts_large_files_on_the_disk_and_leaves_no_name)
{
        struct fixture f;
        open_fixture(&f, 0);
        add_file(&f, 9000, 1000);
        struct file_row file = file_at(&f, 0, 1);
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
        close_fixture(&f);
}
