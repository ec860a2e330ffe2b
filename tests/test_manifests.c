/* SPDX-License-Identifier: MIT */
#include "desk/manifests.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "files_fixture.h"

enum { TABLES = MANIFESTS_COUNT + 4 };

Test(manifests, are_right_however_many_there_are)
{
        struct files_fixture f;
        struct manifests *kept = NULL;
        int64_t ids[TABLES];
        files_fixture_open(&f);
        sqlite3 *db = store_db(f.base.store);
        for (unsigned i = 0; i < TABLES; i++) {
                char name[16];
                snprintf(name, sizeof name, "t%u", i);
                ids[i] = files_fixture_table(&f, name);
        }
        cr_assert_eq(manifests_new(&kept), 0);
        for (unsigned round = 0; round < 3; round++) {
                for (unsigned i = 0; i < TABLES; i++) {
                        struct buf text = BUF_INIT, again = BUF_INIT;
                        struct manifests *fresh = NULL;
                        files_fixture_commit(&f, ids[i], 1, 1);
                        files_fixture_rotate(&f);
                        cr_assert_eq(manifests_new(&fresh), 0);
                        cr_expect_eq(manifests_append(kept, db, ids[i], UINT32_MAX, &text), 0);
                        cr_expect_eq(manifests_append(fresh, db, ids[i], UINT32_MAX, &again), 0);
                        cr_expect_str_eq(buf_string(&text), buf_string(&again));
                        manifests_free(fresh);
                        buf_release(&text);
                        buf_release(&again);
                }
        }
        struct buf none = BUF_INIT;
        cr_expect_eq(manifests_append(kept, db, 999, UINT32_MAX, &none), -ENOENT);
        cr_expect_eq(none.size, 0);
        manifests_free(kept);
        files_fixture_close(&f);
}
