/* SPDX-License-Identifier: MIT
 *
 * content_read: files that are sealed, and random reads in them.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>

#include "faces/content_private.h"
#include "files_fixture.h"
#include "prng.h"

struct fixture {
        struct files_fixture files;
        int64_t object_id;
        struct content_pool *pool;
        struct file_row file;
        struct buf whole;
};

/* A closed file of some MiB, sealed with its checkpoints or without. */
static void open_fixture(struct fixture *f, unsigned rows, bool has_checkpoints)
{
        memset(f, 0, sizeof *f);
        files_fixture_open(&f->files);
        f->object_id = files_fixture_table(&f->files, "t");
        files_fixture_commit(&f->files, f->object_id, rows, 100);
        files_fixture_rotate(&f->files);
        sqlite3 *db = store_db(f->files.base.store);
        if (!has_checkpoints)
                store_fixture_check(sql_execute(db, "DELETE FROM cdcfs_checkpoints"), "delete");
        struct files files = {0};
        cr_assert_eq(files_list(db, f->object_id, "csv", 0, 1, &files), 0);
        f->file = files.items[0];
        files_release(&files);
        struct filebytes_position position = filebytes_start(&f->file);
        cr_assert_eq(filebytes_render(db, &f->file, SIZE_MAX / 4, &position, &f->whole, NULL), 0);
        cr_assert_eq(content_pool_new(f->files.base.tmp.directory, 0, NULL, &f->pool), 0);
}

static void close_fixture(struct fixture *f)
{
        content_pool_free(f->pool);
        buf_release(&f->whole);
        files_fixture_close(&f->files);
}

static void expect_part(struct fixture *f, struct content *content, uint64_t offset, size_t size)
{
        char *buffer = malloc(size + 1);
        size_t got = 0, left = offset < f->whole.size ? f->whole.size - (size_t)offset : 0;
        sqlite3 *db = store_db(f->files.base.store);
        cr_assert_eq(content_read(content, db, offset, buffer, size, &got), 0);
        cr_assert_eq(got, size < left ? size : left);
        cr_assert_eq(memcmp(buffer, f->whole.data + (got ? offset : 0), got), 0);
        free(buffer);
}

Test(content_read, the_end_of_a_sealed_file_costs_what_stands_there)
{
        struct fixture f;
        open_fixture(&f, 50000, true);
        struct content *content = NULL;
        sqlite3 *db = store_db(f.files.base.store);
        cr_assert_gt(f.whole.size, 7 << 20);
        cr_assert_eq(content_open(f.pool, db, f.file.ino, &content), 0);
        cr_expect(content->is_whole);
        expect_part(&f, content, f.whole.size - 100, 200);
        cr_expect_leq(content_pool_bytes(f.pool), (1 << 20) + (1 << 14));
        expect_part(&f, content, f.whole.size / 2, 5000);
        cr_expect_leq(content_pool_bytes(f.pool), 2 * ((1 << 20) + (1 << 14)));
        content_close(content);
        close_fixture(&f);
}

Test(content_read, random_reads_are_right_with_checkpoints_and_without)
{
        for (int has_checkpoints = 0; has_checkpoints < 2; has_checkpoints++) {
                struct fixture f;
                open_fixture(&f, 30000, has_checkpoints);
                struct content *content = NULL;
                struct prng prng = {42};
                sqlite3 *db = store_db(f.files.base.store);
                cr_assert_eq(content_open(f.pool, db, f.file.ino, &content), 0);
                for (int i = 0; i < 300; i++)
                        expect_part(&f, content, prng_below(&prng, (uint32_t)f.whole.size + 1000),
                                prng_below(&prng, i % 10 ? 5000 : 3 << 20));
                cr_expect_eq(content_pool_bytes(f.pool) <= f.whole.size, true);
                content_close(content);
                close_fixture(&f);
        }
}

Test(content_read, a_piece_that_comes_out_otherwise_is_an_error_and_the_others_are_read)
{
        struct fixture f;
        open_fixture(&f, 30000, true);
        sqlite3 *db = store_db(f.files.base.store);
        struct content *content = NULL;
        char byte;
        size_t got = 0;
        store_fixture_check(sql_execute(db, "DELETE FROM main_t_CT WHERE id = 29000"), "delete");
        cr_assert_eq(content_open(f.pool, db, f.file.ino, &content), 0);
        expect_part(&f, content, 0, 1 << 20);
        cr_expect_eq(content_read(content, db, f.whole.size - 9, &byte, 1, &got), -EIO);
        content_close(content);
        close_fixture(&f);
}
