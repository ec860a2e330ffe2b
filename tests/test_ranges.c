/* SPDX-License-Identifier: MIT */
#include "ranges.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "files_fixture.h"

struct fixture {
        struct files_fixture files;
        struct cdc_view *view;
        struct ranges *ranges;
        int64_t object_id;
};

static void open_fixture(struct fixture *f)
{
        files_fixture_open(&f->files);
        f->object_id = files_fixture_table(&f->files, "t");
        for (int i = 0; i < 5; i++)
                files_fixture_commit(&f->files, f->object_id, 10, 10);
        struct cdc_database database = {.source = f->files.base.source};
        cr_assert_eq(cdc_view_open(&database, &f->view, NULL), 0);
        f->ranges = ranges_new();
}

static void close_fixture(struct fixture *f)
{
        ranges_free(f->ranges);
        cdc_view_close(f->view);
        files_fixture_close(&f->files);
}

static struct cdc_content *open_range(struct fixture *f, uint32_t from, uint32_t to)
{
        char name[64], first[LSN_NAME_SIZE], last[LSN_NAME_SIZE];
        struct cdc_catalog *catalog = cdc_view_catalog(f->view);
        struct cdc_content *content = NULL;
        lsn_format_name(lsn_make(1, from, 1), first);
        lsn_format_name(lsn_make(1, to, 1), last);
        snprintf(name, sizeof name, "%s-%s.csv", first, last);
        cr_assert_eq(cdc_range_open(f->view, cdc_catalog_find_object(catalog, f->object_id), 0,
                             name, NULL, NULL, &content),
                0);
        cdc_catalog_unref(catalog);
        return content;
}

Test(ranges, live_from_the_first_lookup_to_the_last_forget)
{
        struct fixture f;
        struct ranges_status first, again, status;
        open_fixture(&f);
        cr_assert_eq(ranges_take(f.ranges, open_range(&f, 2, 3), &first), 0);
        cr_assert_eq(ranges_take(f.ranges, open_range(&f, 2, 3), &again), 0);
        cr_expect_eq(first.ino, again.ino);
        cr_expect_geq(first.ino, CDC_FIRST_RANGE_INO);
        cr_expect_eq(ranges_count(f.ranges), 1);
        cr_assert_eq(ranges_take(f.ranges, open_range(&f, 2, 4), &again), 0);
        cr_expect_neq(first.ino, again.ino);
        cr_expect_eq(ranges_count(f.ranges), 2);

        ranges_forget(f.ranges, first.ino, 1);
        cr_assert_eq(ranges_status(f.ranges, first.ino, &status), 0);
        cr_expect_eq(status.size, first.size);
        cr_expect_eq(status.mtime_ns, first.mtime_ns);
        ranges_forget(f.ranges, first.ino, 1);
        cr_expect_eq(ranges_status(f.ranges, first.ino, &status), -ESTALE);
        ranges_forget(f.ranges, first.ino, 7);
        cr_expect_eq(ranges_count(f.ranges), 1);

        /* Forgotten, but looked up again soon: the same number, as cp expects. */
        cr_assert_eq(ranges_take(f.ranges, open_range(&f, 2, 3), &again), 0);
        cr_expect_eq(first.ino, again.ino);
        close_fixture(&f);
}
