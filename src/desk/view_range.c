/* SPDX-License-Identifier: MIT
 *
 * view_range: any range of LSNs or window of times of an instance as bytes, by its name.
 *
 * Whether a range may be asked for is asked twice: before it is rendered, and once it is. Marks
 * move before rows are deleted, so what is valid still was whole while it was rendered.
 */
#include <errno.h>
#include <string.h>

#include "cdc.h"
#include "desk/rangename.h"
#include "desk/view.h"
#include "faces/changes.h"
#include "faces/content.h"
#include "faces/render.h"
#include "faces/timerange.h"
#include "faces/validity.h"
#include "memory/mapping.h"

_Static_assert(CDC_FIRST_RANGE_INO == CONTENT_FIRST_RANGE, "numbers of ranges");

/* What is asked for. */
struct asked {
        struct rangename name;
        int64_t as_of_ns; /* everything committed until then is captured; 0: not known */
};

bool cdc_range_is_name(unsigned format, const char *name)
{
        struct rangename range;
        const struct renderer *renderer = render_at(format);
        return renderer && rangename_parse(name, renderer->suffix, &range) == 0;
}

/* ---- what it is of ---- */

/* What has not happened yet is outside; a store that is busy is something else. */
static int without_again(int error, const struct problem *problem)
{
        if (error != -EAGAIN)
                return error;
        return problem->message[0] ? -ERANGE : -EBUSY;
}

static int find_by_lsn(sqlite3 *db, const struct rangename *name, struct file_row *range)
{
        struct problem problem = {0};
        range->from_lsn = name->from_lsn;
        range->to_lsn = name->to_lsn;
        if (lsn_compare(range->from_lsn, range->to_lsn) > 0)
                return -EINVAL;
        int r = validity_check(db, range->object_id, range->from_lsn, range->to_lsn, &problem);
        return without_again(r, &problem);
}

/* A window without a commit lies behind the last one before its end, as a range that no name by
 * LSN has: TO is that one, FROM is after it. */
static int find_empty(sqlite3 *db, int64_t to_ns, struct file_row *range)
{
        struct mapping_row last = {0};
        int r = mapping_find_time(db, MAPPING_LARGEST_LESS_THAN_OR_EQUAL, to_ns, &last);
        range->to_lsn = last.start_lsn;
        range->from_lsn = lsn_increment(last.start_lsn);
        return r < 0 ? r : 0;
}

static int find_by_time(sqlite3 *db, const struct asked *asked, struct file_row *range)
{
        const struct timerange window = {
                .has_from = true,
                .has_to = true,
                .from_ns = asked->name.from_ns,
                .to_ns = asked->name.to_ns,
                .as_of_ns = asked->as_of_ns,
        };
        struct problem problem = {0};
        int r = timerange_find(
                db, range->object_id, &window, &range->from_lsn, &range->to_lsn, &problem);
        if (r < 0)
                return without_again(r, &problem);
        return r > 0 ? 0 : find_empty(db, asked->name.to_ns, range);
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

/* In a read transaction of its own: may it be asked for, and what is it of? */
static int look(struct cdc_view *view, const struct asked *asked, struct file_row *range)
{
        struct store *store = NULL;
        int r = view_store(view, NULL, &store);
        if (r == 0)
                r = store_begin_read(store);
        if (r < 0)
                return r;
        r = asked->name.is_by_time ? find_by_time(store_db(store), asked, range)
                                   : find_by_lsn(store_db(store), &asked->name, range);
        if (r == 0)
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

static struct file_row rows_of(const struct cdc_instance *instance, const struct renderer *renderer)
{
        struct file_row range = {
                .object_id = instance->object_id, .renderer_version = renderer->version};
        strcpy(range.format, renderer->name);
        return range;
}

int cdc_range_open(struct cdc_view *view, const struct cdc_instance *instance, unsigned format,
        const char *name, const struct cdc_pulse *pulse, const struct cdc_stop *stop,
        struct cdc_content **ret_content)
{
        struct asked asked = {.as_of_ns = pulse ? pulse->as_of_ns : 0};
        struct content *content = NULL;
        const struct renderer *renderer = render_at(format);
        if (!renderer || rangename_parse(name, renderer->suffix, &asked.name) < 0)
                return -ENOENT;
        struct file_row range = rows_of(instance, renderer), again = range;
        int r = look(view, &asked, &range);
        if (r == 0)
                r = content_open_range(view_pool(view), &range, &content);
        if (r < 0)
                return r;
        r = measure(view, content, stop);
        if (r != -EINTR) {
                int still = look(view, &asked, &again);
                r = still < 0 ? still : r;
        }
        if (r < 0) {
                content_close(content);
                return r == -ESTALE ? -ENOENT : r;
        }
        *ret_content = (struct cdc_content *)content;
        return 0;
}
