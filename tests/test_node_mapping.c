/* SPDX-License-Identifier: MIT */
#include "node.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "catalog_fixture.h"

/* One that has two files of lsn_time_mapping and one of transactions, or none. */
static struct cdc_catalog *make(bool has_mapping)
{
        struct cdc_catalog *catalog = catalog_fixture(1), *next = NULL;
        struct catalog_entry *entry = NULL;
        const struct cdc_instance mapping = {.base_ino = CATALOG_FIXTURE_BASE + 5000,
                .mtime_ns = 7,
                .name = "",
                .directory = ""};
        if (!has_mapping)
                return catalog;
        catalog_fixture_check(catalog_clone(catalog, &next));
        catalog_fixture_check(catalog_begin_entry(NULL, &mapping, &entry));
        for (uint64_t i = 1; i <= 2; i++) {
                struct cdc_file file = {.ino = mapping.base_ino + 100 + i,
                        .ordinal = i,
                        .mtime_ns = 5,
                        .is_mapping = true};
                snprintf(file.from_lsn, sizeof file.from_lsn, "%020x", (unsigned)(16 * i));
                snprintf(file.to_lsn, sizeof file.to_lsn, "%020x", (unsigned)(16 * i + 15));
                catalog_fixture_check(catalog_append(next, entry, CDC_MAPPING_TABLE, &file));
                file.ino += 50;
                if (i == 1)
                        catalog_fixture_check(
                                catalog_append(next, entry, CDC_MAPPING_TRANSACTIONS, &file));
        }
        catalog_fixture_check(catalog_put(next, entry));
        catalog_fixture_check(catalog_finish(next));
        cdc_catalog_unref(catalog);
        return next;
}

static struct node find_folder(const struct cdc_catalog *catalog)
{
        struct node node;
        cr_assert_eq(node_resolve(catalog, NODE_ROOT_ID, &node), 0);
        cr_assert_eq(node_find(catalog, &node, "cdc", &node), 0);
        cr_assert_eq(node_find(catalog, &node, "lsn_time_mapping", &node), 0);
        return node;
}

Test(node_mapping, lists_its_files_and_finds_them_by_name_and_number)
{
        struct cdc_catalog *catalog = make(true);
        struct node folder = find_folder(catalog), child, again;
        char name[NODE_NAME_SIZE];
        uint64_t cookie = NODE_COOKIE_PARENT;
        unsigned count = 0;
        cr_expect_eq(folder.ino, node_mapping_id(catalog));
        while (node_next(catalog, &folder, cookie, &child, name, &cookie) > 0) {
                count++;
                cr_assert_eq(node_find(catalog, &folder, name, &again), 0);
                cr_expect_eq(again.ino, child.ino);
                cr_assert_eq(node_resolve(catalog, child.ino, &again), 0);
                cr_expect_eq(again.kind, child.kind);
                cr_expect_eq(again.file, child.file);
        }
        cr_expect_eq(count, 2);
        cr_expect_str_eq(name, "00000000000000000020-0000000000000000002f.csv");
        cr_expect_eq(node_find(catalog, &folder, "x.csv", &child), -ENOENT);
        cdc_catalog_unref(catalog);
}

Test(node_mapping, has_the_files_of_transactions_at_the_root)
{
        struct cdc_catalog *catalog = make(true);
        struct node folder, child, again;
        char name[NODE_NAME_SIZE];
        uint64_t cookie = NODE_COOKIE_PARENT;
        cr_assert_eq(node_resolve(catalog, NODE_ROOT_ID, &folder), 0);
        cr_assert_eq(node_find(catalog, &folder, "transactions", &folder), 0);
        cr_expect_eq(folder.ino, node_transactions_id(catalog));
        cr_expect(node_is_of_transactions(&folder));
        cr_assert_eq(node_next(catalog, &folder, cookie, &child, name, &cookie), 1);
        cr_expect_str_eq(name, "00000000000000000010-0000000000000000001f.jsonl");
        cr_assert_eq(node_find(catalog, &folder, name, &again), 0);
        cr_expect_eq(again.ino, child.ino);
        cr_assert_eq(node_resolve(catalog, child.ino, &again), 0);
        cr_expect_eq(again.kind, child.kind);
        cr_expect(node_is_of_transactions(&again));
        cr_expect_eq(node_next(catalog, &folder, cookie, &child, name, &cookie), 0);
        cdc_catalog_unref(catalog);
}

Test(node_mapping, is_empty_where_there_are_none)
{
        struct cdc_catalog *catalog = make(false);
        struct node folder = find_folder(catalog), child;
        char name[NODE_NAME_SIZE];
        uint64_t cookie = NODE_COOKIE_PARENT;
        cr_expect_eq(node_next(catalog, &folder, cookie, &child, name, &cookie), 0);
        cr_expect_eq(node_find(catalog, &folder, "00000000000000000020-0000000000000000002f.csv",
                             &child),
                -ENOENT);
        cdc_catalog_unref(catalog);
}
