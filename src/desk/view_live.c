/* SPDX-License-Identifier: MIT
 *
 * view_live: files of a view that are not listed yet, each call on the calling thread's
 * connection. It makes no bytes; the faces do.
 */
#include "cdc.h"
#include "desk/view.h"
#include "faces/livefile.h"

/* A struct cdc_live is a livefile of a pool whose owner is the view. */
static struct livefile *livefile_of(struct cdc_live *live)
{
        return (struct livefile *)live;
}

static int stat_live(struct cdc_view *view, uint64_t ino,
        int (*ask)(struct livefile_pool *pool, sqlite3 *db, uint64_t ino,
                struct livefile_status *ret_status),
        struct cdc_live_status *ret_status)
{
        struct store *store = NULL;
        struct livefile_status status;
        int r = view_store(view, NULL, &store);
        if (r == 0)
                r = ask(view_livefiles(view), store_db(store), ino, &status);
        if (r == 0)
                *ret_status = (struct cdc_live_status){
                        .size = status.size,
                        .mtime_ns = status.mtime_ns,
                        .is_listed = status.is_listed,
                };
        return r;
}

int cdc_live_stat(struct cdc_view *view, uint64_t ino, struct cdc_live_status *ret_status)
{
        return stat_live(view, ino, livefile_stat, ret_status);
}

int cdc_live_try_stat(struct cdc_view *view, uint64_t ino, struct cdc_live_status *ret_status)
{
        return stat_live(view, ino, livefile_try_stat, ret_status);
}

int cdc_live_open(struct cdc_view *view, uint64_t ino, struct cdc_live **ret_live)
{
        struct store *store = NULL;
        struct livefile *livefile = NULL;
        int r = view_store(view, NULL, &store);
        if (r == 0)
                r = livefile_open(view_livefiles(view), store_db(store), ino, &livefile);
        if (r == 0)
                *ret_live = (struct cdc_live *)livefile;
        return r;
}

int cdc_live_read(
        struct cdc_live *live, uint64_t offset, void *buffer, size_t size, size_t *ret_size)
{
        struct store *store = NULL;
        int r = view_store(livefile_owner(livefile_of(live)), NULL, &store);
        if (r < 0)
                return r;
        return livefile_read(livefile_of(live), store_db(store), offset, buffer, size, ret_size);
}

int cdc_live_try_read(
        struct cdc_live *live, uint64_t offset, void *buffer, size_t size, size_t *ret_size)
{
        return livefile_try_read(livefile_of(live), offset, buffer, size, ret_size);
}

void cdc_live_close(struct cdc_live *live)
{
        if (live)
                livefile_close(livefile_of(live));
}
