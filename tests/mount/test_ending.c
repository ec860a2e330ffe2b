/* SPDX-License-Identifier: MIT */
#include "mount_fixture.h"

#include <dirent.h>

static const int signals[] = {SIGTERM, SIGINT, SIGHUP};

Test(ending, a_signal_unmounts_and_is_a_success)
{
        for (size_t i = 0; i < COUNT(signals); i++) {
                struct mount_fixture f;
                mount_fixture_open(&f, "nojobs");
                cr_expect_eq(mount_fixture_end(&f, signals[i]), 0, "signal %d", signals[i]);
                cr_expect_not(mount_fixture_is_mounted(f.mountpoint));
                files_fixture_close(&f.files);
        }
}

/* A process that lists the folder for as long as there is one. */
static pid_t start_lister(struct mount_fixture *f)
{
        const char *path = mount_fixture_path(f, "main_t/all/csv");
        pid_t lister = fork();
        if (lister == 0) {
                DIR *folder;
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                while ((folder = opendir(path))) {
                        while (readdir(folder))
                                ;
                        closedir(folder);
                }
                _exit(0);
        }
        return lister;
}

/* The notifier may be waiting inside the kernel for the very request that an ending session
 * drops. */
Test(ending, comes_while_clients_list_and_names_go)
{
        for (int round = 0; round < 5; round++) {
                struct mount_fixture f;
                char sql[256];
                mount_fixture_open(&f, "nojobs");
                for (int i = 0; i < 30; i++)
                        mount_fixture_add(&f, 1);
                pid_t listers[3];
                for (size_t i = 0; i < COUNT(listers); i++)
                        listers[i] = start_lister(&f);
                for (int i = 1; i <= 10; i++) {
                        snprintf(sql, sizeof sql,
                                "BEGIN; UPDATE cdcfs_files SET is_withdrawn = 1 WHERE ordinal = %d;"
                                "UPDATE cdcfs_state SET last_mtime_ns = last_mtime_ns + 1;"
                                "UPDATE cdcfs_instances SET changed_ns = changed_ns + 1; COMMIT",
                                i);
                        store_fixture_check(
                                sql_execute(store_db(f.files.base.store), sql), "withdraw");
                        usleep(3000);
                }
                cr_expect_eq(mount_fixture_end(&f, SIGTERM), 0);
                for (size_t i = 0; i < COUNT(listers); i++)
                        cr_expect_eq(waitpid(listers[i], NULL, 0), listers[i]);
                files_fixture_close(&f.files);
        }
}
