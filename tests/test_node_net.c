/* SPDX-License-Identifier: MIT
 *
 * node_net: net/ and what is in it, where the instance supports net changes.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "catalog_fixture.h"
#include "node.h"

/* One instance with a file in each format. */
static struct cdc_catalog *make_catalog(bool has_net)
{
        struct cdc_catalog *catalog = catalog_new();
        struct catalog_entry *entry = NULL;
        const struct cdc_instance instance = {
                .object_id = 1,
                .base_ino = CATALOG_FIXTURE_BASE + 10000,
                .name = "main_t",
                .directory = "main_t",
                .supports_net_changes = has_net,
        };
        catalog_fixture_check(catalog_begin_entry(NULL, &instance, &entry));
        for (unsigned i = 0; i < cdc_formats() + (has_net ? cdc_net_formats() : 0); i++)
                catalog_fixture_add_files(catalog, entry, i, 1);
        catalog_fixture_check(catalog_put(catalog, entry));
        catalog->base_ino = CATALOG_FIXTURE_BASE;
        catalog_fixture_check(catalog_finish(catalog));
        return catalog;
}

static int walk(const struct cdc_catalog *catalog, const char *path, struct node *ret_node)
{
        char copy[128];
        strcpy(copy, path);
        int r = node_resolve(catalog, NODE_ROOT_ID, ret_node);
        for (char *name = strtok(copy, "/"); r == 0 && name; name = strtok(NULL, "/"))
                r = node_find(catalog, ret_node, name, ret_node);
        return r;
}

/* By name and by number it is the same, and `..` leads back. */
static void check_directory(const struct cdc_catalog *catalog, const char *path, const char *parent)
{
        struct node node, again, above, wanted;
        char name[NODE_NAME_SIZE];
        uint64_t cookie = 0;
        cr_assert_eq(walk(catalog, path, &node), 0, "%s", path);
        cr_assert_eq(node_resolve(catalog, node.ino, &again), 0, "%s", path);
        cr_expect_eq(again.kind, node.kind, "%s", path);
        cr_expect_eq(again.format, node.format, "%s", path);
        node_next(catalog, &node, 0, &above, name, &cookie);
        node_next(catalog, &node, cookie, &above, name, &cookie);
        cr_assert_eq(walk(catalog, parent, &wanted), 0);
        cr_expect_str_eq(name, "..");
        cr_expect_eq(above.ino, wanted.ino, "%s", path);
        cr_expect_eq(above.kind, wanted.kind, "%s", path);
}

Test(node_net, is_there_where_it_is_supported)
{
        static const char file[] = "main_t/net/csv/00000000000000000010-0000000000000000001f.csv";
        struct cdc_catalog *catalog = make_catalog(true);
        struct node node, again;
        check_directory(catalog, "main_t/net", "main_t");
        check_directory(catalog, "main_t/net/csv", "main_t/net");
        check_directory(catalog, "main_t/net/jsonl", "main_t/net");
        check_directory(catalog, "main_t/all/jsonl", "main_t/all");
        cr_assert_eq(walk(catalog, file, &node), 0);
        cr_expect_eq(node.file->format, cdc_formats());
        cr_assert_eq(node_resolve(catalog, node.ino, &again), 0);
        cr_expect_eq(again.kind, node.kind);
        cr_expect_eq(node_folder_id(node.instance, cdc_formats() + 1),
                node_folder_id(node.instance, cdc_formats()) + 1);
        /* Numbers that they had when there were two formats of all changes. */
        cr_expect_eq(node_folder_id(node.instance, cdc_formats()), node.instance->base_ino + 34);
        cr_expect_eq(walk(catalog, "main_t/net/qlik", &node), -ENOENT);
        cr_expect_eq(walk(catalog, "main_t/range/net/csv", &node), 0);
        cr_expect_eq(node.ino, node.instance->base_ino + 58);
        cr_expect_eq(walk(catalog, "main_t/net/all", &node), -ENOENT);
        cr_expect_eq(walk(catalog, "net", &node), -ENOENT);
        cdc_catalog_unref(catalog);
}

Test(node_net, is_listed_once)
{
        struct cdc_catalog *catalog = make_catalog(true);
        struct node directory, child;
        char name[NODE_NAME_SIZE];
        unsigned found = 0;
        cr_assert_eq(walk(catalog, "main_t", &directory), 0);
        for (uint64_t cookie = 0;
                node_next(catalog, &directory, cookie, &child, name, &cookie) > 0;)
                found += strcmp(name, "net") == 0;
        cr_expect_eq(found, 1);
        cdc_catalog_unref(catalog);
}

Test(node_net, is_not_there_elsewhere)
{
        struct cdc_catalog *catalog = make_catalog(false);
        struct node node;
        cr_expect_eq(walk(catalog, "main_t/net", &node), -ENOENT);
        cr_expect_eq(node_resolve(catalog, CATALOG_FIXTURE_BASE + 10000 + 18, &node), -ESTALE);
        cr_expect_eq(node_resolve(catalog, CATALOG_FIXTURE_BASE + 10000 + 34, &node), -ESTALE);
        cdc_catalog_unref(catalog);
}
