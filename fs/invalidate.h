/* SPDX-License-Identifier: MIT
 *
 * invalidate: what the kernel must forget when one catalog follows another.
 *
 * One thread, the notifier; it holds no lock during the calls, which may wait for requests in
 * flight. Whether the kernel knew what it is told to forget does not matter.
 */
#ifndef CDCFS_INVALIDATE_H
#define CDCFS_INVALIDATE_H

#include "cdc.h"

struct fuse_session;

struct invalidate {
        struct cdc_catalog *catalog; /* owns a reference; what the kernel was told of last */
        uint32_t uid, gid, mode;
};

/* From here on news are told. */
void invalidate_begin(struct invalidate *told, struct cdc_view *view);
/* Tells what the view has now and had not then. 1 if there was something, or 0. */
int invalidate_news(struct invalidate *told, struct fuse_session *session, struct cdc_view *view);
void invalidate_end(struct invalidate *told);

#endif
