/* SPDX-License-Identifier: MIT
 *
 * attributes: struct stat of nodes and documents.
 */
#include "attributes.h"

#include <sys/stat.h>

struct attributes_owner attributes_owner(const struct server *server)
{
        struct attributes_owner owner;
        cdc_view_owner(server->view, &owner.uid, &owner.gid, &owner.mode);
        return owner;
}

static void fill(
        const struct attributes_owner *owner, uint64_t ino, int64_t mtime_ns, struct stat *ret_stat)
{
        struct timespec time = {.tv_sec = mtime_ns / 1000000000, .tv_nsec = mtime_ns % 1000000000};
        *ret_stat = (struct stat){
                .st_ino = ino,
                .st_nlink = 1, /* of a directory: "not counted" */
                .st_uid = owner->uid,
                .st_gid = owner->gid,
                .st_blksize = 128 << 10,
                .st_atim = time,
                .st_mtim = time,
                .st_ctim = time,
        };
}

static void fill_file(const struct attributes_owner *owner, uint64_t size, struct stat *stat)
{
        stat->st_mode = S_IFREG | (owner->mode & 0444);
        stat->st_size = (off_t)size;
        stat->st_blocks = (blkcnt_t)((size + 511) / 512);
}

/* With a role an instance is the owner's and the group's alone, for reading. */
static struct attributes_owner owner_of_instance(
        const struct attributes_owner *owner, const struct cdc_instance *instance)
{
        struct attributes_owner own = *owner;
        if (!instance || !instance->has_role)
                return own;
        bool has_group = instance->role_gid != UINT32_MAX;
        own.mode = has_group ? 0440 : 0400;
        if (has_group)
                own.gid = instance->role_gid;
        return own;
}

/* transactions/ tells of every instance: where one has a role, the owner alone reads it. */
static struct attributes_owner owner_of_node(const struct attributes_owner *owner,
        const struct cdc_catalog *catalog, const struct node *node)
{
        struct attributes_owner own = owner_of_instance(owner, node->instance);
        if (node_is_of_transactions(node) && cdc_catalog_has_roles(catalog))
                own.mode = 0400;
        return own;
}

void attributes_of_node(const struct attributes_owner *owner, const struct cdc_catalog *catalog,
        const struct node *node, struct fuse_entry_param *ret_entry)
{
        struct attributes_owner own = owner_of_node(owner, catalog, node);
        *ret_entry = (struct fuse_entry_param){
                .ino = node_id(node),
                .attr_timeout = node->file ? ATTRIBUTES_FOREVER : ATTRIBUTES_DIRECTORY,
                .entry_timeout = !node->file                ? ATTRIBUTES_DIRECTORY
                                 : node->file->is_withdrawn ? 0 /* nobody tells when it goes */
                                                            : ATTRIBUTES_FOREVER,
        };
        fill(&own, node->ino, node_mtime(catalog, node), &ret_entry->attr);
        if (node->file)
                fill_file(&own, node->file->size, &ret_entry->attr);
        else /* whoever may read may search */
                ret_entry->attr.st_mode = S_IFDIR | (own.mode & 0444) | (own.mode & 0444) >> 2;
}

void attributes_of_live(const struct attributes_owner *owner, uint64_t ino,
        const struct cdc_live_status *status, struct fuse_entry_param *ret_entry)
{
        *ret_entry = (struct fuse_entry_param){
                .ino = ino,
                .attr_timeout = status->is_listed ? ATTRIBUTES_FOREVER : ATTRIBUTES_LIVE,
                .entry_timeout = 0,
        };
        fill(owner, ino, status->mtime_ns, &ret_entry->attr);
        fill_file(owner, status->size, &ret_entry->attr);
}

void attributes_of_range(const struct attributes_owner *owner, const struct ranges_status *status,
        struct fuse_entry_param *ret_entry)
{
        *ret_entry = (struct fuse_entry_param){
                .ino = status->ino,
                .attr_timeout = ATTRIBUTES_FOREVER,
                .entry_timeout = ATTRIBUTES_RANGE,
        };
        fill(owner, status->ino, status->mtime_ns, &ret_entry->attr);
        fill_file(owner, status->size, &ret_entry->attr);
}

void attributes_of_document(const struct attributes_owner *owner, const struct document *document,
        struct fuse_entry_param *ret_entry)
{
        *ret_entry = (struct fuse_entry_param){
                .ino = document->id,
                .attr_timeout = ATTRIBUTES_FOREVER,
                .entry_timeout = 0,
        };
        fill(owner, document->ino, document->mtime_ns, &ret_entry->attr);
        fill_file(owner, document->size, &ret_entry->attr);
}
