/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <string.h>

#include "catalog_fixture.h"
#include "desk/catalog.h"
#include "node.h"

/* The directory at a path of names between slashes. */
static struct node walk(const struct cdc_catalog *catalog, const char *path)
{
        char copy[64];
        struct node node;
        strcpy(copy, path);
        cr_assert_eq(node_resolve(catalog, NODE_ROOT_ID, &node), 0);
        for (char *name = strtok(copy, "/"); name; name = strtok(NULL, "/"))
                cr_assert_eq(node_find(catalog, &node, name, &node), 0, "%s in %s", name, path);
        return node;
}

/* Folders and live files with blanks between them, each found by its name too. */
static void expect_listing(const struct cdc_catalog *catalog, const char *path, const char *wanted)
{
        struct node directory = walk(catalog, path), child, again;
        char name[NODE_NAME_SIZE], names[256] = "";
        uint64_t cookie = NODE_COOKIE_PARENT;
        while (node_next(catalog, &directory, cookie, &child, name, &cookie)) {
                strcat(strcat(names, name), " ");
                cr_assert_eq(node_find(catalog, &directory, name, &again), 0, "%s", name);
                cr_expect_eq(again.ino, child.ino, "%s", name);
                cr_expect_eq(again.format, child.format, "%s", name);
                cr_expect_eq(node_resolve(catalog, child.ino, &again), 0, "%s", name);
        }
        cr_expect_str_eq(names, wanted, "%s", path);
}

static void expect_nothing(const struct cdc_catalog *catalog, const char *path, const char *name)
{
        struct node directory = walk(catalog, path), child;
        cr_expect_lt(node_find(catalog, &directory, name, &child), 0, "%s/%s", path, name);
}

Test(node_formats, are_one_folder_each)
{
        struct cdc_catalog *catalog = catalog_fixture(1);
        expect_listing(catalog, "main_1/all", "csv jsonl debezium qlik ");
        expect_listing(catalog, "main_1/range/all", "csv jsonl debezium qlik ");
        expect_nothing(catalog, "main_1/all", "parquet");
        cdc_catalog_unref(catalog);
}

Test(node_formats, are_listed_as_the_mount_chose_and_open_as_ranges_all_the_same)
{
        static const struct {
                const char *list, *folders;
        } cases[] = {{"csv", "csv "}, {"qlik:csv", "csv qlik "}, {"debezium", "debezium "},
                {"jsonl:debezium", "jsonl debezium "}};
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                struct cdc_catalog *catalog = catalog_fixture(1);
                cr_assert_eq(cdc_parse_formats(cases[i].list, &catalog->formats), 0);
                expect_listing(catalog, "main_1/all", cases[i].folders);
                expect_listing(catalog, "main_1/range/all", "csv jsonl debezium qlik ");
                cdc_catalog_unref(catalog);
        }
        struct cdc_catalog *catalog = catalog_fixture(1);
        cr_assert_eq(cdc_parse_formats("csv", &catalog->formats), 0);
        expect_nothing(catalog, "main_1/all", "qlik");
        cdc_catalog_unref(catalog);
}
