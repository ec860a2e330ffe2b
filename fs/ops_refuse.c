/* SPDX-License-Identifier: MIT
 *
 * ops_refuse: everything that would change the tree. The kernel refuses it by itself while the
 * mount is read-only; root can remount it.
 */
#include <errno.h>

#include "ops.h"

static void setattr(fuse_req_t request, fuse_ino_t id, struct stat *attributes, int what,
        struct fuse_file_info *info)
{
        fuse_reply_err(request, EROFS);
}

static void mknod_(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev)
{
        fuse_reply_err(request, EROFS);
}

static void mkdir_(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode)
{
        fuse_reply_err(request, EROFS);
}

static void remove_(fuse_req_t request, fuse_ino_t parent, const char *name)
{
        fuse_reply_err(request, EROFS);
}

static void symlink_(fuse_req_t request, const char *link, fuse_ino_t parent, const char *name)
{
        fuse_reply_err(request, EROFS);
}

static void rename_(fuse_req_t request, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
        const char *newname, unsigned flags)
{
        fuse_reply_err(request, EROFS);
}

static void link_(fuse_req_t request, fuse_ino_t id, fuse_ino_t newparent, const char *newname)
{
        fuse_reply_err(request, EROFS);
}

static void write_(fuse_req_t request, fuse_ino_t id, const char *bytes, size_t size, off_t offset,
        struct fuse_file_info *info)
{
        fuse_reply_err(request, EROFS);
}

static void create_(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode,
        struct fuse_file_info *info)
{
        fuse_reply_err(request, EROFS);
}

static void fallocate_(fuse_req_t request, fuse_ino_t id, int mode, off_t offset, off_t length,
        struct fuse_file_info *info)
{
        fuse_reply_err(request, EROFS);
}

void ops_refuse_changes(struct fuse_lowlevel_ops *table)
{
        table->setattr = setattr;
        table->mknod = mknod_;
        table->mkdir = mkdir_;
        table->unlink = remove_;
        table->rmdir = remove_;
        table->symlink = symlink_;
        table->rename = rename_;
        table->link = link_;
        table->write = write_;
        table->create = create_;
        table->fallocate = fallocate_;
}
