/* SPDX-License-Identifier: MIT */
#include "mount_fixture.h"

#include <errno.h>
#include <sys/mount.h>
#include <sys/time.h>
#include <sys/xattr.h>

static void expect_all_refused(struct mount_fixture *f)
{
        const char *file = mount_fixture_file(f, 0, 1), *folder = mount_fixture_path(f, "main_t"),
                   *new = mount_fixture_path(f, "main_t/new"),
                   *document = mount_fixture_path(f, "min_lsn");
        struct {
                const char *what;
                int result, number;
        } calls[32];
        unsigned count = 0;
#define CALL(call)                                                                                 \
        do {                                                                                       \
                errno = 0;                                                                         \
                calls[count].what = #call;                                                         \
                calls[count].result = call;                                                        \
                calls[count++].number = errno;                                                     \
        } while (0)
        CALL(open(file, O_RDWR));
        CALL(open(file, O_WRONLY));
        CALL(open(file, O_RDONLY | O_TRUNC));
        CALL(open(document, O_WRONLY | O_APPEND));
        CALL(open(new, O_CREAT | O_RDONLY, 0644));
        CALL(unlink(file));
        CALL(unlink(document));
        CALL(mkdir(new, 0755));
        CALL(rmdir(folder));
        CALL(rename(file, new));
        CALL(symlink("x", new));
        CALL(link(file, new));
        CALL(mknod(new, S_IFIFO | 0644, 0));
        CALL(chmod(file, 0777));
        CALL(chown(file, 1, 1));
        CALL(utimes(file, NULL));
        CALL(truncate(file, 0));
        for (unsigned i = 0; i < count; i++) {
                cr_expect_eq(calls[i].result, -1, "%s", calls[i].what);
                cr_expect_eq(
                        calls[i].number, EROFS, "%s: %s", calls[i].what, strerror(calls[i].number));
        }
}

Test(ops_refuse, refuses_every_change_with_erofs)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        mount_fixture_add(&f, 10);
        expect_all_refused(&f);
        mount_fixture_close(&f);
}

Test(ops_refuse, also_after_root_has_made_the_mount_writable)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        mount_fixture_add(&f, 10);
        if (mount(NULL, f.mountpoint, NULL, MS_REMOUNT, NULL) == 0)
                expect_all_refused(&f);
        mount_fixture_close(&f);
}
