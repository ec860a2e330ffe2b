/* SPDX-License-Identifier: MIT */
#include "attributes.h"

#include <criterion/criterion.h>
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
