/* SPDX-License-Identifier: MIT */
#include "faces/spool.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

#include "tmp.h"

static void write_and_read(int fd)
{
        char bytes[5000], back[5000];
        for (size_t i = 0; i < sizeof bytes; i++)
                bytes[i] = (char)(i * 7);
        cr_expect_eq(spool_write(fd, bytes, sizeof bytes, 0), 0);
        cr_expect_eq(spool_write(fd, bytes, 10, sizeof bytes), 0);
        cr_expect_eq(spool_read(fd, back, sizeof back, 0), 0);
        cr_expect_eq(memcmp(bytes, back, sizeof back), 0);
        cr_expect_eq(spool_read(fd, back, 15, sizeof bytes - 5), 0);
        cr_expect_eq(memcmp(back + 5, bytes, 10), 0);
        cr_expect_eq(spool_read(fd, back, 11, sizeof bytes), -EIO);
}

Test(spool, keeps_bytes_in_memory_or_on_the_disk_without_a_name)
{
        static const uint64_t sizes[] = {0, SPOOL_MEMORY_SIZE - 1, SPOOL_MEMORY_SIZE, 1 << 30};
        struct tmp tmp;
        tmp_open(&tmp);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                int fd = -1;
                cr_assert_eq(spool_open(tmp.directory, sizes[i], &fd), 0);
                write_and_read(fd);
                struct run_result result = run("ls -A %s", tmp.directory);
                cr_expect_str_eq(result.text, "");
                run_release(&result);
                close(fd);
        }
        tmp_close(&tmp);
}

Test(spool, goes_elsewhere_where_it_may_not_write)
{
        int fd = -1;
        cr_assert_eq(spool_open("/does/not/exist", 1 << 30, &fd), 0);
        write_and_read(fd);
        close(fd);
}
