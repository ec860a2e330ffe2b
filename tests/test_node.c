/* SPDX-License-Identifier: MIT */
#include "node.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "catalog_fixture.h"

static struct node root_of(const struct cdc_catalog *catalog)
{
        struct node root;
        cr_assert_eq(node_resolve(catalog, NODE_ROOT_ID, &root), 0);
        return root;
}

/* The node at a path of names between slashes. */
static int walk(const struct cdc_catalog *catalog, const char *path, struct node *ret_node)
{
        char copy[256];
        struct node node = root_of(catalog);
        strcpy(copy, path);
        for (char *name = strtok(copy, "/"); name; name = strtok(NULL, "/")) {
                int r = node_find(catalog, &node, name, &node);
                if (r < 0)
                        return r;
        }
        *ret_node = node;
        return 0;
}

static void expect_equal(const struct node *a, const struct node *b, const char *name)
{
        cr_expect_eq(a->kind, b->kind, "%s", name);
        cr_expect_eq(a->ino, b->ino, "%s", name);
        cr_expect_eq(a->file, b->file, "%s", name);
        if (!a->file) {
                cr_expect_eq(a->instance, b->instance, "%s", name);
                cr_expect_eq(a->format, b->format, "%s", name);
        }
}

/* Everything below a directory: name, number and listing say the same. Returns how many. */
static unsigned check_below(const struct cdc_catalog *catalog, const struct node *directory)
{
        struct node child, again;
        char name[NODE_NAME_SIZE];
        uint64_t cookie = NODE_COOKIE_PARENT, last = 0;
        unsigned count = 0;
        while (node_next(catalog, directory, cookie, &child, name, &cookie)) {
                cr_assert_gt(cookie, last);
                last = cookie;
                count++;
                cr_assert_eq(node_find(catalog, directory, name, &again), 0, "%s", name);
                expect_equal(&child, &again, name);
                cr_assert_eq(node_resolve(catalog, child.ino, &again), 0, "%s", name);
                expect_equal(&child, &again, name);
                if (child.kind->type == NODE_DIRECTORY)
                        count += check_below(catalog, &child);
        }
        return count;
}

Test(node, is_the_same_by_name_by_number_and_in_the_listing)
{
        struct cdc_catalog *catalog = catalog_fixture(3);
        struct node root = root_of(catalog);
        unsigned formats = cdc_formats();
        /* 6 documents, transactions/, cdc/ with 7 and a folder; an instance has 8, all/ and
         * range/all/ with a folder a format, live/, and its files. */
        unsigned instance = 1 + 8 + (1 + formats) + (2 + formats) + 1;
        cr_expect_eq(check_below(catalog, &root), 6 + 1 + 9 + 3 * instance + (1 + 2 + 3) * formats);
        cdc_catalog_unref(catalog);
}

Test(node, finds_paths_and_nothing_else)
{
        static const struct {
                const char *path;
                int result;
        } paths[] = {
                {"README.txt", 0},
                {"validity.json", 0},
                {"main_1/min_lsn", 0},
                {"main_2/all/jsonl", 0},
                {"main_2/all/debezium", 0},
                {"main_2/all/qlik/00000000000000000010-0000000000000000001f.csv", 0},
                {"main_2/all/debezium/00000000000000000010-0000000000000000001f.csv", -ENOENT},
                {"main_1/range/all/qlik", 0},
                {"cdc/attrep_cdc_partitions.csv", 0},
                {"main_2/all/csv/00000000000000000010-0000000000000000001f.csv", 0},
                {"main_2/all/jsonl/00000000000000000020-0000000000000000002f.jsonl", 0},
                {"main_2/all/csv/00000000000000000010-0000000000000000001f.jsonl", -ENOENT},
                {"main_4", -ENOENT},
                {"main_1/README.txt", -ENOENT},
                {"all", -ENOENT},
                {"main_1/csv", -ENOENT},
                {"main_1/all/parquet", -ENOENT},
                {"main_1/all/all", -ENOENT},
                {"cdc/change_tables.csv", 0},
                {"cdc/dm_cdc_errors.csv", 0},
                {"cdc/schema.json", -ENOENT},
                {"ddl_history.jsonl", 0},
                {"main_1/ddl_history.jsonl", 0},
                {"main_1/captured_columns.csv", 0},
                {"main_1/schema.json", 0},
                {"main_1/range/all/csv", 0},
                {"main_1/range/all/csv/00000000000000000010-0000000000000000001f.csv", -ENOENT},
                {"main_1/range/net", -ENOENT},
        };
        struct cdc_catalog *catalog = catalog_fixture(2);
        for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
                struct node node;
                cr_expect_eq(
                        walk(catalog, paths[i].path, &node), paths[i].result, "%s", paths[i].path);
        }
        cdc_catalog_unref(catalog);
}

Test(node, numbers_that_mean_nothing_are_stale)
{
        struct cdc_catalog *catalog = catalog_fixture(2);
        uint64_t base = CATALOG_FIXTURE_BASE, instance = base + 10000;
        const uint64_t ids[] = {0, 2, base, base + 10, base + CDC_ROOT_INOS - 1,
                base + CDC_ROOT_INOS, instance + 5, instance + 24 + cdc_formats(), instance + 63,
                instance + 64, instance + 100, NODE_FIRST_VERSION, UINT64_MAX};
        for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
                struct node node;
                cr_expect_eq(node_resolve(catalog, ids[i], &node), -ESTALE, "%lu",
                        (unsigned long)ids[i]);
        }
        cdc_catalog_unref(catalog);
}

Test(node, lists_dots_first_and_takes_any_cookie)
{
        struct cdc_catalog *catalog = catalog_fixture(3);
        struct node folder, child;
        char name[NODE_NAME_SIZE], names[64][NODE_NAME_SIZE];
        uint64_t cookies[64] = {0};
        unsigned count = 0;
        cr_assert_eq(walk(catalog, "main_3/all/csv", &folder), 0);
        while (node_next(
                catalog, &folder, cookies[count], &child, names[count], &cookies[count + 1]))
                count++;
        cr_expect_eq(count, 2 + 3);
        cr_expect_str_eq(names[0], ".");
        cr_expect_str_eq(names[1], "..");
        for (unsigned i = count; i-- > 0;) {
                uint64_t cookie = 0;
                cr_assert(node_next(catalog, &folder, cookies[i], &child, name, &cookie));
                cr_expect_str_eq(name, names[i]);
                cr_expect_eq(cookie, cookies[i + 1]);
        }
        cr_expect_eq(node_next(catalog, &folder, UINT64_MAX, &child, name, &cookies[0]), 0);
        cdc_catalog_unref(catalog);
}

Test(node, knows_its_parent)
{
        static const char *const paths[][2] = {{"main_2/all/jsonl", "main_2/all"},
                {"main_2/all", "main_2"}, {"main_2", ""}, {"", ""}};
        struct cdc_catalog *catalog = catalog_fixture(2);
        for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
                struct node node, parent, found;
                char name[NODE_NAME_SIZE];
                uint64_t cookie = 0;
                cr_assert_eq(walk(catalog, paths[i][0], &node), 0);
                cr_assert_eq(walk(catalog, paths[i][1], &parent), 0);
                cr_assert(node_next(catalog, &node, 1, &found, name, &cookie));
                cr_expect_str_eq(name, "..");
                expect_equal(&found, &parent, paths[i][0]);
        }
        cdc_catalog_unref(catalog);
}

Test(node, times_are_of_what_came_last)
{
        struct cdc_catalog *catalog = catalog_fixture(2);
        struct node node;
        cr_assert_eq(walk(catalog, "", &node), 0);
        cr_expect_eq(node_mtime(catalog, &node), 3000);
        cr_expect(node_is_root(&node));
        cr_expect_eq(node_id(&node), NODE_ROOT_ID);
        cr_assert_eq(walk(catalog, "main_2/all/csv", &node), 0);
        cr_expect_eq(node_mtime(catalog, &node), 2002);
        cr_expect_eq(node_id(&node), node_folder_id(node.instance, 0));
        cr_assert_eq(walk(catalog, "main_2/all/csv/00000000000000000010-0000000000000000001f.csv",
                             &node),
                0);
        cr_expect_eq(node_mtime(catalog, &node), 1001);
        cdc_catalog_unref(catalog);
}

Test(node, knows_what_desktops_ask_for)
{
        cr_expect(node_is_probe(".Trash") && node_is_probe(".Trash-1000"));
        cr_expect(node_is_probe(".hidden") && node_is_probe("autorun.inf"));
        cr_expect_not(node_is_probe("main_t") || node_is_probe(".Trashcan"));
}

Test(node, folders_of_ranges_are_marked)
{
        static const struct {
                const char *path;
                bool is_range_folder;
        } paths[] = {{"", false}, {"main_1/range", false}, {"main_1/range/all", false},
                {"main_1/range/all/csv", true}, {"main_1/range/all/jsonl", true},
                {"main_1/all/csv", false}};
        struct cdc_catalog *catalog = catalog_fixture(1);
        for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
                struct node node;
                cr_assert_eq(walk(catalog, paths[i].path, &node), 0);
                cr_expect_eq(
                        node_is_range_folder(&node), paths[i].is_range_folder, "%s", paths[i].path);
        }
        cdc_catalog_unref(catalog);
}
