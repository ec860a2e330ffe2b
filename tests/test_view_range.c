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
        return cdc_range_open(f->view, f->instance, 0, name, NULL, NULL, ret_content);
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
                cr_assert_eq(
                        cdc_range_open(f.view, f.instance, i == 2,
                                name_of(2, 4, i == 2 ? ".jsonl" : ".csv"), NULL, NULL, &content),
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
        cr_expect(cdc_range_is_name(0, "20261130T100001Z-20261130T100000Z.csv"));
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
        cr_expect_eq(
                cdc_range_open(f.view, f.instance, 0, name_of(2, 3, ".csv"), NULL, &stop, &content),
                -EINTR);
        cr_assert_eq(open_range(&f, name_of(2, 3, ".csv"), &content), 0);
        cdc_content_close(content);
        close_fixture(&f);
}

/* ---- by time: the commit of frame N is of the Nth second after 10:00:00 ---- */

static const struct cdc_pulse pulse = {.as_of_ns = STORE_FIXTURE_NOW + INT64_C(10000000000)};

static int open_window(struct fixture *f, const char *from, const char *to,
        const struct cdc_pulse *as_of, struct cdc_content **ret_content)
{
        char name[100];
        snprintf(name, sizeof name, "20261130T1000%sZ-20261130T1000%sZ.csv", from, to);
        return cdc_range_open(f->view, f->instance, 0, name, as_of, NULL, ret_content);
}

Test(view_range, by_time_is_after_the_first_and_up_to_the_second)
{
        static const struct {
                const char *from, *to;
                unsigned commits;
                int64_t newest; /* the second of its mtime */
        } cases[] = {
                {"01", "02", 1, 2},
                {"01", "06", 5, 6},
                {"02", "04", 2, 4},
                {"02.5", "04.5", 2, 4},
                {"02.999999", "03", 1, 3},
                {"03", "03", 0, 3},
                {"03", "03.999999", 0, 3},
                {"05", "10", 1, 6},
                {"06", "10", 0, 6},
                {"08", "09", 0, 6},
        };
        struct fixture f;
        open_fixture(&f);
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct cdc_content *content = NULL;
                char bytes[8192];
                uint64_t ino = 0, size = 0;
                int64_t mtime_ns = 0;
                size_t got = 0;
                int r = open_window(&f, cases[i].from, cases[i].to, &pulse, &content);
                cr_assert_eq(r, 0, "%s-%s: %d", cases[i].from, cases[i].to, r);
                cdc_content_status(content, &ino, &size, &mtime_ns);
                cr_expect_geq(ino, CDC_FIRST_RANGE_INO);
                cr_expect_eq(mtime_ns, STORE_FIXTURE_NOW + cases[i].newest * INT64_C(1000000000),
                        "%s-%s", cases[i].from, cases[i].to);
                cr_assert_eq(cdc_content_try_read(content, 0, bytes, sizeof bytes, &got), 0);
                cr_expect_eq(got, size);
                cr_expect_eq(count_lines(bytes, got), 1 + 10 * cases[i].commits, "%s-%s",
                        cases[i].from, cases[i].to);
                cdc_content_close(content);
        }
        close_fixture(&f);
}

Test(view_range, by_time_says_why_not)
{
        static const struct {
                const char *from, *to;
                bool has_pulse;
                int result;
        } cases[] = {
                {"00", "03", true, -ERANGE}, /* begins before what is kept */
                {"00", "00.5", true, -ERANGE}, {"03", "02", true, -EINVAL},
                {"59", "02", true, -EINVAL},
                {"03", "10.000001", true, -ERANGE}, /* ends after as_of */
                {"03", "10", true, -ENODATA}, {"03", "05", true, -ENODATA}, {"01", "04", true, 0},
                {"05", "06", true, 0}, {"05", "06", false, 0},
                {"05", "06.000001", false, -ERANGE}, /* nothing is known but what is captured */
        };
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
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct cdc_content *content = NULL;
                int r = open_window(&f, cases[i].from, cases[i].to,
                        cases[i].has_pulse ? &pulse : NULL, &content);
                cr_expect_eq(r, cases[i].result, "%s-%s: %d", cases[i].from, cases[i].to, r);
                cdc_content_close(content);
        }
        close_fixture(&f);
}

/* The same bytes as by LSN, in each format, and one content as long as it says the same. */
Test(view_range, by_time_keeps_its_number)
{
        struct fixture f;
        open_fixture(&f);
        uint64_t inos[3], size = 0;
        int64_t mtime_ns = 0;
        for (int i = 0; i < 3; i++) {
                struct cdc_content *content = NULL;
                const char *to = i == 2 ? "05" : "04";
                cr_assert_eq(open_window(&f, "02", to, &pulse, &content), 0);
                cdc_content_status(content, &inos[i], &size, &mtime_ns);
                cdc_content_close(content);
        }
        cr_expect_eq(inos[0], inos[1]);
        cr_expect_neq(inos[0], inos[2]);
        close_fixture(&f);
}
