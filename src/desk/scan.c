/* SPDX-License-Identifier: MIT
 *
 * scan: see the header.
 */
#include "desk/scan.h"

#include <errno.h>
#include <string.h>

#include "ground/clock.h"
#include "memory/changetable.h"
#include "memory/history.h"
#include "memory/mapping.h"

enum { ERROR_SCAN = 22859, SEVERITY = 16 };

void scan_begin(struct scan *scan)
{
        scan->counts = (struct sessions_counts){0};
        scan->is_catalog_changed = false;
        scan->files_closed = 0;
        scan->has_rows = true;
}

void scan_end(struct scan *scan)
{
        rowcounts_release(&scan->rows);
}

static int close_segment(
        struct scan *scan, struct lsn to_lsn, enum segments_cause cause, int64_t now_ns)
{
        unsigned closed = 0;
        int r = segments_close(scan->segments, scan->store, &scan->limits, to_lsn, cause,
                scan->state->next_change, now_ns, &closed);
        scan->files_closed += closed;
        return r;
}

/* ---- events ---- */

static int stop_instance(
        struct scan *scan, const struct change_event *event, struct lsn lsn, int64_t time_ns)
{
        struct history_gap gap = {
                .object_id = event->object_id,
                .from = lsn,
                .is_open = true,
                .time_ns = time_ns,
                .cause = (char *)event->text,
        };
        struct sessions_error error = {
                .phase = SESSIONS_PHASE_SCHEMA,
                .number = ERROR_SCAN,
                .severity = SEVERITY,
                .state = 1,
                .message = event->text,
                .start_lsn = lsn,
                .begin_lsn = lsn,
        };
        int64_t number;
        int r = history_add_gap(scan->store, &gap, &number);
        if (r == 0)
                r = instances_set_error(scan->store, event->object_id, event->text);
        if (r == 0)
                r = sessions_error(scan->sessions, &error, time_ns);
        scan->is_catalog_changed = true;
        return r;
}

int scan_bind(
        struct store *store, const struct instance *instance, const struct change_binding *binding)
{
        int r = instances_bind(store, instance, binding->table, binding->schema_rowid, binding->sql,
                binding->positions);
        for (unsigned i = 0; r == 0 && i < binding->count; i++) {
                const char *type = binding->types[i];
                if (type && strcmp(type, instance->columns[i].declared_type) != 0)
                        r = instances_set_type(store, instance->object_id, i + 1, type);
        }
        return r;
}

static int write_event(
        struct scan *scan, const struct change_event *event, struct lsn lsn, int64_t time_ns)
{
        const struct instance *instance = instances_find_object(scan->instances, event->object_id);
        struct history_ddl ddl = {
                .object_id = event->object_id,
                .required_column_update = event->required_column_update,
                .command = event->text,
                .lsn = lsn,
                .time_ns = time_ns,
        };
        if (!instance)
                return 0;
        switch (event->type) {
        case CHANGE_EVENT_DDL:
                ddl.source_object_id = instance->source_object_id;
                return history_add_ddl(scan->store, &ddl);
        case CHANGE_EVENT_BOUND:
                scan->is_catalog_changed = true;
                return scan_bind(scan->store, instance, event->binding);
        case CHANGE_EVENT_DROPPED:
                scan->is_catalog_changed = true;
                return instances_set_dropped(scan->store, event->object_id);
        case CHANGE_EVENT_STOPPED:
                return stop_instance(scan, event, lsn, time_ns);
        }
        return -EINVAL;
}

/* DDL on a captured table ends the files before it: the border lies before this commit. */
static int write_events(struct scan *scan, const struct change_transaction *t, int64_t time_ns)
{
        if (t->event_count == 0)
                return 0;
        int r = close_segment(scan, scan->state->max_lsn, SEGMENTS_DDL, time_ns);
        for (unsigned i = 0; r == 0 && i < t->event_count; i++)
                r = write_event(scan, &t->events[i], t->lsn, time_ns);
        return r;
}

/* ---- rows ---- */

static int write_changes(struct scan *scan, const struct change_transaction *t, int64_t time_ns)
{
        struct change change;
        uint32_t command = 0;
        int r;
        rowcounts_reset(&scan->rows);
        while ((r = scan->source.next_change(scan->source.context, &change)) == 1) {
                const struct instance *instance =
                        instances_find_object(scan->instances, change.object_id);
                if (!instance)
                        continue;
                uint64_t number = scan->state->next_change++;
                r = changetable_append(scan->store, instance, &change, t->lsn, number, ++command);
                if (r == 0)
                        r = rowcounts_add(&scan->rows, instance, &change);
                if (r < 0)
                        return r;
                segments_add(scan->segments, &change, number, time_ns, time_ns);
        }
        scan->counts.command_count += command;
        return r;
}

static int write_mapping(struct scan *scan, const struct change_transaction *t, uint64_t first)
{
        struct mapping_row row = {
                .start_lsn = t->lsn,
                .begin_lsn = t->lsn,
                .end_ns = t->time_ns,
                .first_change = first,
                .change_count = scan->state->next_change - first,
        };
        row.is_dummy = row.change_count == 0;
        if (!row.is_dummy && !(row.rows = rowcounts_text(&scan->rows)))
                return -ENOMEM;
        memcpy(row.tran_id, t->lsn.bytes, sizeof(row.tran_id));
        return mapping_append(scan->store, scan->state, &row);
}

static void count_transaction(
        struct scan *scan, const struct change_transaction *t, int64_t time_ns)
{
        struct sessions_counts *c = &scan->counts;
        if (lsn_is_zero(c->start_lsn))
                c->start_lsn = t->lsn;
        c->current_lsn = c->end_lsn = c->last_commit_lsn = t->lsn;
        c->last_commit_time_ns = time_ns;
        c->log_record_count += t->frames;
        c->schema_change_count += t->is_ddl;
        if (!scan->has_rows)
                return;
        c->tran_count++;
        if (lsn_is_zero(c->first_begin_cdc_lsn))
                c->first_begin_cdc_lsn = t->lsn;
        c->last_commit_cdc_lsn = t->lsn;
        c->last_commit_cdc_time_ns = time_ns;
}

static int write_transaction(struct scan *scan, const struct change_transaction *t)
{
        struct state *state = scan->state;
        size_t count;
        uint64_t first = state->next_change;
        int64_t time_ns = t->time_ns;
        if (time_ns < state->last_commit_time_ns)
                time_ns = state->last_commit_time_ns;
        int r = write_events(scan, t, time_ns);
        if (r == 0)
                r = write_changes(scan, t, time_ns);
        scan->has_rows = state->next_change != first;
        if (r == 0 && scan->has_rows)
                r = write_mapping(scan, t, first);
        if (r < 0)
                return r;
        state->max_lsn = t->lsn;
        count_transaction(scan, t, time_ns);
        const struct segments_tally *open = segments_list(scan->segments, &count);
        enum segments_cause cause = segments_due(&scan->limits, open, count, time_ns);
        return cause == SEGMENTS_NONE ? 0 : close_segment(scan, t->lsn, cause, time_ns);
}

int scan_transactions(struct scan *scan, unsigned limit, unsigned *ret_count)
{
        struct change_transaction t = {0};
        unsigned count = 0;
        int r = 0;
        while (count < limit && (r = scan->source.next(scan->source.context, &t)) == 1) {
                r = write_transaction(scan, &t);
                if (r < 0)
                        return r;
                count++;
        }
        if (r < 0)
                return r;
        /* The mark of how far capture has come moves on although nothing captured changed. */
        if (count > 0 && !scan->has_rows)
                r = write_mapping(scan, &t, scan->state->next_change);
        *ret_count = count;
        return r < 0 ? r : 0;
}
