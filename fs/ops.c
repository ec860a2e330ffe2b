/* SPDX-License-Identifier: MIT
 *
 * ops: lookup and attributes.
 */
#include "ops.h"

#include <errno.h>
#include <sys/statvfs.h>

/* ---- start ---- */

static void ops_init(void *userdata, struct fuse_conn_info *connection)
{
        struct server *server = userdata;
        /* Attributes come from memory: always send them along, so that walkers need no lookup
         * for each name. */
        connection->want |= connection->capable & FUSE_CAP_READDIRPLUS;
        connection->want &= ~(unsigned)FUSE_CAP_READDIRPLUS_AUTO;
        if (server->options->max_read)
                connection->max_read = server->options->max_read;
        if (ready_announce(server->ready) < 0)
                fuse_session_exit(server->session); /* nobody waits for us any more */
}

/* ---- names ---- */

static int take_document(
        struct ops_view *view, const struct node *node, struct document **ret_document)
{
        struct server *server = view->server;
        struct cdc_pulse pulse;
        if (server->engine)
                cdc_engine_pulse(server->engine, &pulse);
        char *bytes = NULL;
        size_t size = 0;
        int64_t told_ns = 0;
        int r = cdc_document_render(server->view, node->instance, node->kind->document,
                server->engine ? &pulse : NULL, &bytes, &size, &told_ns);
        if (r < 0)
                return r;
        return documents_take(server->documents, node->ino, bytes, size, told_ns, ret_document);
}

static void reply_document(fuse_req_t request, struct ops_view *view, const struct node *node)
{
        struct document *document = NULL;
        int r = take_document(view, node, &document);
        if (r < 0) {
                fuse_reply_err(request, -r);
                return;
        }
        struct fuse_entry_param entry;
        attributes_of_document(&view->owner, document, &entry);
        if (fuse_reply_entry(request, &entry) < 0)
                documents_forget(view->server->documents, document->id, 1);
        documents_put(view->server->documents, document);
}

/* 1 with the folder: its names are ranges, which have their own answer. */
static int find_child(struct ops_view *view, fuse_ino_t id, const char *name, struct node *ret_node)
{
        struct node parent;
        int r = node_resolve(view->catalog, id, &parent);
        if (r == 0 && node_is_live_directory(&parent) && ops_view_renew(view))
                r = node_resolve(view->catalog, id, &parent);
        if (r < 0)
                return r;
        if (!node_is_range_folder(&parent))
                return node_find(view->catalog, &parent, name, ret_node);
        *ret_node = parent;
        return 1;
}

static void ops_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
        struct ops_view view = ops_view(request);
        struct node node;
        int r = find_child(&view, parent, name, &node);
        /* What a command said to be visible is, even before the news has come. */
        if (r == -ENOENT && !node_is_probe(name) && ops_view_renew(&view))
                r = find_child(&view, parent, name, &node);

        struct fuse_entry_param entry = {0};
        if (r == 1) {
                ops_range_lookup(request, &view, &node, name);
        } else if (r == 0 && node.kind->type == NODE_DOCUMENT) {
                reply_document(request, &view, &node);
        } else if (r == 0 && node.kind->type == NODE_LIVE) {
                ops_live_lookup(request, &view, node.ino);
        } else if (r == 0) {
                attributes_of_node(&view.owner, view.catalog, &node, &entry);
                fuse_reply_entry(request, &entry);
        } else if (r == -ENOENT && node_is_probe(name)) {
                entry.entry_timeout = ATTRIBUTES_FOREVER;
                fuse_reply_entry(request, &entry);
        } else {
                fuse_reply_err(request, -r);
        }
        ops_view_release(&view);
}

static void forget(struct server *server, fuse_ino_t id, uint64_t lookups)
{
        if (id >= NODE_FIRST_VERSION)
                documents_forget(server->documents, id, lookups);
        else if (id >= CDC_FIRST_RANGE_INO)
                ranges_forget(server->ranges, id, lookups);
}

static void ops_forget(fuse_req_t request, fuse_ino_t id, uint64_t lookups)
{
        forget(fuse_req_userdata(request), id, lookups);
        fuse_reply_none(request);
}

static void ops_forget_multi(fuse_req_t request, size_t count, struct fuse_forget_data *forgets)
{
        for (size_t i = 0; i < count; i++)
                forget(fuse_req_userdata(request), forgets[i].ino, forgets[i].nlookup);
        fuse_reply_none(request);
}

/* ---- attributes ---- */

/* 1: of a live file, which has its own answer. */
static int find_attributes(struct ops_view *view, fuse_ino_t id, struct fuse_entry_param *ret_entry)
{
        if (id >= NODE_FIRST_VERSION) {
                struct document *document = documents_get(view->server->documents, id);
                if (!document)
                        return -ESTALE;
                attributes_of_document(&view->owner, document, ret_entry);
                documents_put(view->server->documents, document);
                return 0;
        }
        struct ranges_status status;
        struct node node;
        if (id >= CDC_FIRST_RANGE_INO) {
                int r = ranges_status(view->server->ranges, id, &status);
                if (r == 0)
                        attributes_of_range(&view->owner, &status, ret_entry);
                return r;
        }
        int r = node_resolve(view->catalog, id, &node);
        if (r == 0 && node.kind->type == NODE_DOCUMENT)
                r = -ESTALE; /* only versions have node ids */
        if (r == 0 && node.kind->type == NODE_LIVE)
                return 1;
        if (r == 0)
                attributes_of_node(&view->owner, view->catalog, &node, ret_entry);
        return r;
}

static void ops_getattr(fuse_req_t request, fuse_ino_t id, struct fuse_file_info *info)
{
        struct ops_view view = ops_view(request);
        struct fuse_entry_param entry;
        int r = find_attributes(&view, id, &entry);
        if (r < 0)
                fuse_reply_err(request, -r);
        else if (r > 0)
                ops_live_getattr(request, &view, id);
        else
                fuse_reply_attr(request, &entry.attr, entry.attr_timeout);
        ops_view_release(&view);
}

static void ops_statfs(fuse_req_t request, fuse_ino_t id)
{
        enum { BLOCK = 4096 };
        struct ops_view view = ops_view(request);
        ops_view_renew(&view);
        uint64_t files = 0, bytes = 0;
        cdc_catalog_totals(view.catalog, &files, &bytes);
        struct statvfs statvfs = {
                .f_bsize = BLOCK,
                .f_frsize = BLOCK,
                .f_blocks = bytes / BLOCK + 1, /* 0 would hide the mount from df */
                .f_files = files,
                .f_flag = ST_RDONLY | ST_NOSUID,
                .f_namemax = NODE_NAME_SIZE - 1,
        };
        fuse_reply_statfs(request, &statvfs);
        ops_view_release(&view);
}

struct fuse_lowlevel_ops ops_table(void)
{
        struct fuse_lowlevel_ops table = {
                .init = ops_init,
                .lookup = ops_lookup,
                .forget = ops_forget,
                .forget_multi = ops_forget_multi,
                .getattr = ops_getattr,
                .statfs = ops_statfs,
                .open = ops_open,
                .read = ops_read,
                .release = ops_release,
                .opendir = ops_opendir,
                .readdir = ops_readdir,
                .readdirplus = ops_readdirplus,
        };
        ops_refuse_changes(&table);
        return table;
}
