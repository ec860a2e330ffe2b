/* SPDX-License-Identifier: MIT */
#include "faces/livefile_private.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "files_fixture.h"

static uint64_t live_ino(struct files_fixture *f, int64_t object_id)
{
        struct file_row file;
        cr_assert_eq(files_find_live(store_db(f->base.store), object_id, "csv", &file), 1);
        return file.ino;
}

Test(livefile_look, ends_where_the_store_does_or_where_the_file_was_closed)
{
        struct files_fixture f;
        struct livefile_look look;
        files_fixture_open(&f);
        sqlite3 *db = store_db(f.base.store);
        int64_t t = files_fixture_table(&f, "t"), u = files_fixture_table(&f, "u");
        uint64_t ino = live_ino(&f, t);
        cr_assert_eq(livefile_look(db, ino, &look), 0);
        cr_expect_eq(look.end + 1, look.file.first_change);
        files_fixture_commit(&f, t, 3, 1);
        files_fixture_commit(&f, u, 4, 1);
        cr_assert_eq(livefile_look(db, ino, &look), 0);
        cr_expect_eq(look.end, 7, "another table's changes count");
        files_fixture_border(&f);
        files_fixture_commit(&f, t, 3, 1);
        cr_assert_eq(livefile_look(db, ino, &look), 0);
        cr_expect_eq(look.end, 3, "nothing of the next file");
        cr_expect_eq(livefile_look(db, ino + 1000, &look), -ENOENT);
        files_fixture_close(&f);
}

Test(livefile_look, finds_the_time_of_the_last_row)
{
        struct files_fixture f;
        int64_t time_ns = 0;
        files_fixture_open(&f);
        sqlite3 *db = store_db(f.base.store);
        int64_t t = files_fixture_table(&f, "t"), u = files_fixture_table(&f, "u");
        cr_expect_eq(livefile_find_last(db, t, 1, 100, &time_ns), 0);
        files_fixture_commit(&f, t, 3, 1);
        int64_t committed_ns = f.now_ns;
        files_fixture_commit(&f, u, 4, 1);
        cr_expect_eq(livefile_find_last(db, t, 1, 100, &time_ns), 1);
        cr_expect_eq(time_ns, committed_ns);
        cr_expect_eq(livefile_find_last(db, t, 4, 100, &time_ns), 0);
        cr_expect_eq(livefile_find_last(db, 99, 1, 100, &time_ns), -ENOENT);
        cr_expect_eq(livefile_find_begin(db, t, &time_ns), 0);
        cr_expect_gt(time_ns, 0);
        cr_expect_eq(livefile_find_begin(db, 99, &time_ns), -ENOENT);
        files_fixture_close(&f);
}
