/* SPDX-License-Identifier: MIT */
#include "desk/ahead.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "files_fixture.h"

struct fixture {
        struct files_fixture files;
        int64_t object_id;
        sqlite3 *db;
        struct ahead *ahead;
        atomic_bool is_wanted;
};

static void open_fixture(struct fixture *f)
{
        files_fixture_open(&f->files);
        f->object_id = files_fixture_table(&f->files, "t");
        f->db = store_db(f->files.base.store);
        f->ahead = ahead_new();
        atomic_init(&f->is_wanted, false);
}

static void close_fixture(struct fixture *f)
{
        ahead_free(f->ahead);
        files_fixture_close(&f->files);
}

static void advance(struct fixture *f)
{
        cr_assert_eq(ahead_advance(f->ahead, f->db, f->object_id, f->files.state.next_change - 1,
                             &f->is_wanted),
                0);
}

static struct file_row live_file(struct fixture *f, unsigned format)
{
        struct file_row file;
        cr_assert_eq(files_find_live(f->db, f->object_id, render_at(format)->name, &file), 1);
        return file;
}

static void expect_equal(const struct files_measure *a, const struct files_measure *b)
{
        cr_expect_eq(a->bytes, b->bytes);
        cr_expect_eq(a->rows, b->rows);
        cr_expect_eq(a->odd_text, b->odd_text);
        cr_expect_eq(memcmp(a->sha256, b->sha256, sizeof a->sha256), 0);
}

Test(ahead, measures_what_one_pass_would)
{
        struct fixture f;
        open_fixture(&f);
        for (unsigned i = 0; i < 30; i++) {
                files_fixture_commit(&f.files, f.object_id, 1 + i * 40, 200);
                advance(&f);
                advance(&f);
        }
        files_fixture_commit(&f.files, f.object_id, 10, 200);
        files_fixture_border(&f.files);
        for (unsigned format = 0; format < render_count(); format++) {
                struct file_row file = live_file(&f, format);
                struct files_measure measure, expected;
                struct closer_pass pass = ahead_take(f.ahead, &file);
                cr_expect_gt(pass.position.offset, 3000000, "little is left");
                cr_assert_eq(closer_finish(f.db, &file, NULL, &pass, &measure), 0);
                cr_assert_eq(closer_measure(f.db, &file, NULL, &expected), 0);
                expect_equal(&measure, &expected);
                cr_expect_gt(measure.checkpoints.count, 2);
                for (size_t i = 0; i < measure.checkpoints.count; i++)
                        cr_expect_lt(measure.checkpoints.items[i].offset, (uint64_t)measure.bytes);
                checkpoints_release(&measure.checkpoints);
                checkpoints_release(&expected.checkpoints);
                cr_expect_eq(ahead_take(f.ahead, &file).position.offset, 0, "it was taken");
        }
        close_fixture(&f);
}

Test(ahead, leaves_off_when_it_is_wanted_elsewhere)
{
        struct fixture f;
        open_fixture(&f);
        files_fixture_commit(&f.files, f.object_id, 10000, 300);
        atomic_store(&f.is_wanted, true);
        advance(&f);
        struct file_row file = live_file(&f, 0);
        struct closer_pass pass = ahead_take(f.ahead, &file);
        cr_expect_eq(pass.position.offset, 0);
        closer_release(&pass);
        cr_expect_eq(ahead_advance(f.ahead, f.db, 99, 5, &f.is_wanted), 0);
        close_fixture(&f);
}

Test(ahead, remembers_some_files_and_forgets_the_oldest)
{
        struct fixture f;
        open_fixture(&f);
        struct file_row first = live_file(&f, 0);
        files_fixture_commit(&f.files, f.object_id, 10, 10);
        advance(&f);
        for (unsigned i = 0; i < AHEAD_COUNT / 2 + 1; i++) {
                char name[16];
                snprintf(name, sizeof name, "t%u", i);
                f.object_id = files_fixture_table(&f.files, name);
                files_fixture_commit(&f.files, f.object_id, 10, 10);
                advance(&f);
        }
        struct file_row last = live_file(&f, 0);
        cr_expect_eq(ahead_take(f.ahead, &first).position.offset, 0);
        struct closer_pass pass = ahead_take(f.ahead, &last);
        cr_expect_gt(pass.position.offset, 0);
        closer_release(&pass);
        close_fixture(&f);
}
