/* SPDX-License-Identifier: MIT */
#include "mount_fixture.h"

#include <mntent.h>

/* The mount's line in the mount table. */
static void find_entry(const char *path, char *strings, int size, struct mntent *ret_entry)
{
        FILE *table = setmntent("/proc/self/mounts", "r");
        bool is_found = false;
        while (!is_found && getmntent_r(table, ret_entry, strings, size))
                is_found = strcmp(ret_entry->mnt_dir, path) == 0;
        endmntent(table);
        cr_assert(is_found);
}

Test(mount, is_of_our_type_and_read_only_and_names_the_database)
{
        static const char *const words[] = {
                "ro", "nosuid", "nodev", "noexec", "default_permissions"};
        struct mount_fixture f;
        struct mntent entry;
        char strings[4096];
        mount_fixture_open(&f, "nojobs,rw,suid");
        find_entry(f.mountpoint, strings, sizeof strings, &entry);
        cr_expect_str_eq(entry.mnt_type, "fuse.cdcfs");
        cr_expect_str_eq(entry.mnt_fsname, f.files.base.source);
        for (size_t i = 0; i < COUNT(words); i++)
                cr_expect(hasmntopt(&entry, words[i]), "%s", words[i]);
        cr_expect_null(hasmntopt(&entry, "allow_other"));
        mount_fixture_close(&f);
}

Test(mount, takes_the_options_of_fuse)
{
        struct mount_fixture f;
        struct mntent entry;
        char strings[4096];
        mount_fixture_open(&f, "nojobs,max_read=65536,max_threads=3");
        mount_fixture_add(&f, 5000);
        find_entry(f.mountpoint, strings, sizeof strings, &entry);
        cr_expect(hasmntopt(&entry, "max_read"));
        size_t size = 0;
        free(tmp_read(mount_fixture_file(&f, 0, 1), &size));
        cr_expect_gt(size, 65536);
        mount_fixture_close(&f);
}
