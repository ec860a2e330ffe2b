/* SPDX-License-Identifier: MIT */
#include "mount_fixture.h"

#include <errno.h>

static int read_whole(const char *path, char **ret_bytes, size_t *ret_size)
{
        enum { SIZE = 4 << 20 };
        int fd = open(path, O_RDONLY);
        if (fd < 0)
                return -errno;
        *ret_bytes = malloc(SIZE);
        *ret_size = 0;
        ssize_t got;
        while ((got = read(fd, *ret_bytes + *ret_size, SIZE - *ret_size)) > 0)
                *ret_size += (size_t)got;
        close(fd);
        return got < 0 ? -errno : 0;
}

Test(ops_file, reads_documents_closed_and_live_files)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        mount_fixture_add(&f, 3000);
        files_fixture_commit(&f.files, f.object_id, 3000, 100);
        const char *paths[] = {mount_fixture_path(&f, "README.txt"), mount_fixture_file(&f, 0, 1),
                mount_fixture_file(&f, 1, 1), mount_fixture_path(&f, "main_t/live/all.csv"),
                mount_fixture_path(&f, "main_t/live/all.jsonl")};
        for (size_t i = 0; i < COUNT(paths); i++) {
                struct stat info;
                char *bytes = NULL;
                size_t size = 0;
                cr_assert_eq(stat(paths[i], &info), 0);
                cr_assert_eq(read_whole(paths[i], &bytes, &size), 0);
                cr_expect_eq(size, (size_t)info.st_size, "%s", paths[i]);
                cr_expect_eq(bytes[size - 1], '\n');
                free(bytes);
        }
        mount_fixture_close(&f);
}

Test(ops_file, opens_for_reading_only)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        cr_expect_eq(open(mount_fixture_path(&f, "main_t/live/all.csv"), O_RDWR), -1);
        cr_expect_eq(errno, EROFS);
        cr_expect_eq(open(mount_fixture_path(&f, "main_t/live/all.csv"), O_RDONLY | O_TRUNC), -1);
        cr_expect_eq(errno, EROFS);
        mount_fixture_close(&f);
}
