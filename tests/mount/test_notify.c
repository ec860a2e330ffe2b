/* SPDX-License-Identifier: MIT */
#include "mount_fixture.h"

static int64_t mtime_of(struct mount_fixture *f, const char *name)
{
        struct stat info;
        cr_assert_eq(stat(mount_fixture_path(f, name), &info), 0);
        return info.st_mtim.tv_sec * INT64_C(1000000000) + info.st_mtim.tv_nsec;
}

static bool moves(struct mount_fixture *f, const char *name, int64_t before)
{
        for (int i = 0; i < 200; i++) {
                if (mtime_of(f, name) > before)
                        return true;
                usleep(10000);
        }
        return false;
}

Test(notify, a_viewer_hears_of_every_commit_though_nobody_asks)
{
        static const char *const names[] = {"main_t/all/csv", "main_t/all", "main_t", "."};
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        for (int round = 0; round < 3; round++) {
                int64_t before[COUNT(names)];
                for (size_t i = 0; i < COUNT(names); i++)
                        before[i] = mtime_of(&f, names[i]);
                mount_fixture_add(&f, 1);
                for (size_t i = 0; i < COUNT(names); i++)
                        cr_expect(moves(&f, names[i], before[i]), "%s", names[i]);
        }
        mount_fixture_close(&f);
}

Test(notify, a_viewer_hears_of_a_writer_that_comes_later)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        cr_expect_eq(mount_fixture_end(&f, SIGTERM), 0);
        segments_free(f.files.segments);
        state_release(&f.files.state);
        store_close(f.files.base.store);
        f.files.base.store = NULL;

        mount_fixture_start(&f, "nojobs");
        int64_t before = mtime_of(&f, "main_t");
        store_fixture_reopen(&f.files.base);
        files_fixture_load(&f.files);
        mount_fixture_add(&f, 1);
        cr_expect(moves(&f, "main_t", before));
        mount_fixture_close(&f);
}
