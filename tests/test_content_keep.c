/* SPDX-License-Identifier: MIT */
#include "faces/content.h"

#include <criterion/criterion.h>

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

/* All of a file through small reads; is its hash right? */
static bool is_read_right(struct fixture *f, const struct file_row *file)
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

Test(content_keep, holds_on_to_the_bytes_of_a_file_that_goes)
{
        struct fixture f;
        open_fixture(&f, 100000);
        add_file(&f, 30000, 100);
        add_file(&f, 30000, 100);
        struct file_row file = file_at(&f, 0, 1);
        struct content *content = NULL;
        cr_assert_eq(content_open(f.pool, f.db, file.ino, &content), 0);
        store_fixture_check(
                sql_execute(f.db, "UPDATE cdcfs_files SET is_withdrawn = 1 WHERE ordinal = 1"),
                "withdraw");
        cr_assert_eq(content_pool_keep(f.pool, f.db), 0);
        store_fixture_check(sql_execute(f.db, "DELETE FROM main_t_CT WHERE id <= 30000"), "purge");
        struct file_row other = file_at(&f, 0, 2);
        cr_expect(is_read_right(&f, &other));
        cr_expect(is_read_right(&f, &file));
        content_close(content);
        other = file_at(&f, 0, 2);
        cr_expect(is_read_right(&f, &other));
        cr_expect_leq(content_pool_bytes(f.pool), 1200000, "nothing is kept for nobody");
        close_fixture(&f);
}
