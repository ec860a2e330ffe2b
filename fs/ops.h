/* SPDX-License-Identifier: MIT
 *
 * ops: requests of the kernel: unpack, ask the rooms, reply. The userdata of the session is a
 * struct server.
 *
 * Everything is read-only: what would change something is EROFS, whatever a remount says. Node
 * ids that mean nothing are ESTALE, so that the kernel looks the path up again. xattr, flush,
 * access, lseek and locks are left out: the kernel asks once and then knows.
 *
 * Of fuse_file_info only direct_io and keep_cache are used: the bits behind them moved between
 * libfuse 3.14.0 and 3.16 under one soname.
 */
#ifndef CDCFS_OPS_H
#define CDCFS_OPS_H

#include "fuse_api.h"

#include "attributes.h"
#include "node.h"
#include "server.h"

struct fuse_lowlevel_ops ops_table(void);

/* A request's server, and a catalog reference with the owner to answer it with. */
struct ops_view {
        struct server *server;
        struct cdc_catalog *catalog;
        struct attributes_owner owner;
};
struct ops_view ops_view(fuse_req_t request);
void ops_view_release(struct ops_view *view);
/* A catalog with what came since into `view`. 1 if there was something new. */
int ops_view_renew(struct ops_view *view);

/* Of a file that is not listed yet; what takes long is answered by the readers. */
void ops_live_lookup(fuse_req_t request, struct ops_view *view, uint64_t ino);
void ops_live_getattr(fuse_req_t request, struct ops_view *view, uint64_t ino);

/* Of a range, by its name; answered by a thread that may render for long. */
void ops_range_lookup(
        fuse_req_t request, struct ops_view *view, const struct node *folder, const char *name);

void ops_open(fuse_req_t request, fuse_ino_t id, struct fuse_file_info *info);
void ops_read(
        fuse_req_t request, fuse_ino_t id, size_t size, off_t offset, struct fuse_file_info *info);
void ops_release(fuse_req_t request, fuse_ino_t id, struct fuse_file_info *info);

void ops_opendir(fuse_req_t request, fuse_ino_t id, struct fuse_file_info *info);
void ops_readdir(
        fuse_req_t request, fuse_ino_t id, size_t size, off_t offset, struct fuse_file_info *info);
void ops_readdirplus(
        fuse_req_t request, fuse_ino_t id, size_t size, off_t offset, struct fuse_file_info *info);
/* Fills in every op that would change something. */
void ops_refuse_changes(struct fuse_lowlevel_ops *table);

#endif
