/* SPDX-License-Identifier: MIT */
#include "mount_fixture.h"

#include <time.h>

enum { READERS = 8 };

/* A process that reads a file and compares its size; exits with 0 if it is right. */
static pid_t start_reader(const char *path, size_t want)
{
        pid_t reader = fork();
        if (reader == 0) {
                static char buffer[65536];
                size_t size = 0;
                ssize_t got;
                int fd = open(path, O_RDONLY);
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                while ((got = read(fd, buffer, sizeof buffer)) > 0)
                        size += (size_t)got;
                _exit(got < 0 || size != want);
        }
        return reader;
}

static double now(void)
{
        struct timespec time;
        clock_gettime(CLOCK_MONOTONIC, &time);
        return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

Test(readers, many_cold_reads_are_right_and_leave_ls_a_worker)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs,max_threads=2");
        files_fixture_commit(&f.files, f.object_id, 40000, 200);
        files_fixture_rotate(&f.files);
        for (int i = 0; i < READERS - 1; i++)
                mount_fixture_add(&f, 3000);
        pid_t readers[2 * READERS];
        for (unsigned i = 0; i < COUNT(readers); i++) {
                struct stat info;
                const char *path = mount_fixture_file(&f, 0, 1 + i % READERS);
                cr_assert_eq(stat(path, &info), 0);
                readers[i] = start_reader(path, (size_t)info.st_size);
        }
        for (int i = 0; i < 50; i++) {
                struct stat info;
                double start = now();
                cr_expect_eq(stat(mount_fixture_path(&f, "main_t/min_lsn"), &info), 0);
                cr_expect_lt(now() - start, 1);
        }
        for (unsigned i = 0; i < COUNT(readers); i++) {
                int status = -1;
                cr_assert_eq(waitpid(readers[i], &status, 0), readers[i]);
                cr_expect_eq(status, 0, "reader %u", i);
        }
        mount_fixture_close(&f);
}
