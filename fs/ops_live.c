/* SPDX-License-Identifier: MIT
 *
 * ops_live: names and attributes of the files that are not listed yet.
 *
 * Their size is found by rendering what has come since the last question. If that is much, one of
 * the readers does it, so that the workers stay free.
 */
#include <errno.h>

#include "openfile.h"
#include "ops.h"

static void reply_entry(fuse_req_t request, const struct fuse_entry_param *entry)
{
        fuse_reply_entry(request, entry);
}

static void reply_attributes(fuse_req_t request, const struct fuse_entry_param *entry)
{
        fuse_reply_attr(request, &entry->attr, entry->attr_timeout);
}

typedef void (*reply_function)(fuse_req_t request, const struct fuse_entry_param *entry);

static void answer_with(fuse_req_t request, uint64_t ino, int error,
        const struct cdc_live_status *status, reply_function reply)
{
        struct fuse_entry_param entry;
        if (error < 0) {
                /* The path is looked up again. */
                fuse_reply_err(request, error == -ENOENT ? ESTALE : -error);
                return;
        }
        struct ops_view view = ops_view(request);
        attributes_of_live(&view.owner, view.catalog, ino, status, &entry);
        ops_view_release(&view);
        reply(request, &entry);
}

static void answer_slowly(const struct readers_job *job, reply_function reply)
{
        struct server *server = fuse_req_userdata(job->request);
        struct cdc_live_status status;
        int r = cdc_live_stat(server->view, job->id, &status);
        answer_with(job->request, job->id, r, &status, reply);
}

static void answer_lookup(const struct readers_job *job)
{
        answer_slowly(job, reply_entry);
}

static void answer_getattr(const struct readers_job *job)
{
        answer_slowly(job, reply_attributes);
}

static void answer(struct ops_view *view, const struct readers_job *job, reply_function reply)
{
        struct cdc_live_status status;
        int r = cdc_live_try_stat(view->server->view, job->id, &status);
        if (r == -EAGAIN && (r = readers_post(view->server->readers, job)) == 0)
                return;
        answer_with(job->request, job->id, r, &status, reply);
}

void ops_live_lookup(fuse_req_t request, struct ops_view *view, uint64_t ino)
{
        struct readers_job job = {.answer = answer_lookup, .request = request, .id = ino};
        answer(view, &job, reply_entry);
}

void ops_live_getattr(fuse_req_t request, struct ops_view *view, uint64_t ino)
{
        struct readers_job job = {.answer = answer_getattr, .request = request, .id = ino};
        answer(view, &job, reply_attributes);
}
