/* SPDX-License-Identifier: MIT */
#include "faces/livefile.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "files_fixture.h"

enum { TABLES = 12 };

struct fixture {
        struct files_fixture files;
        uint64_t inos[TABLES];
        struct livefile_pool *pool;
        sqlite3 *db;
};

/* Tables with a live file of some 20 KB each. */
static void open_fixture(struct fixture *f, uint64_t budget)
{
        files_fixture_open(&f->files);
        f->db = store_db(f->files.base.store);
        for (unsigned i = 0; i < TABLES; i++) {
                char name[16];
                struct file_row file;
                snprintf(name, sizeof name, "t%u", i);
                int64_t object_id = files_fixture_table(&f->files, name);
                files_fixture_commit(&f->files, object_id, 100, 150);
                cr_assert_eq(files_find_live(f->db, object_id, "csv", &file), 1);
                f->inos[i] = file.ino;
        }
        cr_assert_eq(livefile_pool_new(f->files.base.tmp.directory, budget, f, &f->pool), 0);
}

static void close_fixture(struct fixture *f)
{
        livefile_pool_free(f->pool);
        files_fixture_close(&f->files);
}

static struct livefile *open_and_read(struct fixture *f, uint64_t ino, size_t *ret_size)
{
        static char bytes[65536];
        struct livefile *livefile = NULL;
        cr_assert_eq(livefile_open(f->pool, f->db, ino, &livefile), 0);
        cr_assert_eq(livefile_read(livefile, f->db, 0, bytes, sizeof bytes, ret_size), 0);
        return livefile;
}

Test(livefile_pool, keeps_sizes_of_what_was_looked_at_and_bytes_of_what_is_read)
{
        struct fixture f;
        size_t size = 0;
        open_fixture(&f, 0);
        for (unsigned i = 0; i < TABLES; i++) {
                struct livefile_status status;
                cr_assert_eq(livefile_stat(f.pool, f.db, f.inos[i], &status), 0);
        }
        cr_expect_eq(livefile_pool_count(f.pool), TABLES);
        cr_expect_eq(livefile_pool_bytes(f.pool), 0);
        struct livefile *livefile = open_and_read(&f, f.inos[3], &size);
        cr_expect_eq(livefile_owner(livefile), &f);
        cr_expect_eq(livefile_pool_bytes(f.pool), size);
        livefile_close(livefile);
        cr_expect_eq(livefile_pool_bytes(f.pool), size);
        close_fixture(&f);
}

Test(livefile_pool, lets_the_bytes_go_that_nobody_has_open_oldest_first)
{
        struct fixture f;
        size_t size = 0, again = 0;
        open_fixture(&f, 50000);
        struct livefile *open = open_and_read(&f, f.inos[0], &again);
        livefile_close(open_and_read(&f, f.inos[1], &size));
        for (unsigned i = 2; i < TABLES; i++)
                livefile_close(open_and_read(&f, f.inos[i], &again));
        cr_expect_leq(livefile_pool_bytes(f.pool), 50000 + 30000);
        cr_expect_eq(livefile_pool_count(f.pool), TABLES);
        /* What went is made again; what is open stayed. */
        livefile_close(open_and_read(&f, f.inos[1], &again));
        cr_expect_eq(again, size);
        char byte;
        cr_expect_eq(livefile_try_read(open, 100, &byte, 1, &again), 0);
        livefile_close(open);
        close_fixture(&f);
}
