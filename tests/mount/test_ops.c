/* SPDX-License-Identifier: MIT */
#include "mount_fixture.h"

#include <errno.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

static size_t read_to_end(int fd)
{
        char buffer[777];
        size_t size = 0;
        ssize_t got;
        while ((got = read(fd, buffer, sizeof buffer)) > 0)
                size += (size_t)got;
        return size;
}

Test(ops, sizes_are_right_at_the_first_stat)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        mount_fixture_add(&f, 5000);
        for (unsigned format = 0; format < render_count(); format++) {
                struct stat before, after;
                const char *path = mount_fixture_file(&f, format, 1);
                cr_assert_eq(stat(path, &before), 0);
                int fd = open(path, O_RDONLY);
                cr_expect_eq(read_to_end(fd), (size_t)before.st_size);
                cr_expect_eq(fstat(fd, &after), 0);
                cr_expect_eq(before.st_size, after.st_size);
                cr_expect_eq(before.st_ino, after.st_ino);
                close(fd);
        }
        mount_fixture_close(&f);
}

Test(ops, a_document_that_is_open_stays_as_it_was)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        char before[64] = "", after[64] = "";
        struct stat one, two;
        int fd = open(mount_fixture_path(&f, "main_t/max_lsn"), O_RDONLY);
        cr_assert_geq(fd, 0);
        mount_fixture_add(&f, 1);
        cr_expect_eq(stat(mount_fixture_path(&f, "main_t/max_lsn"), &two), 0);
        cr_expect_eq(fstat(fd, &one), 0);
        cr_expect_eq(one.st_ino, two.st_ino);
        int other = open(mount_fixture_path(&f, "main_t/max_lsn"), O_RDONLY);
        cr_expect_eq(pread(fd, before, 63, 0), one.st_size);
        cr_expect_eq(pread(other, after, 63, 0), two.st_size);
        cr_expect_str_neq(before, after);
        cr_expect_eq(pread(fd, before, 63, 1000), 0);
        close(fd);
        close(other);
        mount_fixture_close(&f);
}

Test(ops, what_is_not_there_is_not_there)
{
        static const char *const names[] = {"x", ".Trash", ".Trash-0", ".hidden", "main_t/x",
                "main_t/all/csv/x.csv", "main_t/all/x"};
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        struct stat info;
        for (size_t i = 0; i < COUNT(names); i++) {
                for (int again = 0; again < 2; again++) {
                        cr_expect_eq(stat(mount_fixture_path(&f, names[i]), &info), -1);
                        cr_expect_eq(errno, ENOENT, "%s", names[i]);
                }
        }
        mount_fixture_close(&f);
}

Test(ops, statfs_is_real_and_attributes_beyond_stat_are_none)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        mount_fixture_add(&f, 5000);
        struct statvfs info;
        char value[16];
        cr_assert_eq(statvfs(f.mountpoint, &info), 0);
        cr_expect_gt(info.f_blocks, 10);
        cr_expect_eq(info.f_bavail, 0);
        cr_expect_eq(info.f_files, render_count());
        cr_expect(info.f_flag & ST_RDONLY);
        cr_expect_eq(getxattr(f.mountpoint, "user.x", value, sizeof value), -1);
        cr_expect_eq(errno, EOPNOTSUPP);
        mount_fixture_close(&f);
}

Test(ops, a_file_that_does_not_come_out_right_is_an_error_and_no_short_read)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        mount_fixture_add(&f, 20000);
        store_fixture_check(
                sql_execute(store_db(f.files.base.store), "DELETE FROM main_t_CT WHERE id = 15000"),
                "delete");
        char byte;
        struct stat info;
        int fd = open(mount_fixture_file(&f, 0, 1), O_RDONLY);
        cr_assert_eq(fstat(fd, &info), 0);
        cr_expect_eq(pread(fd, &byte, 1, 0), 1);
        cr_expect_eq(pread(fd, &byte, 1, info.st_size - 1), -1);
        cr_expect_eq(errno, EIO);
        close(fd);
        mount_fixture_close(&f);
}
