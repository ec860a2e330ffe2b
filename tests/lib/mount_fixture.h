/* SPDX-License-Identifier: MIT
 *
 * mount_fixture: a store with files, and cdcfs -f on it as a viewer in a process of its own, which
 * ends with the test whatever happens. CDCFS is the program.
 *
 *      struct mount_fixture f;
 *      mount_fixture_open(&f, "nojobs");      an instance main_t, f.object_id
 *      mount_fixture_add(&f, 100);            a file of each format
 *      … mount_fixture_path(&f, "main_t/all/csv") …
 *      mount_fixture_close(&f);               SIGTERM; must exit with 0
 */
#ifndef CDC_TEST_MOUNT_FIXTURE_H
#define CDC_TEST_MOUNT_FIXTURE_H

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files_fixture.h"

struct mount_fixture {
        struct files_fixture files;
        int64_t object_id;
        char mountpoint[512];
        pid_t daemon;
        char paths[8][768]; /* of the last eight mount_fixture_path() */
        unsigned next_path;
};

static inline bool mount_fixture_is_mounted(const char *path)
{
        struct stat here, above;
        char parent[600];
        snprintf(parent, sizeof parent, "%s/..", path);
        return stat(path, &here) == 0 && stat(parent, &above) == 0 && here.st_dev != above.st_dev;
}

static inline void mount_fixture_start(struct mount_fixture *f, const char *options)
{
        pid_t parent = getpid();
        f->daemon = fork();
        tmp_check(f->daemon >= 0, "fork");
        if (f->daemon == 0) {
                prctl(PR_SET_PDEATHSIG, SIGTERM);
                if (getppid() == parent)
                        execl(CDCFS, "cdcfs", "-f", "-o", options, f->files.base.source,
                                f->mountpoint, (char *)NULL);
                _exit(127);
        }
        for (int i = 0; i < 1000 && !mount_fixture_is_mounted(f->mountpoint); i++) {
                int status;
                cr_assert_eq(waitpid(f->daemon, &status, WNOHANG), 0, "cdcfs ended");
                usleep(10000);
        }
        cr_assert(mount_fixture_is_mounted(f->mountpoint));
}

static inline void mount_fixture_open(struct mount_fixture *f, const char *options)
{
        int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
        if (fuse < 0)
                cr_skip_test("/dev/fuse does not open");
        close(fuse);
        memset(f, 0, sizeof *f);
        files_fixture_open(&f->files);
        f->object_id = files_fixture_table(&f->files, "t");
        snprintf(f->mountpoint, sizeof f->mountpoint, "%s/mnt", f->files.base.tmp.directory);
        tmp_check(mkdir(f->mountpoint, 0755) == 0, f->mountpoint);
        mount_fixture_start(f, options);
}

/* Sends a signal and waits for the end: the exit status, or -1 if a signal killed it. */
static inline int mount_fixture_end(struct mount_fixture *f, int number)
{
        int status = 0;
        kill(f->daemon, number);
        for (int i = 0; i < 1000; i++) {
                if (waitpid(f->daemon, &status, WNOHANG) == f->daemon)
                        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
                usleep(10000);
        }
        cr_assert_fail("cdcfs does not end");
        return -1;
}

static inline void mount_fixture_close(struct mount_fixture *f)
{
        cr_expect_eq(mount_fixture_end(f, SIGTERM), 0);
        cr_expect(!mount_fixture_is_mounted(f->mountpoint));
        files_fixture_close(&f->files);
}

static inline void mount_fixture_add(struct mount_fixture *f, unsigned rows)
{
        files_fixture_commit(&f->files, f->object_id, rows, 20);
        files_fixture_rotate(&f->files);
}

/* <mountpoint>/name; good until seven more were asked for. */
static inline const char *mount_fixture_path(struct mount_fixture *f, const char *name)
{
        char *path = f->paths[f->next_path++ % COUNT(f->paths)];
        snprintf(path, sizeof f->paths[0], "%s/%s", f->mountpoint, name);
        return path;
}

/* The path of a file of the instance in a format, by ordinal from 1. */
static inline const char *mount_fixture_file(
        struct mount_fixture *f, unsigned format, int64_t ordinal)
{
        struct files files = {0};
        char from[LSN_NAME_SIZE], to[LSN_NAME_SIZE], name[256];
        const struct renderer *renderer = render_at(format);
        store_fixture_check(files_list(store_db(f->files.base.store), f->object_id, renderer->name,
                                    ordinal - 1, 1, &files),
                "files_list");
        cr_assert_eq(files.count, 1);
        lsn_format_name(files.items[0].from_lsn, from);
        lsn_format_name(files.items[0].to_lsn, to);
        snprintf(name, sizeof name, "main_t/all/%s/%s-%s%s", renderer->name, from, to,
                renderer->suffix);
        files_release(&files);
        return mount_fixture_path(f, name);
}

#endif
