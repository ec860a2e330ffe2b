/* SPDX-License-Identifier: MIT
 *
 * node: what stands where in the mount, and which inode number means what.
 *
 * The tree is a table with one row per kind of file. A row has either a name, or members whose
 * names come from the catalog. Numbers are not stored: a directory or document is its place in
 * its owner's block of numbers (the root's or an instance's), a closed file has its own number
 * in the catalog, from the time when it was open and stood in live/.
 *
 * A new virtual file is a row, and its document in the library or its node_….c with the members.
 *
 * Plain structs over one catalog; no FUSE, no I/O, no locks. A node borrows from the catalog it
 * was found in.
 */
#ifndef CDCFS_NODE_H
#define CDCFS_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "cdc.h"

enum {
        NODE_ROOT_ID = 1, /* what FUSE calls the root */
        NODE_NAME_SIZE = 256,
        /* Cookies: 1 `.`, 2 `..`, then the named rows, then members by their ordinal. */
        NODE_COOKIE_PARENT = 2,
        NODE_COOKIE_MEMBERS = 1024,
};

/* Document versions get node ids of their own from here on; no number of a store is so high. */
#define NODE_FIRST_VERSION (UINT64_C(1) << 62)

enum node_type {
        NODE_DIRECTORY,
        NODE_DOCUMENT,
        NODE_FILE, /* closed and listed */
        NODE_LIVE, /* not listed yet: it grows */
};

struct node_kind;

struct node {
        const struct node_kind *kind;
        uint64_t ino; /* st_ino; the node id too, but for the root and documents */
        const struct cdc_instance *instance; /* NULL at the root */
        unsigned format;                     /* of a folder of files, or of a file */
        const struct cdc_file *file;         /* of a closed file */
};

/* Things of one kind in a directory. */
struct node_members {
        /* The member of that name; false if there is none. They fill in what tells the member
         * from its directory: instance, format, file. */
        bool (*find)(const struct cdc_catalog *catalog, const struct node *directory,
                const char *name, struct node *member);
        /* The first member whose ordinal is above `after`; false at the end. */
        bool (*next)(const struct cdc_catalog *catalog, const struct node *directory,
                uint64_t after, struct node *member, uint64_t *ret_ordinal);
        void (*name)(const struct node *member, char ret_name[NODE_NAME_SIZE]);
};

extern const struct node_members node_instances;    /* capture instances, in the root */
extern const struct node_members node_formats;      /* a folder a format of all changes */
extern const struct node_members node_net;          /* net/, where the instance supports it */
extern const struct node_members node_net_formats;  /* a folder a format of net changes */
extern const struct node_members node_files;        /* the closed files of a format */
extern const struct node_members node_mapping;      /* the closed files of lsn_time_mapping */
extern const struct node_members node_transactions; /* the same of transactions/ */
extern const struct node_members node_live;         /* the live file of each format */

/* One row of the table. */
struct node_kind {
        const char *name; /* NULL: members */
        enum node_type type;
        const struct node_kind *parent; /* NULL: the root itself */
        unsigned place;                 /* in the block of numbers of its owner */
        unsigned places;                /* of members: how many there are from `place` on */
        enum cdc_document document;     /* NODE_DOCUMENT */
        bool is_range_folder;           /* lists nothing; ranges open by name */
        const struct node_members *members;
};

/* The node that a node id means in this catalog; not for document versions. 0, or -ESTALE. */
int node_resolve(const struct cdc_catalog *catalog, uint64_t id, struct node *ret_node);
/* The child of a directory. 0 or -ENOENT. */
int node_find(const struct cdc_catalog *catalog, const struct node *directory, const char *name,
        struct node *ret_child);
/* The entry after a cookie (0 = the first), `.` and `..` included, whose node is the directory
 * itself. 1 with its node, name and cookie, 0 at the end. Any cookie that was ever given is good.
 */
int node_next(const struct cdc_catalog *catalog, const struct node *directory, uint64_t cookie,
        struct node *ret_child, char ret_name[NODE_NAME_SIZE], uint64_t *ret_cookie);

/* The node id that FUSE calls it by; meaningless for documents. */
uint64_t node_id(const struct node *node);
bool node_is_root(const struct node *node);
bool node_is_range_folder(const struct node *node);
/* The directory whose names pass from file to file. */
bool node_is_live_directory(const struct node *node);
/* A file manager's question that will be answered with no for ever. */
bool node_is_probe(const char *name);
/* When it last changed: the file's, or what came or went in the directory. */
int64_t node_mtime(const struct cdc_catalog *catalog, const struct node *node);
/* Is it transactions/ or a file in it? */
bool node_is_of_transactions(const struct node *node);
/* The ids of cdc/lsn_time_mapping and of transactions. */
uint64_t node_mapping_id(const struct cdc_catalog *catalog);
uint64_t node_transactions_id(const struct cdc_catalog *catalog);
/* The id of the folder in which an instance's files of a format stand. */
uint64_t node_folder_id(const struct cdc_instance *instance, unsigned format);

#endif
