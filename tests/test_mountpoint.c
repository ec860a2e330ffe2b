/* SPDX-License-Identifier: MIT */
#include "mountpoint.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tmp.h"

Test(mountpoint, paths_become_absolute_even_if_the_last_part_is_missing)
{
        struct tmp tmp;
        char *path = NULL, link[300], want[300];
        tmp_open(&tmp);
        cr_assert_eq(chdir(tmp.directory), 0);
        cr_assert_eq(mountpoint_absolute("missing.db", &path), 0);
        snprintf(want, sizeof want, "%s/missing.db", tmp.directory);
        cr_expect_str_eq(path, want);
        free(path);
        cr_assert_eq(mkdir("real", 0755), 0);
        cr_assert_eq(symlink("real", "link"), 0);
        cr_assert_eq(mountpoint_absolute("./link/../link/", &path), 0);
        snprintf(link, sizeof link, "%s/real", tmp.directory);
        cr_expect_str_eq(path, link);
        free(path);
        cr_assert_eq(mountpoint_absolute("/", &path), 0);
        cr_expect_str_eq(path, "/");
        free(path);
        cr_expect_eq(mountpoint_absolute("no/such/directory", &path), -ENOENT);
        cr_assert_eq(chdir("/"), 0);
        tmp_close(&tmp);
}

Test(mountpoint, knows_what_lies_inside)
{
        static const struct {
                const char *directory, *path;
                bool is_inside;
        } cases[] = {{"/a", "/a", true}, {"/a", "/a/b", true}, {"/a", "/ab", false},
                {"/a/b", "/a", false}, {"/", "/a", true}, {"/a/", "/a/b", true}};
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
                cr_expect_eq(mountpoint_contains(cases[i].directory, cases[i].path),
                        cases[i].is_inside, "%s %s", cases[i].directory, cases[i].path);
}

Test(mountpoint, must_be_a_directory)
{
        struct tmp tmp;
        char error[MOUNTPOINT_ERROR_SIZE] = "", path[300];
        tmp_open(&tmp);
        cr_expect_eq(mountpoint_prepare(tmp.directory, error), 0);
        snprintf(path, sizeof path, "%s/file", tmp.directory);
        cr_expect_eq(mountpoint_prepare(path, error), -ENOENT);
        cr_expect(strstr(error, path));
        tmp_write(path, "", 0);
        cr_expect_eq(mountpoint_prepare(path, error), -ENOTDIR);
        tmp_close(&tmp);
}
