/* SPDX-License-Identifier: MIT
 *
 * ops_range: names in the folders of ranges.
 *
 * A range's size is known when it has been rendered, so its lookup waits for that: on a thread
 * of its own room, so that neither the workers nor those who read listed files wait with it. The
 * kernel holds up other lookups in the same folder meanwhile, and none elsewhere.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ops.h"

/* What a lookup asks for; it outlives the catalog in which its folder was found. */
struct asked {
        int64_t object_id;
        unsigned format;
        char name[NODE_NAME_SIZE];
};

static bool is_stopped(void *context)
{
        return readers_should_stop(context);
}

static int open_range(const struct ops_view *view, const struct readers_job *job,
        struct cdc_content **ret_content)
{
        const struct asked *asked = job->context;
        const struct cdc_stop stop = {is_stopped, (void *)job};
        const struct cdc_instance *instance =
                cdc_catalog_find_object(view->catalog, asked->object_id);
        struct cdc_engine *engine = view->server->engine;
        struct cdc_pulse pulse;
        if (!instance)
                return -ENOENT;
        if (engine)
                cdc_engine_pulse(engine, &pulse);
        return cdc_range_open(view->server->view, instance, asked->format, asked->name,
                engine ? &pulse : NULL, &stop, ret_content);
}

static void answer(const struct readers_job *job)
{
        struct ops_view view = ops_view(job->request);
        struct cdc_content *content = NULL;
        struct ranges_status status;
        int r = open_range(&view, job, &content);
        if (r == 0)
                r = ranges_take(view.server->ranges, content, &status);
        if (r < 0) {
                fuse_reply_err(job->request, -r);
        } else {
                struct fuse_entry_param entry;
                attributes_of_range(&view.owner, &status, &entry);
                if (fuse_reply_entry(job->request, &entry) < 0)
                        ranges_forget(view.server->ranges, status.ino, 1);
        }
        ops_view_release(&view);
}

void ops_range_lookup(
        fuse_req_t request, struct ops_view *view, const struct node *folder, const char *name)
{
        if (!cdc_range_is_name(folder->format, name)) {
                fuse_reply_err(request, ENOENT);
                return;
        }
        struct asked *asked = malloc(sizeof *asked);
        struct readers_job job = {.answer = answer, .request = request, .context = asked};
        int r = -ENOMEM;
        if (asked) {
                asked->object_id = folder->instance->object_id;
                asked->format = folder->format;
                snprintf(asked->name, sizeof asked->name, "%s", name);
                r = readers_post(view->server->range_readers, &job);
        }
        if (r < 0) {
                fuse_reply_err(request, -r);
                free(asked);
        }
}
