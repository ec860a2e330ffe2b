/* SPDX-License-Identifier: MIT
 *
 * ops_file: opening, reading and releasing.
 *
 * What stands in memory or in a spool is answered at once; the readers answer what must be
 * rendered first.
 */
#include <errno.h>
#include <fcntl.h>

#include "openfile.h"
#include "ops.h"

/* Only what never changes may stand in the kernel's cache. Of a file that grows it would keep the
 * last page with zeros behind the end: a short answer that meets a larger size, told meanwhile to
 * another reader, leaves it so. */
static int open_node(struct ops_view *view, fuse_ino_t id, struct fuse_file_info *info)
{
        if ((info->flags & O_ACCMODE) != O_RDONLY || info->flags & O_TRUNC)
                return -EROFS;
        info->keep_cache = 1;
        info->fh = 0;
        if (id >= NODE_FIRST_VERSION)
                return 0;
        struct node node;
        struct openfile *file = NULL;
        bool is_range = id >= CDC_FIRST_RANGE_INO;
        int r = is_range ? 0 : node_resolve(view->catalog, id, &node);
        if (r < 0)
                return r;
        bool is_live = !is_range && node.kind->type == NODE_LIVE;
        r = openfile_new(view->server->view, id, is_live, &file);
        if (r < 0)
                return r == -ENOENT ? -ESTALE : r;
        info->keep_cache = !is_live;
        info->direct_io = is_live;
        info->fh = (uintptr_t)file;
        return 0;
}

static struct openfile *file_of(const struct fuse_file_info *info)
{
        return (struct openfile *)(uintptr_t)info->fh;
}

void ops_open(fuse_req_t request, fuse_ino_t id, struct fuse_file_info *info)
{
        struct ops_view view = ops_view(request);
        int r = open_node(&view, id, info);
        if (r < 0)
                fuse_reply_err(request, -r);
        else if (fuse_reply_open(request, info) < 0)
                openfile_free(file_of(info));
        ops_view_release(&view);
}

void ops_release(fuse_req_t request, fuse_ino_t id, struct fuse_file_info *info)
{
        openfile_free(file_of(info));
        fuse_reply_err(request, 0);
}

static void read_document(
        fuse_req_t request, struct server *server, fuse_ino_t id, size_t size, uint64_t offset)
{
        struct document *document = documents_get(server->documents, id);
        if (!document) {
                fuse_reply_err(request, ESTALE);
                return;
        }
        uint64_t start = offset < document->size ? offset : document->size;
        size_t left = document->size - (size_t)start;
        fuse_reply_buf(request, document->bytes + start, size < left ? size : left);
        documents_put(server->documents, document);
}

static void answer_read(const struct readers_job *job)
{
        struct server *server = fuse_req_userdata(job->request);
        size_t got = 0;
        char *buffer = buffers_take(&server->buffers, job->size);
        int r = buffer ? openfile_read(job->file, job->offset, buffer, job->size, &got) : -ENOMEM;
        if (r < 0)
                fuse_reply_err(job->request, -r);
        else
                fuse_reply_buf(job->request, buffer, got);
}

static void read_file(struct server *server, const struct readers_job *job)
{
        size_t got = 0;
        char *buffer = buffers_take(&server->buffers, job->size);
        int r = buffer ? openfile_try_read(job->file, job->offset, buffer, job->size, &got)
                       : -ENOMEM;
        if (r == -EAGAIN)
                r = readers_post(server->readers, job);
        else if (r == 0)
                fuse_reply_buf(job->request, buffer, got);
        if (r < 0)
                fuse_reply_err(job->request, -r);
}

void ops_read(
        fuse_req_t request, fuse_ino_t id, size_t size, off_t offset, struct fuse_file_info *info)
{
        struct server *server = fuse_req_userdata(request);
        struct readers_job job = {
                .answer = answer_read,
                .request = request,
                .id = id,
                .file = file_of(info),
                .offset = (uint64_t)offset,
                .size = size,
        };
        if (id >= NODE_FIRST_VERSION)
                read_document(request, server, id, size, (uint64_t)offset);
        else
                read_file(server, &job);
}
