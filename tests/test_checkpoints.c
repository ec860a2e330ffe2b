/* SPDX-License-Identifier: MIT */
#include "memory/checkpoints.h"

#include <criterion/criterion.h>

#include "ground/cleanup.h"
#include "store_fixture.h"

static struct checkpoints make(unsigned count)
{
        struct checkpoints checkpoints = {0};
        for (unsigned i = 0; i < count; i++)
                cr_assert_eq(checkpoints_append(&checkpoints, 1000 * (i + 1), 7 * (i + 1)), 0);
        return checkpoints;
}

static void add(struct store_fixture *f, uint64_t ino, const struct checkpoints *checkpoints)
{
        store_fixture_begin(f);
        cr_assert_eq(checkpoints_add(f->store, ino, checkpoints), 0);
        store_fixture_commit(f);
}

Test(checkpoints, come_back_by_file_and_in_order)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        _cleanup_(checkpoints_release) struct checkpoints ten = make(10), one = make(1), none = {0};
        add(&f, 5, &ten);
        add(&f, 6, &one);
        add(&f, 7, &none);
        for (uint64_t ino = 5; ino < 8; ino++) {
                const struct checkpoints *wanted = ino == 5 ? &ten : ino == 6 ? &one : &none;
                _cleanup_(checkpoints_release) struct checkpoints got = {0};
                cr_assert_eq(checkpoints_load(store_db(f.store), ino, &got), 0);
                cr_assert_eq(got.count, wanted->count);
                for (size_t i = 0; i < got.count; i++) {
                        cr_expect_eq(got.items[i].offset, wanted->items[i].offset);
                        cr_expect_eq(got.items[i].change, wanted->items[i].change);
                }
        }
        store_fixture_close(&f);
}

Test(checkpoints, go_with_the_row_of_their_file)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        _cleanup_(checkpoints_release) struct checkpoints two = make(2);
        store_fixture_check(sql_execute(store_db(f.store),
                                    "INSERT INTO cdcfs_files(ino, object_id, format, ordinal,"
                                    "  renderer_version, from_lsn, first_change)"
                                    " VALUES(5, 1, 'csv', 1, 1, x'00', 1),"
                                    "       (6, 1, 'csv', 2, 1, x'01', 1)"),
                "insert");
        add(&f, 5, &two);
        add(&f, 6, &two);
        store_fixture_check(
                sql_execute(store_db(f.store), "DELETE FROM cdcfs_files WHERE ino = 5"), "delete");
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM cdcfs_checkpoints"), 2);
        cr_expect_eq(store_fixture_integer(&f, "SELECT max(ino) FROM cdcfs_checkpoints"), 6);
        store_fixture_close(&f);
}
