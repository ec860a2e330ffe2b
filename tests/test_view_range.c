/* SPDX-License-Identifier: MIT
 *
 * view_range: any range by its name: the bytes of the change function, or the reason why not.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "cdc.h"
#include "files_fixture.h"
#include "memory/history.h"

struct fixture {
        struct files_fixture files;
        int64_t object_id;
        struct cdc_view *view;
        struct cdc_catalog *catalog;
        const struct cdc_instance *instance;
};

/* Recognised at frame 1, then five commits of 10 rows at frames 2 to 6, none of them listed. */
static void open_fixture(struct fixture *f)
{
        files_fixture_open(&f->files);
        f->object_id = files_fixture_table(&f->files, "t");
        for (int i = 0; i < 5; i++)
                files_fixture_commit(&f->files, f->object_id, 10, 10);
        struct cdc_database database = {.source = f->files.base.source};
        cr_assert_eq(cdc_view_open(&database, &f->view, NULL), 0);
        f->catalog = cdc_view_catalog(f->view);
        f->instance = cdc_catalog_find_object(f->catalog, f->object_id);
}

static void close_fixture(struct fixture *f)
{
        cdc_catalog_unref(f->catalog);
        cdc_view_close(f->view);
        files_fixture_close(&f->files);
}

static const char *name_of(uint32_t from, uint32_t to, const char *suffix)
{
        static char name[64];
        char first[LSN_NAME_SIZE], last[LSN_NAME_SIZE];
        lsn_format_name(lsn_make(1, from, 1), first);
        lsn_format_name(lsn_make(1, to, 1), last);
        snprintf(name, sizeof name, "%s-%s%s", first, last, suffix);
        return name;
}

static int open_range(struct fixture *f, const char *name, struct cdc_content **ret_content)
{
        return cdc_range_open(f->view, f->instance, 0, name, NULL, ret_content);
}

static unsigned count_lines(const char *bytes, size_t size)
{
        unsigned lines = 0;
        for (size_t i = 0; i < size; i++)
                lines += bytes[i] == '\n';
        return lines;
}

Test(view_range, holds_exactly_the_rows_of_its_commits)
{
        struct fixture f;
        open_fixture(&f);
        for (uint32_t from = 1; from <= 6; from++) {
                for (uint32_t to = from; to <= 6; to++) {
                        struct cdc_content *content = NULL;
                        char bytes[8192];
                        uint64_t ino = 0, size = 0;
                        int64_t mtime_ns = 0;
                        size_t got = 0;
                        cr_assert_eq(open_range(&f, name_of(from, to, ".csv"), &content), 0);
                        cdc_content_status(content, &ino, &size, &mtime_ns);
                        cr_expect_geq(ino, CDC_FIRST_RANGE_INO);
                        cr_expect_eq(mtime_ns, STORE_FIXTURE_NOW + to * INT64_C(1000000000));
                        cr_assert_eq(
                                cdc_content_try_read(content, 0, bytes, sizeof bytes, &got), 0);
                        cr_expect_eq(got, size);
                        unsigned commits = to - (from > 1 ? from - 1 : 1);
                        cr_expect_eq(count_lines(bytes, got), 1 + 10 * commits);
                        cdc_content_close(content);
                }
        }
        close_fixture(&f);
}

Test(view_range, keeps_its_number_and_the_formats_differ)
{
        struct fixture f;
        open_fixture(&f);
        uint64_t inos[3], size = 0;
        int64_t mtime_ns = 0;
        for (int i = 0; i < 3; i++) {
                struct cdc_content *content = NULL;
                cr_assert_eq(cdc_range_open(f.view, f.instance, i == 2,
                                     name_of(2, 4, i == 2 ? ".jsonl" : ".csv"), NULL, &content),
                        0);
                cdc_content_status(content, &inos[i], &size, &mtime_ns);
                cdc_content_close(content);
        }
        cr_expect_eq(inos[0], inos[1]);
        cr_expect_neq(inos[0], inos[2]);
        close_fixture(&f);
}

Test(view_range, says_why_not)
{
        struct fixture f;
        open_fixture(&f);
        struct history_gap gap = {.object_id = f.object_id,
                .from = lsn_make(1, 4, 2),
                .to = lsn_make(1, 4, 9),
                .time_ns = 1,
                .cause = (char *)"x"};
        store_fixture_begin(&f.files.base);
        store_fixture_check(history_add_gap(f.files.base.store, &gap, &gap.gap), "gap");
        store_fixture_commit(&f.files.base);
        struct cdc_content *content = NULL;
        static const struct {
                uint32_t from, to;
                int result;
        } cases[] = {{2, 4, 0}, {5, 6, 0}, {3, 5, -ENODATA}, {4, 2, -EINVAL}, {6, 5, -EINVAL},
                {0, 3, -ERANGE}, {6, 7, -ERANGE}, {7, 7, -ERANGE}, {7, 9, -ERANGE}, {8, 9, -ERANGE},
                {9, 8, -EINVAL}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                int r = open_range(&f, name_of(cases[i].from, cases[i].to, ".csv"), &content);
                cr_expect_eq(r, cases[i].result, "%u-%u: %d", cases[i].from, cases[i].to, r);
                if (r == 0)
                        cdc_content_close(content);
        }
        static const char *const names[] = {"", ".csv", "x", "00000001000000020001.csv",
                "00000001000000020001-00000001000000030001",
                "00000001000000020001-00000001000000030001.jsonl",
                "00000001000000020001-00000001000000030001.csvx",
                "0000000100000002000A-00000001000000030001.csv",
                "00000001000000020001_00000001000000030001.csv",
                "00000001:00000002:0001-00000001000000030001.csv"};
        for (size_t i = 0; i < COUNT(names); i++) {
                cr_expect_eq(open_range(&f, names[i], &content), -ENOENT, "%s", names[i]);
                cr_expect_not(cdc_range_is_name(0, names[i]), "%s", names[i]);
        }
        cr_expect(cdc_range_is_name(0, name_of(9, 1, ".csv")));
        cr_expect(cdc_range_is_name(1, name_of(9, 1, ".jsonl")));
        cr_expect_not(cdc_range_is_name(9, name_of(9, 1, ".csv")));
        close_fixture(&f);
}

static bool is_stopped(void *context)
{
        return true;
}

Test(view_range, can_be_stopped_and_tried_again)
{
        struct fixture f;
        open_fixture(&f);
        struct cdc_content *content = NULL;
        const struct cdc_stop stop = {is_stopped, NULL};
        cr_expect_eq(cdc_range_open(f.view, f.instance, 0, name_of(2, 3, ".csv"), &stop, &content),
                -EINTR);
        cr_assert_eq(open_range(&f, name_of(2, 3, ".csv"), &content), 0);
        cdc_content_close(content);
        close_fixture(&f);
}
