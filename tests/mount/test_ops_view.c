/* SPDX-License-Identifier: MIT */
#include "mount_fixture.h"

Test(ops_view, a_name_is_there_as_soon_as_it_was_published)
{
        struct mount_fixture f;
        mount_fixture_open(&f, "nojobs");
        for (int64_t ordinal = 1; ordinal <= 20; ordinal++) {
                struct stat info;
                files_fixture_commit(&f.files, f.object_id, 3, 3);
                files_fixture_border(&f.files);
                files_fixture_publish(&f.files);
                cr_expect_eq(stat(mount_fixture_file(&f, 0, ordinal), &info), 0);
        }
        mount_fixture_close(&f);
}
