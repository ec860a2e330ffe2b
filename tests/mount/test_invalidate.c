/* SPDX-License-Identifier: MIT */
#include "mount_fixture.h"

#include <dirent.h>
#include <errno.h>

static bool goes(const char *path)
{
        struct stat info;
        for (int i = 0; i < 300; i++) {
                if (stat(path, &info) < 0)
                        return errno == ENOENT;
                usleep(10000);
        }
        return false;
}

/* Is the folder left with one file soon? */
static bool has_one_file(const char *folder)
{
        for (int i = 0; i < 300; i++) {
                DIR *directory = opendir(folder);
                unsigned entries = 0;
                while (readdir(directory))
                        entries++;
                closedir(directory);
                if (entries == 3) /* . and .. */
                        return true;
                usleep(10000);
        }
        return false;
}

Test(invalidate, a_withdrawn_file_leaves_the_listing_and_can_be_read_to_its_end)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        mount_fixture_add(&f, 3000);
        mount_fixture_add(&f, 3000);
        const char *path = mount_fixture_file(&f, 0, 1);
        struct stat info;
        cr_assert_eq(stat(path, &info), 0);
        int fd = open(path, O_RDONLY);
        store_fixture_check(sql_execute(store_db(f.files.base.store),
                                    "BEGIN; UPDATE cdcfs_files SET is_withdrawn = 1"
                                    " WHERE ordinal = 1; UPDATE cdcfs_state SET"
                                    " last_mtime_ns = last_mtime_ns + 1; UPDATE cdcfs_instances"
                                    " SET changed_ns = changed_ns + 1; COMMIT"),
                "withdraw");
        cr_expect(has_one_file(mount_fixture_path(&f, "main_t/all/csv")));
        cr_expect_eq(stat(path, &info), 0, "it lingers under its exact name");
        char *buffer = malloc((size_t)info.st_size);
        size_t size = 0;
        ssize_t got;
        while ((got = read(fd, buffer, (size_t)info.st_size)) > 0)
                size += (size_t)got;
        cr_expect_eq(size, (size_t)info.st_size);
        free(buffer);
        close(fd);
        mount_fixture_close(&f);
}

Test(invalidate, an_instance_that_goes_takes_its_directory_along)
{
        struct mount_fixture f;
        struct stat info;
        mount_fixture_open(&f, "nojobs");
        files_fixture_table(&f.files, "u");
        const char *path = mount_fixture_path(&f, "main_u/all/csv");
        cr_assert_eq(stat(path, &info), 0);
        struct instances instances = {0};
        store_fixture_check(instances_load(f.files.base.store, &instances), "instances_load");
        store_fixture_begin(&f.files.base);
        store_fixture_check(
                instances_disable(f.files.base.store, instances_find(&instances, "main_u")),
                "instances_disable");
        store_fixture_commit(&f.files.base);
        instances_release(&instances);
        cr_expect(goes(mount_fixture_path(&f, "main_u")));
        cr_expect_eq(stat(path, &info), -1);
        mount_fixture_close(&f);
}

Test(invalidate, what_the_source_forbids_is_not_cached_as_allowed, .timeout = 30)
{
        struct mount_fixture f;
        struct stat info;
        mount_fixture_open(&f, "nojobs");
        mount_fixture_add(&f, 10);
        const char *path = mount_fixture_file(&f, 0, 1);
        chmod(f.files.base.source, 0644);
        for (int i = 0; i < 1000 && (stat(path, &info), info.st_mode & 0777) != 0444; i++)
                usleep(10000);
        cr_expect_eq(info.st_mode & 0777, 0444);
        chmod(f.files.base.source, 0600);
        mount_fixture_add(&f, 10);
        for (int i = 0; i < 1000 && (stat(path, &info), info.st_mode & 0777) != 0400; i++)
                usleep(10000);
        cr_expect_eq(info.st_mode & 0777, 0400);
        mount_fixture_close(&f);
}
