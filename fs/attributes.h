/* SPDX-License-Identifier: MIT
 *
 * attributes: what stat shows, and for how long the kernel may believe it.
 *
 * Sizes are exact at the first stat, always. Owner, group and read bits are the source's; with a
 * role everything of an instance has the role's group, and nobody else reads it (directories 0550,
 * files 0440), and what tells of all instances at once is the owner's alone;
 * the root may then be searched by all, so that the role's members reach what is theirs.
 */
#ifndef CDCFS_ATTRIBUTES_H
#define CDCFS_ATTRIBUTES_H

#include "fuse_api.h"

#include "node.h"
#include "server.h"

/* Seconds. A closed file never changes, a document's version neither, but its name moves on to
 * the next version; directories are looked at again. */
#define ATTRIBUTES_FOREVER (365.0 * 86400)
#define ATTRIBUTES_DIRECTORY 1.0
/* A range may become invalid: its name is looked up again, and then asked for again. */
#define ATTRIBUTES_RANGE 1.0
/* Of a file that grows the kernel asks at every stat and read. To believe it for a while and be
 * told of growth would not do: a notice that comes while the kernel asks makes it drop the answer,
 * and a read then ends before the size that fstat has just given (tar fills that up with NULs). */
#define ATTRIBUTES_LIVE 0.0

/* Owner, group and mode of what is no instance's, and of instances without a role. */
struct attributes_owner {
        uint32_t uid, gid, mode;
};
struct attributes_owner attributes_owner(const struct server *server);

/* Of a directory or closed file. */
void attributes_of_node(const struct attributes_owner *owner, const struct cdc_catalog *catalog,
        const struct node *node, struct fuse_entry_param *ret_entry);
/* Of a file that stands in live/: its name passes on to the next one. */
void attributes_of_live(const struct attributes_owner *owner, const struct cdc_catalog *catalog,
        uint64_t ino, const struct cdc_live_status *status, struct fuse_entry_param *ret_entry);
/* Of a range that the kernel knows or will know. */
void attributes_of_range(const struct attributes_owner *owner, const struct cdc_catalog *catalog,
        const struct ranges_status *status, struct fuse_entry_param *ret_entry);
/* Of a version of a document. */
void attributes_of_document(const struct attributes_owner *owner, const struct cdc_catalog *catalog,
        const struct document *document, struct fuse_entry_param *ret_entry);

#endif
