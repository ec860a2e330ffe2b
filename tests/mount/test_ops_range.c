/* SPDX-License-Identifier: MIT
 *
 * ops_range: ranges through the kernel.
 */
#include "mount_fixture.h"

#include <dirent.h>
#include <errno.h>

#include "memory/history.h"

static const char *range_path(
        struct mount_fixture *f, const char *format, uint32_t from, uint32_t to)
{
        char name[200], first[LSN_NAME_SIZE], last[LSN_NAME_SIZE];
        lsn_format_name(lsn_make(1, from, 1), first);
        lsn_format_name(lsn_make(1, to, 1), last);
        snprintf(name, sizeof name, "main_t/range/all/%s/%s-%s.%s", format, first, last, format);
        return mount_fixture_path(f, name);
}

/* All of a file, NUL-terminated; the size must be what stat told before. */
static char *read_file(const char *path)
{
        struct stat before, after;
        cr_assert_eq(stat(path, &before), 0, "%s: %s", path, strerror(errno));
        char *bytes = malloc((size_t)before.st_size + 100);
        int fd = open(path, O_RDONLY);
        cr_assert_geq(fd, 0);
        ssize_t got = read(fd, bytes, (size_t)before.st_size + 99);
        cr_expect_eq(got, before.st_size);
        cr_expect_eq(fstat(fd, &after), 0);
        cr_expect_eq(after.st_size, before.st_size);
        cr_expect_eq(after.st_ino, before.st_ino, "cp would take it for another file");
        cr_expect_eq(after.st_blocks, (before.st_size + 511) / 512);
        close(fd);
        bytes[got] = '\0';
        return bytes;
}

/* Frames 2 to 4 are commits of 10, 20 and 30 rows in two files, 5 one of 40 in none. */
static void open_fixture(struct mount_fixture *f)
{
        mount_fixture_open(f, "nojobs");
        files_fixture_commit(&f->files, f->object_id, 10, 20);
        files_fixture_rotate(&f->files);
        files_fixture_commit(&f->files, f->object_id, 20, 20);
        files_fixture_commit(&f->files, f->object_id, 30, 20);
        files_fixture_rotate(&f->files);
        files_fixture_commit(&f->files, f->object_id, 40, 20);
}

Test(ops_range, a_range_is_the_lines_of_the_files_it_covers)
{
        static const char *const formats[] = {"csv", "jsonl"};
        struct mount_fixture f;
        open_fixture(&f);
        for (unsigned format = 0; format < 2; format++) {
                char *whole = read_file(range_path(&f, formats[format], 1, 4));
                char *first = read_file(mount_fixture_file(&f, format, 1));
                char *second = read_file(mount_fixture_file(&f, format, 2));
                size_t header = format == 0 ? (size_t)(strchr(second, '\n') - second) + 1 : 0;
                cr_expect_eq(strlen(whole), strlen(first) + strlen(second) - header);
                cr_expect_eq(strncmp(whole, first, strlen(first)), 0);
                cr_expect_str_eq(whole + strlen(first), second + header);
                free(whole);
                free(first);
                free(second);
        }
        char *open_rows = read_file(range_path(&f, "jsonl", 5, 5));
        unsigned lines = 0;
        for (char *c = open_rows; *c; c++)
                lines += *c == '\n';
        cr_expect_eq(lines, 40);
        free(open_rows);
        char *header = read_file(range_path(&f, "csv", 1, 1));
        cr_expect_str_eq(header, "__$start_lsn,__$seqval,__$operation,__$update_mask,id,v,w\n");
        free(header);
        char *nothing = read_file(range_path(&f, "jsonl", 1, 1));
        cr_expect_str_eq(nothing, "");
        free(nothing);
        mount_fixture_close(&f);
}

Test(ops_range, the_time_is_that_of_the_newest_commit_in_it)
{
        struct mount_fixture f;
        open_fixture(&f);
        for (uint32_t to = 2; to <= 5; to++) {
                struct stat info;
                cr_assert_eq(stat(range_path(&f, "csv", 2, to), &info), 0);
                cr_expect_geq(info.st_ino, UINT64_C(1) << 52);
                cr_expect_eq(info.st_mtim.tv_sec * INT64_C(1000000000) + info.st_mtim.tv_nsec,
                        STORE_FIXTURE_NOW + to * INT64_C(1000000000));
        }
        mount_fixture_close(&f);
}

Test(ops_range, says_why_not_by_the_error_number)
{
        static const struct {
                uint32_t from, to;
                int error;
        } cases[] = {{4, 2, EINVAL}, {0, 2, ERANGE}, {2, 9, ERANGE}, {6, 6, ERANGE}};
        static const char *const names[] = {"x", "x.csv",
                "00000001000000020001-00000001000000030001",
                "00000001000000020001-00000001000000030001.jsonl"};
        struct mount_fixture f;
        struct stat info;
        open_fixture(&f);
        for (size_t i = 0; i < COUNT(cases); i++) {
                const char *path = range_path(&f, "csv", cases[i].from, cases[i].to);
                cr_expect_eq(stat(path, &info), -1);
                cr_expect_eq(errno, cases[i].error, "%u-%u: %s", cases[i].from, cases[i].to,
                        strerror(errno));
        }
        for (size_t i = 0; i < COUNT(names); i++) {
                char path[200];
                snprintf(path, sizeof path, "main_t/range/all/csv/%s", names[i]);
                cr_expect_eq(stat(mount_fixture_path(&f, path), &info), -1);
                cr_expect_eq(errno, ENOENT, "%s: %s", names[i], strerror(errno));
        }
        struct history_gap gap = {.object_id = f.object_id,
                .from = lsn_make(1, 3, 2),
                .to = lsn_make(1, 3, 9),
                .time_ns = 1,
                .cause = (char *)"x"};
        store_fixture_begin(&f.files.base);
        store_fixture_check(history_add_gap(f.files.base.store, &gap, &gap.gap), "gap");
        store_fixture_commit(&f.files.base);
        cr_expect_eq(stat(range_path(&f, "csv", 2, 4), &info), -1);
        cr_expect_eq(errno, ENODATA);
        cr_expect_eq(stat(range_path(&f, "csv", 4, 5), &info), 0);
        mount_fixture_close(&f);
}

Test(ops_range, folders_list_nothing)
{
        static const char *const folders[] = {"csv", "jsonl"};
        struct mount_fixture f;
        open_fixture(&f);
        for (size_t i = 0; i < COUNT(folders); i++) {
                char path[100];
                unsigned entries = 0;
                snprintf(path, sizeof path, "main_t/range/all/%s", folders[i]);
                struct stat info;
                cr_assert_eq(stat(range_path(&f, folders[i], 2, 4), &info), 0);
                DIR *folder = opendir(mount_fixture_path(&f, path));
                while (readdir(folder))
                        entries++;
                closedir(folder);
                cr_expect_eq(entries, 2, ". and ..");
        }
        mount_fixture_close(&f);
}

Test(ops_range, a_window_that_slides_is_read_right_by_many)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        for (int i = 0; i < 40; i++)
                files_fixture_commit(&f.files, f.object_id, 200, 100);
        pid_t readers[6];
        for (unsigned i = 0; i < COUNT(readers); i++) {
                readers[i] = fork();
                if (readers[i] != 0)
                        continue;
                for (uint32_t from = 2; from <= 30; from++) {
                        char *bytes =
                                read_file(range_path(&f, i % 2 ? "csv" : "jsonl", from, from + i));
                        unsigned lines = 0;
                        for (char *c = bytes; *c; c++)
                                lines += *c == '\n';
                        if (lines != 200 * (i + 1) + i % 2)
                                _exit(1);
                        free(bytes);
                }
                _exit(0);
        }
        for (unsigned i = 0; i < COUNT(readers); i++) {
                int status = -1;
                cr_assert_eq(waitpid(readers[i], &status, 0), readers[i]);
                cr_expect_eq(status, 0, "reader %u", i);
        }
        mount_fixture_close(&f);
}
