/* SPDX-License-Identifier: MIT */
#include "mount_fixture.h"

/* Waits until the file that is open has another size. */
static off_t next_size(int fd, off_t before)
{
        struct stat info = {.st_size = before};
        for (int i = 0; i < 300 && info.st_size == before; i++) {
                usleep(10000);
                cr_assert_eq(fstat(fd, &info), 0);
        }
        return info.st_size;
}

Test(ops_live, an_open_file_grows_and_its_name_moves_on)
{
        struct mount_fixture f;
        struct stat before, after, closed;
        mount_fixture_open(&f, "nojobs");
        const char *path = mount_fixture_path(&f, "main_t/live/all.csv");
        cr_assert_eq(stat(path, &before), 0);
        int fd = open(path, O_RDONLY);
        off_t size = before.st_size;
        for (unsigned i = 0; i < 5; i++) {
                char line[4096];
                files_fixture_commit(&f.files, f.object_id, 2, 10);
                off_t grown = next_size(fd, size);
                cr_assert_gt(grown, size);
                cr_assert_eq(pread(fd, line, sizeof line, size), grown - size);
                cr_expect_eq(line[grown - size - 1], '\n');
                cr_expect_null(memchr(line, 0, (size_t)(grown - size)));
                size = grown;
        }
        files_fixture_rotate(&f.files);
        cr_assert_eq(stat(path, &after), 0);
        cr_expect_neq(after.st_ino, before.st_ino);
        cr_expect_lt(after.st_size, size);
        cr_assert_eq(stat(mount_fixture_file(&f, 0, 1), &closed), 0);
        cr_expect_eq(closed.st_ino, before.st_ino);
        cr_expect_eq(closed.st_size, size);
        cr_assert_eq(fstat(fd, &after), 0);
        cr_expect_eq(after.st_size, size);
        cr_expect_eq(after.st_ino, before.st_ino);
        close(fd);
        mount_fixture_close(&f);
}

Test(ops_live, a_large_size_is_found_by_a_reader_and_told_right)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs,max_threads=2");
        files_fixture_commit(&f.files, f.object_id, 20000, 100);
        for (unsigned format = 0; format < render_count(); format++) {
                struct stat info;
                char name[64];
                snprintf(name, sizeof name, "main_t/live/all%s", render_at(format)->suffix);
                cr_assert_eq(stat(mount_fixture_path(&f, name), &info), 0);
                cr_expect_gt(info.st_size, 20000 * 100);
                cr_expect_eq(info.st_blocks, (info.st_size + 511) / 512);
        }
        mount_fixture_close(&f);
}
