/* SPDX-License-Identifier: MIT
 *
 * catalog: an immutable picture of what a mount lists: instances and their closed files.
 *
 * A catalog never changes once it is published; the next one shares with it everything that is
 * the same. Shared parts are counted on their own:
 *
 *      catalog ── entries (one an instance) ── formats ── blocks of up to 1024 files
 *           ├──── pages: inode number → (instance, format, ordinal), 1024 numbers each
 *           └──── lives: the files that are not listed yet, which live/ shows
 *
 * so that one more file among 50 000 copies a block, a page and some hundred pointers.
 *
 * Building:
 *
 *      catalog_clone(previous, &next);          or catalog_new
 *      catalog_begin_entry(previous_entry or NULL, &instance, &entry);
 *      catalog_append(next, entry, format, &file);     in the order of ordinals
 *      catalog_put(next, entry);                       takes the entry over
 *      catalog_append_live(next, object_id, format, ino);
 *      catalog_finish(next);                           now it may be shared
 *
 * It knows no store: catalog_load reads one. The readers' side is in cdc.h.
 */
#ifndef CDC_CATALOG_H
#define CDC_CATALOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cdc.h"
#include "memory/store.h"

enum { CATALOG_BLOCK_FILES = 1024, CATALOG_PAGE_INOS = 1024 };

/* Files of one format of an instance, by ordinal. */
struct catalog_block {
        atomic_uint references;
        unsigned count;
        unsigned capacity;
        struct cdc_file files[];
};

struct catalog_list {
        struct catalog_block **blocks; /* owns a reference of each; none is empty */
        size_t block_count;
        uint64_t file_count;
        /* The first of them may be withdrawn: they are found, not listed. */
        uint64_t withdrawn_count;
        uint64_t withdrawn_up_to; /* ordinal of the last such; 0 = none */
};

/* One instance. */
struct catalog_entry {
        struct cdc_instance instance; /* first, so that a pointer to it leads back here */
        atomic_uint references;
        char *name;      /* owned */
        char *directory; /* owned */
        uint64_t bytes;  /* of all its files */
        unsigned format_count;
        struct catalog_list formats[];
};

/* Where the file with an inode number is listed. ordinal 0: no file has the number. */
struct catalog_slot {
        int64_t object_id;
        uint64_t ordinal : 56;
        uint64_t format : 8;
};

struct catalog_page {
        atomic_uint references;
        uint64_t number; /* of the page: inode number / CATALOG_PAGE_INOS */
        struct catalog_slot slots[CATALOG_PAGE_INOS];
};

/* What live/ shows of an instance in a format. */
struct catalog_live {
        uint64_t ino;
        int64_t object_id;
        unsigned format;
};

struct cdc_catalog {
        atomic_uint references;
        /* What it is a picture of; both only rise (struct state). */
        uint64_t version; /* of the instances: catalog_version */
        int64_t stamp_ns; /* of the files: last_mtime_ns */
        uint64_t base_ino;
        uint32_t formats; /* that are listed: bit `format`; clones have it from the first */
        int64_t mtime_ns;
        uint64_t file_count;
        uint64_t bytes;
        bool has_roles;
        size_t entry_count;
        struct catalog_entry **entries;      /* by object_id; owns a reference of each */
        struct catalog_entry **by_directory; /* borrows */
        struct catalog_entry **by_ino;       /* by base_ino; borrows */
        size_t page_count;
        struct catalog_page **pages; /* by number; owns a reference of each */
        size_t live_count;
        struct catalog_live *lives;        /* by instance and format; owned, as the next */
        struct catalog_live *lives_by_ino; /* the same by inode number */
};

/* ---- building: one thread, before the catalog is shared ---- */

/* An empty one. NULL: no memory. */
struct cdc_catalog *catalog_new(void);
/* Shares everything with `catalog`. */
int catalog_clone(const struct cdc_catalog *catalog, struct cdc_catalog **ret_catalog);
/* An entry for an instance (its strings are copied), with the files of `previous` if that is not
 * NULL. */
int catalog_begin_entry(const struct catalog_entry *previous, const struct cdc_instance *instance,
        struct catalog_entry **ret_entry);
/* Adds a file after all others of its format. */
int catalog_append(struct cdc_catalog *catalog, struct catalog_entry *entry, unsigned format,
        const struct cdc_file *file);
/* Adds the entry, or replaces the one it began from, and takes its reference over, on failure
 * too. */
int catalog_put(struct cdc_catalog *catalog, struct catalog_entry *entry);
/* Takes an entry out with the numbers of its files; also before one with fewer files comes in its
 * place. Nothing happens where there is none. */
int catalog_remove(struct cdc_catalog *catalog, int64_t object_id);
/* Adds what live/ shows of an instance in a format; a clone begins without any. */
int catalog_append_live(
        struct cdc_catalog *catalog, int64_t object_id, unsigned format, uint64_t ino);
/* Sorts and counts: the catalog is complete. */
int catalog_finish(struct cdc_catalog *catalog);

void catalog_entry_unref(struct catalog_entry *entry); /* NULL is allowed, as below */
void catalog_entry_unrefp(struct catalog_entry **entry);
void catalog_unrefp(struct cdc_catalog **catalog);

/* ---- reading ---- */

/* The file with the greatest ordinal, withdrawn or not, or NULL. */
const struct cdc_file *catalog_newest_file(const struct catalog_list *list);

struct cdc_catalog *catalog_ref(struct cdc_catalog *catalog);
/* NULL if there is none. */
struct catalog_entry *catalog_find_entry(const struct cdc_catalog *catalog, int64_t object_id);
/* The orders of the two lists of struct catalog_live, for qsort. */
int catalog_order_live(const void *a, const void *b);
int catalog_order_live_ino(const void *a, const void *b);
/* Is `a` a picture of a later state than `b`? */
bool catalog_is_newer(const struct cdc_catalog *a, const struct cdc_catalog *b);

/* Reads the store in one read transaction. `previous` (or NULL) is what is shared and what tells
 * changes apart. 1 with a new catalog, 0 if nothing in it would differ, or negative errno. */
int catalog_load(
        struct store *store, struct cdc_catalog *previous, struct cdc_catalog **ret_catalog);

#endif
