/* SPDX-License-Identifier: MIT */
#include "node.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "catalog_fixture.h"

enum { LIVE = CATALOG_FIXTURE_BASE + 500000 };

/* main_1 is pending, main_2 has a live file in each format. */
static struct cdc_catalog *catalog_with_lives(void)
{
        struct cdc_catalog *bare = catalog_fixture(2), *catalog = NULL;
        catalog_fixture_check(catalog_clone(bare, &catalog));
        for (unsigned format = 0; format < cdc_formats(); format++)
                catalog_fixture_check(catalog_append_live(catalog, 2, format, LIVE + format));
        catalog_fixture_check(catalog_finish(catalog));
        cdc_catalog_unref(bare);
        return catalog;
}

static struct node live_of(const struct cdc_catalog *catalog, const char *instance)
{
        struct node node;
        cr_assert_eq(node_resolve(catalog, NODE_ROOT_ID, &node), 0);
        cr_assert_eq(node_find(catalog, &node, instance, &node), 0);
        cr_assert_eq(node_find(catalog, &node, "live", &node), 0);
        cr_expect(node_is_live_directory(&node));
        return node;
}

Test(node_live, has_the_number_of_the_file_that_is_not_listed_yet)
{
        struct cdc_catalog *catalog = catalog_with_lives();
        struct node live = live_of(catalog, "main_2"), child, again;
        cr_assert_eq(node_find(catalog, &live, "all.jsonl", &child), 0);
        cr_expect_eq(child.ino, LIVE + 1);
        cr_expect_eq(child.kind->type, NODE_LIVE);
        cr_expect_eq(node_id(&child), LIVE + 1);
        cr_assert_eq(node_resolve(catalog, LIVE + 1, &again), 0);
        cr_expect_eq(again.kind, child.kind);
        cr_expect_eq(again.instance, child.instance);
        cr_expect_eq(again.format, 1);
        static const char *const others[] = {
                "all", "all.", "all.xml", "csv", "All.csv", "all.csv "};
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
                cr_expect_eq(
                        node_find(catalog, &live, others[i], &child), -ENOENT, "%s", others[i]);
        cdc_catalog_unref(catalog);
}

static unsigned count_names(const struct cdc_catalog *catalog, const struct node *directory)
{
        struct node child;
        char name[NODE_NAME_SIZE];
        uint64_t cookie = NODE_COOKIE_PARENT;
        unsigned count = 0;
        while (node_next(catalog, directory, cookie, &child, name, &cookie)) {
                cr_expect_eq(strncmp(name, "all.", 4), 0);
                count++;
        }
        return count;
}

Test(node_live, lists_a_file_a_format_and_none_while_the_instance_is_pending)
{
        struct cdc_catalog *catalog = catalog_with_lives();
        struct node live = live_of(catalog, "main_2"), pending = live_of(catalog, "main_1"), child;
        cr_expect_eq(count_names(catalog, &live), cdc_formats());
        cr_expect_eq(count_names(catalog, &pending), 0);
        cr_expect_eq(node_find(catalog, &pending, "all.csv", &child), -ENOENT);
        cdc_catalog_unref(catalog);
}
