/* SPDX-License-Identifier: MIT */
#include "attributes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "catalog_fixture.h"

static const struct attributes_owner owner = {.uid = 1, .gid = 2, .mode = 0640};

Test(attributes, of_a_file_are_exact_and_good_for_ever)
{
        struct cdc_catalog *catalog = catalog_fixture(3);
        const struct cdc_instance *instance = cdc_catalog_find_object(catalog, 3);
        const struct cdc_file *file = cdc_catalog_next_file(catalog, instance, 1, 2);
        struct node node;
        struct fuse_entry_param entry;
        cr_assert_eq(node_resolve(catalog, file->ino, &node), 0);
        attributes_of_node(&owner, catalog, &node, &entry);
        cr_expect_eq(entry.ino, file->ino);
        cr_expect_eq(entry.generation, 0);
        cr_expect_eq(entry.attr_timeout, ATTRIBUTES_FOREVER);
        cr_expect_eq(entry.entry_timeout, ATTRIBUTES_FOREVER);
        cr_expect_eq(entry.attr.st_mode, S_IFREG | 0440);
        cr_expect_eq(entry.attr.st_uid, 1);
        cr_expect_eq(entry.attr.st_gid, 2);
        cr_expect_eq(entry.attr.st_size, 3001);
        cr_expect_eq(entry.attr.st_blocks, 6);
        cr_expect_eq(entry.attr.st_blksize, 131072);
        cr_expect_eq(entry.attr.st_nlink, 1);
        cr_expect_eq(entry.attr.st_mtim.tv_nsec, 1003);
        cdc_catalog_unref(catalog);
}

Test(attributes, of_a_directory_are_looked_at_again)
{
        struct cdc_catalog *catalog = catalog_fixture(1);
        struct node node;
        struct fuse_entry_param entry;
        cr_assert_eq(node_resolve(catalog, NODE_ROOT_ID, &node), 0);
        attributes_of_node(&owner, catalog, &node, &entry);
        cr_expect_eq(entry.ino, NODE_ROOT_ID);
        cr_expect_eq(entry.attr.st_ino, CATALOG_FIXTURE_BASE + 1);
        cr_expect_eq(entry.attr.st_mode, S_IFDIR | 0550);
        cr_expect_eq(entry.attr_timeout, ATTRIBUTES_DIRECTORY);
        cdc_catalog_unref(catalog);
}

Test(attributes, of_a_document_hold_while_its_name_does_not)
{
        const struct document document = {
                .id = NODE_FIRST_VERSION + 5, .ino = 77, .mtime_ns = 1500000000, .size = 513};
        struct fuse_entry_param entry;
        attributes_of_document(&owner, &document, &entry);
        cr_expect_eq(entry.ino, NODE_FIRST_VERSION + 5);
        cr_expect_eq(entry.attr.st_ino, 77);
        cr_expect_eq(entry.attr.st_size, 513);
        cr_expect_eq(entry.attr.st_blocks, 2);
        cr_expect_eq(entry.attr.st_mtim.tv_sec, 1);
        cr_expect_eq(entry.attr.st_mtim.tv_nsec, 500000000);
        cr_expect_eq(entry.entry_timeout, 0);
        cr_expect_eq(entry.attr_timeout, ATTRIBUTES_FOREVER);
}

/* The fixture's instances, the second of them with a role. */
static struct cdc_catalog *with_role(uint32_t gid)
{
        struct cdc_catalog *catalog = catalog_fixture(2), *next = NULL;
        struct catalog_entry *entry = NULL;
        struct cdc_instance instance = *cdc_catalog_find_object(catalog, 2);
        instance.has_role = true;
        instance.role_gid = gid;
        catalog_fixture_check(catalog_clone(catalog, &next));
        catalog_fixture_check(
                catalog_begin_entry(catalog_find_entry(catalog, 2), &instance, &entry));
        catalog_fixture_check(catalog_put(next, entry));
        catalog_fixture_check(catalog_finish(next));
        cdc_catalog_unref(catalog);
        return next;
}

static struct fuse_entry_param attributes_at(struct cdc_catalog *catalog, const char *path)
{
        struct node node;
        struct fuse_entry_param entry;
        char copy[200], *rest = copy, *name;
        snprintf(copy, sizeof copy, "%s", path);
        cr_assert_eq(node_resolve(catalog, NODE_ROOT_ID, &node), 0);
        while ((name = strsep(&rest, "/")))
                cr_assert_eq(node_find(catalog, &node, name, &node), 0, "%s", path);
        attributes_of_node(&owner, catalog, &node, &entry);
        return entry;
}

/* Everything of an instance with a role is the owner's and the group's, whatever the source lets
 * others do; what tells of all instances at once is the owner's. */
Test(attributes, of_a_role_are_its_groups_alone)
{
        static const struct {
                const char *path;
                unsigned mode, gid;
        } cases[] = {
                {"main_1", S_IFDIR | 0550, 2},
                {"main_1/live", S_IFDIR | 0550, 2},
                {"main_2", S_IFDIR | 0550, 77},
                {"main_2/all/csv", S_IFDIR | 0550, 77},
                {"main_2/all/csv/00000000000000000010-0000000000000000001f.csv", S_IFREG | 0440,
                        77},
                {"main_2/live", S_IFDIR | 0550, 77},
                {"main_2/range/all/jsonl", S_IFDIR | 0550, 77},
                {"transactions", S_IFDIR | 0500, 2},
                {"cdc/lsn_time_mapping", S_IFDIR | 0550, 2},
        };
        struct cdc_catalog *catalog = with_role(77), *nobody = with_role(UINT32_MAX),
                           *free_ = catalog_fixture(2);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                struct fuse_entry_param entry = attributes_at(catalog, cases[i].path);
                cr_expect_eq(entry.attr.st_mode, cases[i].mode, "%s", cases[i].path);
                cr_expect_eq(entry.attr.st_gid, cases[i].gid, "%s", cases[i].path);
                cr_expect_eq(entry.attr.st_uid, 1, "%s", cases[i].path);
        }
        cr_expect_eq(attributes_at(nobody, "main_2").attr.st_mode, S_IFDIR | 0500, "no such group");
        cr_expect_eq(attributes_at(free_, "transactions").attr.st_mode, S_IFDIR | 0550);
        cdc_catalog_unref(catalog);
        cdc_catalog_unref(nobody);
        cdc_catalog_unref(free_);
}
