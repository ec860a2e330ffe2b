/* SPDX-License-Identifier: MIT
 *
 * view_range: any range of LSNs of an instance as bytes, by its name.
 *
 * Whether a range may be asked for is asked twice: before it is rendered, and once it is. Marks
 * move before rows are deleted, so what is valid still was whole while it was rendered.
 */
#include <errno.h>
#include <string.h>

#include "cdc.h"
#include "desk/view.h"
#include "faces/changes.h"
#include "faces/content.h"
#include "faces/render.h"
#include "faces/validity.h"
#include "memory/mapping.h"

_Static_assert(CDC_FIRST_RANGE_INO == CONTENT_FIRST_RANGE, "numbers of ranges");

enum { DIGITS = LSN_NAME_SIZE - 1 };

/* ---- names ---- */

static int parse(const struct renderer *renderer, const char *name, struct file_row *range)
{
        if (strlen(name) != 2 * DIGITS + 1 + strlen(renderer->suffix) || name[DIGITS] != '-' ||
                strcmp(name + 2 * DIGITS + 1, renderer->suffix) != 0)
                return -ENOENT;
        if (lsn_parse_name(name, &range->from_lsn) < 0 ||
                lsn_parse_name(name + DIGITS + 1, &range->to_lsn) < 0)
                return -ENOENT;
        strcpy(range->format, renderer->name);
        range->renderer_version = renderer->version;
        return 0;
}

bool cdc_range_is_name(unsigned format, const char *name)
{
        struct file_row range = {0};
        const struct renderer *renderer = render_at(format);
        return renderer && parse(renderer, name, &range) == 0;
}

/* ---- what it is of ---- */

static int check(sqlite3 *db, const struct file_row *range)
{
        struct problem problem = {0};
        if (lsn_compare(range->from_lsn, range->to_lsn) > 0)
                return -EINVAL;
        int r = validity_check(db, range->object_id, range->from_lsn, range->to_lsn, &problem);
        /* What has not happened yet is outside; a store that is busy is something else. */
        return r == -EAGAIN ? (problem.message[0] ? -ERANGE : -EBUSY) : r;
}

static int find_rows(sqlite3 *db, struct file_row *range)
{
        struct changes_range changes = {1, 0};
        struct mapping_row newest = {0};
        int r = changes_find_range(db, range->from_lsn, range->to_lsn, &changes);
        if (r == 0)
                r = mapping_find_up_to(db, range->to_lsn, &newest);
        if (r < 0)
                return r;
        range->first_change = changes.first;
        range->last_change = changes.last;
        range->mtime_ns = newest.end_ns;
        return 0;
}

/* In a read transaction of its own; with_rows: also fills in what the range is of. */
static int look(struct cdc_view *view, struct file_row *range, bool with_rows)
{
        struct store *store = NULL;
        int r = view_store(view, NULL, &store);
        if (r == 0)
                r = store_begin_read(store);
        if (r < 0)
                return r;
        r = check(store_db(store), range);
        if (r == 0 && with_rows)
                r = find_rows(store_db(store), range);
        store_rollback(store);
        return r;
}

/* ---- its bytes ---- */

static int measure(struct cdc_view *view, struct content *content, const struct cdc_stop *stop)
{
        struct store *store = NULL;
        struct content_stop asked = {0};
        if (stop)
                asked = (struct content_stop){stop->is_stopped, stop->context};
        int r = view_store(view, NULL, &store);
        return r < 0 ? r : content_measure(content, store_db(store), stop ? &asked : NULL);
}

int cdc_range_open(struct cdc_view *view, const struct cdc_instance *instance, unsigned format,
        const char *name, const struct cdc_stop *stop, struct cdc_content **ret_content)
{
        struct file_row range = {.object_id = instance->object_id};
        struct content *content = NULL;
        const struct renderer *renderer = render_at(format);
        int r = renderer ? parse(renderer, name, &range) : -ENOENT;
        if (r == 0)
                r = look(view, &range, true);
        if (r == 0)
                r = content_open_range(view_pool(view), &range, &content);
        if (r < 0)
                return r;
        r = measure(view, content, stop);
        if (r != -EINTR) {
                int still = look(view, &range, false);
                r = still < 0 ? still : r;
        }
        if (r < 0) {
                content_close(content);
                return r == -ESTALE ? -ENOENT : r;
        }
        *ret_content = (struct cdc_content *)content;
        return 0;
}
