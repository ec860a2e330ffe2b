/* SPDX-License-Identifier: MIT
 *
 * ops_directory: listing.
 *
 * There is no open directory: a cookie is an ordinal that is never used again, so each request
 * may be answered from the newest catalog, and every name that stays is given once.
 */
#include <errno.h>

#include "ops.h"

void ops_opendir(fuse_req_t request, fuse_ino_t id, struct fuse_file_info *info)
{
        struct ops_view view = ops_view(request);
        ops_view_renew(&view);
        struct node node;
        int r = node_resolve(view.catalog, id, &node);
        if (r < 0)
                fuse_reply_err(request, -r);
        else
                fuse_reply_open(request, info);
        ops_view_release(&view);
}

/* What READDIRPLUS tells of a name. `.` and `..` are not looked up, and documents and live files
 * will be when somebody wants them: node id 0 says so. */
static void describe(struct ops_view *view, const struct node *node, const char *name,
        struct fuse_entry_param *ret)
{
        bool is_dots = name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
        if (node->kind->type == NODE_DOCUMENT || node->kind->type == NODE_LIVE) {
                const struct document none = {.ino = node->ino};
                attributes_of_document(&view->owner, view->catalog, &none, ret);
        } else {
                attributes_of_node(&view->owner, view->catalog, node, ret);
                if (is_dots)
                        ret->ino = 0;
        }
}

/* Entries after a cookie, as many as fit. Returns the bytes they take. */
static size_t fill(fuse_req_t request, struct ops_view *view, const struct node *directory,
        bool is_plus, uint64_t cookie, char *buffer, size_t size)
{
        struct node node;
        char name[NODE_NAME_SIZE];
        size_t used = 0;
        while (node_next(view->catalog, directory, cookie, &node, name, &cookie) > 0) {
                struct fuse_entry_param entry;
                describe(view, &node, name, &entry);
                size_t taken = is_plus ? fuse_add_direntry_plus(request, buffer + used, size - used,
                                                 name, &entry, (off_t)cookie)
                                       : fuse_add_direntry(request, buffer + used, size - used,
                                                 name, &entry.attr, (off_t)cookie);
                if (taken > size - used)
                        break;
                used += taken;
        }
        return used;
}

static void list(fuse_req_t request, fuse_ino_t id, size_t size, off_t offset, bool is_plus)
{
        struct ops_view view = ops_view(request);
        struct node directory;
        char *buffer = buffers_take(&view.server->buffers, size);
        int r = buffer ? node_resolve(view.catalog, id, &directory) : -ENOMEM;
        if (r < 0)
                fuse_reply_err(request, -r);
        else
                fuse_reply_buf(request, buffer,
                        fill(request, &view, &directory, is_plus, (uint64_t)offset, buffer, size));
        ops_view_release(&view);
}

void ops_readdir(
        fuse_req_t request, fuse_ino_t id, size_t size, off_t offset, struct fuse_file_info *info)
{
        list(request, id, size, offset, false);
}

void ops_readdirplus(
        fuse_req_t request, fuse_ino_t id, size_t size, off_t offset, struct fuse_file_info *info)
{
        list(request, id, size, offset, true);
}
