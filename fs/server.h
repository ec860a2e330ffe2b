/* SPDX-License-Identifier: MIT
 *
 * server: what a request may use: the one context behind a FUSE session, in place of globals.
 *
 * Made by main before the mount, taken apart after it. All fields are set before the first
 * request and never change, but for the connection; what they point to looks after its own threads.
 */
#ifndef CDCFS_SERVER_H
#define CDCFS_SERVER_H

#include "fuse_api.h"

#include "buffers.h"
#include "cdc.h"
#include "documents.h"
#include "logger.h"
#include "options.h"
#include "ranges.h"
#include "readers.h"
#include "ready.h"

struct server {
        const struct options *options;
        struct logger *logger;
        struct ready *ready;
        struct cdc_view *view;
        struct cdc_engine *engine; /* NULL: a viewer */
        struct documents *documents;
        struct ranges *ranges;
        struct readers *readers;
        struct readers *range_readers; /* of lookups of ranges alone */
        struct buffers buffers;
        struct fuse_session *session;
        _Atomic int connection; /* descriptor of the mount that stands; 0: it does not yet */
};

#endif
