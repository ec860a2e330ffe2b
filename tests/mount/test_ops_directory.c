/* SPDX-License-Identifier: MIT */
#include "mount_fixture.h"

#include <dirent.h>
#include <sys/syscall.h>

enum { FILES = 60 };

static void open_with_files(struct mount_fixture *f)
{
        mount_fixture_open(f, "nojobs");
        for (int i = 0; i < FILES; i++)
                mount_fixture_add(f, 1);
}

Test(ops_directory, every_position_leads_back_to_the_same_entry)
{
        struct mount_fixture f;
        open_with_files(&f);
        long positions[FILES + 2];
        char names[FILES + 2][256];
        DIR *folder = opendir(mount_fixture_path(&f, "main_t/all/csv"));
        cr_assert(folder);
        for (int round = 0; round < 2; round++) {
                unsigned count = 0;
                struct dirent *entry;
                long position = telldir(folder);
                while ((entry = readdir(folder))) {
                        cr_assert_lt(count, FILES + 2);
                        cr_assert(round == 0 || strcmp(names[count], entry->d_name) == 0);
                        positions[count] = position;
                        strcpy(names[count++], entry->d_name);
                        position = telldir(folder);
                }
                cr_assert_eq(count, FILES + 2);
                rewinddir(folder);
        }
        for (int i = FILES + 1; i >= 0; i--) {
                seekdir(folder, positions[i]);
                struct dirent *entry = readdir(folder);
                cr_assert(entry);
                cr_expect_str_eq(entry->d_name, names[i]);
        }
        closedir(folder);
        mount_fixture_close(&f);
}

Test(ops_directory, names_numbers_and_types_agree_with_stat)
{
        static const char *const folders[] = {"", "main_t", "main_t/all", "main_t/all/jsonl"};
        struct mount_fixture f;
        open_with_files(&f);
        for (size_t i = 0; i < COUNT(folders); i++) {
                DIR *folder = opendir(mount_fixture_path(&f, folders[i]));
                struct dirent *entry;
                struct stat info;
                while ((entry = readdir(folder))) {
                        if (strcmp(entry->d_name, "..") == 0 && i == 0)
                                continue; /* of another filesystem */
                        cr_assert_eq(fstatat(dirfd(folder), entry->d_name, &info, 0), 0);
                        cr_expect_eq(info.st_ino, entry->d_ino, "%s", entry->d_name);
                        cr_expect_eq(S_ISDIR(info.st_mode), entry->d_type == DT_DIR, "%s",
                                entry->d_name);
                }
                closedir(folder);
        }
        mount_fixture_close(&f);
}

/* Names come and go during a slow listing: each that stays is given once. */
Test(ops_directory, a_slow_listing_gives_what_stays_exactly_once)
{
        struct mount_fixture f;
        open_with_files(&f);
        char seen[FILES + 100][64];
        char *buffer = malloc(1024); /* little of it is offered */
        unsigned count = 0;
        long got;
        int fd = open(mount_fixture_path(&f, "main_t/all/csv"), O_RDONLY | O_DIRECTORY);
        while ((got = syscall(SYS_getdents64, fd, buffer, 256)) > 0) {
                for (long at = 0; at < got;) {
                        struct dirent64 *entry = (struct dirent64 *)(buffer + at);
                        at += entry->d_reclen;
                        for (unsigned i = 0; i < count; i++)
                                cr_assert_str_neq(seen[i], entry->d_name);
                        cr_assert_lt(count, COUNT(seen));
                        snprintf(seen[count++], 64, "%.63s", entry->d_name);
                }
                if (count % 10 == 0 && count < FILES)
                        mount_fixture_add(&f, 1);
        }
        cr_expect_eq(got, 0);
        cr_expect_geq(count, FILES + 2);
        free(buffer);
        close(fd);
        mount_fixture_close(&f);
}
