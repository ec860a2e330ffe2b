/* SPDX-License-Identifier: MIT
 *
 * role: groups that exist, who may grant, and a store that only its owner reads.
 */
#include "desk/role.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "desk_fixture.h"

static const char *own_group(void)
{
        struct group *group = getgrgid(getegid());
        return group ? group->gr_name : "root";
}

Test(role, is_a_group_that_exists)
{
        uint32_t gid = 0;
        cr_expect_eq(role_find_group(own_group(), &gid), 0);
        cr_expect_eq(gid, getegid());
        cr_expect_eq(role_find_group("no such group", &gid), -ENOENT);
}

Test(role, is_granted_by_owner_and_root)
{
        struct desk_fixture x;
        struct problem problem = {0};
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        cr_expect_eq(role_check(x.f.source, own_group(), &problem), 0, "%s", problem.message);
        cr_expect_eq(role_check(x.f.source, "no such group", &problem), -ENOENT);
        cr_expect_not_null(strstr(problem.message, "no such group"));
        if (geteuid() == 0) {
                cr_assert_eq(seteuid(65534), 0);
                cr_expect_eq(role_check("/", own_group(), &problem), -EACCES);
                cr_assert_eq(seteuid(0), 0);
        }
        desk_fixture_close(&x);
}

Test(role, closes_the_store_and_shows_in_the_catalog)
{
        struct desk_fixture x;
        struct cdc_view *view;
        struct stat st;
        uint32_t uid, gid, mode;
        struct cdc_table_options options = {
                .table = "t", .role = own_group(), .supports_net_changes = -1};
        desk_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY); CREATE TABLE u(x)");
        cr_assert_eq(cdc_enable_db(&x.database, false, desk_fixture_notice, &x, &x.error), 0);
        chmod(x.f.path, 0644);
        cr_assert_eq(cdc_enable_table(&x.database, &options, desk_fixture_notice, &x, &x.error), 0,
                "%s", x.error.message);
        cr_assert_eq(stat(x.f.path, &st), 0);
        cr_expect_eq(st.st_mode & 0777, 0600);
        options = (struct cdc_table_options){
                .table = "u", .role = "no such group", .supports_net_changes = -1};
        cr_expect_eq(cdc_enable_table(&x.database, &options, desk_fixture_notice, &x, &x.error),
                -ENOENT);
        options.role = NULL;
        cr_assert_eq(cdc_enable_table(&x.database, &options, desk_fixture_notice, &x, &x.error), 0);

        cr_assert_eq(cdc_view_open(&x.database, &view, NULL), 0);
        struct cdc_catalog *catalog = cdc_view_catalog(view);
        cdc_view_instance_owner(
                view, cdc_catalog_find_instance(catalog, "main_t"), &uid, &gid, &mode);
        cr_expect_eq(gid, getegid());
        cr_expect_eq(mode, 0440);
        cdc_view_instance_owner(
                view, cdc_catalog_find_instance(catalog, "main_u"), &uid, &gid, &mode);
        cr_assert_eq(stat(x.f.source, &st), 0);
        cr_expect_eq(mode, st.st_mode & 0666, "the source's");
        cdc_catalog_unref(catalog);
        cdc_view_close(view);
        desk_fixture_close(&x);
}
