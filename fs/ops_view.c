/* SPDX-License-Identifier: MIT
 *
 * ops_view: what a request is answered from: one catalog, held until the reply.
 */
#include "ops.h"

struct ops_view ops_view(fuse_req_t request)
{
        struct server *server = fuse_req_userdata(request);
        return (struct ops_view){
                .server = server,
                .catalog = cdc_view_catalog(server->view),
                .owner = attributes_owner(server),
        };
}

void ops_view_release(struct ops_view *view)
{
        cdc_catalog_unref(view->catalog);
}

int ops_view_renew(struct ops_view *view)
{
        /* Another thread may have been the one to find the news. */
        cdc_view_refresh(view->server->view);
        struct cdc_catalog *newest = cdc_view_catalog(view->server->view);
        int is_newer = newest != view->catalog;
        cdc_catalog_unref(view->catalog);
        view->catalog = newest;
        return is_newer;
}
