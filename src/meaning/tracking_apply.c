/* SPDX-License-Identifier: MIT
 *
 * tracking_apply: what a schema change means for the instances that are tracked: events, other
 * bindings, and trees that moved or were replaced.
 */
#include "meaning/tracking_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "meaning/ddl.h"

static struct change_event *add_event(
        struct tracking *t, enum change_event_type type, int64_t object_id, const char *text)
{
        struct change_event *events = realloc(t->events, (t->event_count + 1) * sizeof(*t->events));
        if (!events)
                return NULL;
        t->events = events;
        char *copy = strdup(text);
        if (!copy)
                return NULL;
        struct change_event *event = &t->events[t->event_count++];
        *event = (struct change_event){.type = type, .object_id = object_id, .text = copy};
        return event;
}

int tracking_stop(struct tracking *tracking, int64_t object_id, const char *reason)
{
        bool is_told = add_event(tracking, CHANGE_EVENT_STOPPED, object_id, reason);
        tracking_detach(tracking, object_id);
        return is_told ? 0 : -ENOMEM;
}

/* A binding and its arrays in one allocation; the strings belong to the schema. */
static struct change_binding *describe(const struct binding *binding)
{
        unsigned count = binding->column_count;
        struct change_binding *b =
                calloc(1, sizeof(*b) + count * (sizeof(const char *) + sizeof(int)));
        if (!b)
                return NULL;
        const char **types = (const char **)(b + 1);
        int *positions = (int *)(types + count);
        for (unsigned i = 0; i < count; i++) {
                positions[i] = binding->columns[i].position;
                types[i] = positions[i] < 0 ? NULL
                                            : binding->table->columns[positions[i]].declared_type;
        }
        *b = (struct change_binding){
                .table = binding->table->name,
                .schema_rowid = binding->table->rowid,
                .sql = binding->table->sql,
                .positions = positions,
                .types = types,
                .count = count,
        };
        return b;
}

struct change_binding *tracking_describe(const struct tracking *tracking, int64_t object_id)
{
        const struct tracked *tracked = tracking_find(tracking, object_id);
        return tracked ? describe(&tracked->binding) : NULL;
}

static int tell_bound(struct tracking *t, const struct tracked *tracked)
{
        struct change_event *event = add_event(t, CHANGE_EVENT_BOUND, tracked->object_id, "");
        if (event)
                event->binding = describe(&tracked->binding);
        return event && event->binding ? 0 : -ENOMEM;
}

/* Is the type of a captured column another one now? */
static bool is_retyped(const struct binding *binding, const struct ddl_change *change)
{
        for (unsigned i = 0; change->map && i < binding->column_count; i++) {
                int old = binding->columns[i].position;
                int new = old < 0 ? -1 : change->map[old];
                if (new >= 0 && strcmp(binding->table->columns[old].declared_type,
                                        change->table->columns[new].declared_type) != 0)
                        return true;
        }
        return false;
}

/* A rebuilt table goes on only with all captured columns; ALTER TABLE may take them away. */
static bool lacks_column(const struct binding *binding, const struct ddl_change *change)
{
        for (unsigned i = 0; change->map && i < binding->column_count; i++) {
                int old = binding->columns[i].position;
                if (old >= 0 && change->map[old] < 0)
                        return true;
        }
        return false;
}

static int tell_statements(
        struct tracking *t, const struct tracked *tracked, const struct ddl_change *change)
{
        bool is_required = change->table && is_retyped(&tracked->binding, change);
        for (unsigned k = 0; k < change->count; k++) {
                struct change_event *event =
                        add_event(t, CHANGE_EVENT_DDL, tracked->object_id, change->statements[k]);
                if (!event)
                        return -ENOMEM;
                event->required_column_update = is_required;
        }
        return 0;
}

static int tell_dropped(struct tracking *t, int64_t object_id)
{
        bool is_told = add_event(t, CHANGE_EVENT_DROPPED, object_id, "");
        tracking_detach(t, object_id);
        return is_told ? 0 : -ENOMEM;
}

/* Have the same bytes of a record another meaning now? */
static bool reads_otherwise(const struct binding *before, const struct binding *after)
{
        for (unsigned i = 0; i < after->column_count; i++) {
                const struct binding_column *a = &before->columns[i], *b = &after->columns[i];
                if (a->storage != b->storage || a->is_rowid != b->is_rowid ||
                        a->is_real != b->is_real || a->has_default != b->has_default ||
                        (a->has_default && !value_equal(&a->default_value, &b->default_value)))
                        return true;
        }
        return false;
}

/* Where another tree took the table's place rowids mean nothing, unless the key is the rowid. */
static bool has_own_rowids(const struct tracked *tracked)
{
        return tracked->binding.key_count > 0 && tracked->binding.is_rowid_identity &&
               tracked->before.is_rowid_identity;
}

/* Binds to the table as it is now, and keeps how it was for the rows before. */
static int rebind(struct tracked *tracked, struct schema *schema, const struct ddl_change *change)
{
        const struct schema_table *table = change->table;
        binding_release(&tracked->before);
        int r = binding_renew(&tracked->binding, schema, table, change->map, &tracked->before);
        if (r < 0)
                return r;
        tracked->has_before = true;
        tracked->root = table->root;
        tracked->is_index = table->is_without_rowid;
        tracked->is_whole = change->is_rebuilt || change->is_moved ||
                            (change->map && reads_otherwise(&tracked->before, &tracked->binding));
        tracked->is_by_content = change->is_rebuilt && !has_own_rowids(tracked);
        return 0;
}

/* Tells the events of one instance; the index into the list does not move on if it was detached. */
static int apply_to(struct tracking *t, size_t *i, struct schema *schema)
{
        struct tracked *tracked = &t->list[*i];
        int64_t object_id = tracked->object_id;
        _cleanup_(ddl_change_release) struct ddl_change change = {0};
        int r = ddl_compare(
                t->schema, tracked->binding.table, schema, tracked->is_written, &change);
        if (r == 0)
                r = tell_statements(t, tracked, &change);
        if (r < 0)
                return r;
        if (change.verdict == DDL_STOPPED)
                return tracking_stop(t, object_id, change.reason);
        bool is_lost = change.is_rebuilt && lacks_column(&tracked->binding, &change);
        if (change.verdict == DDL_DROPPED || is_lost)
                return tell_dropped(t, object_id);
        r = rebind(tracked, schema, &change);
        if (r == 0 && (change.verdict == DDL_CHANGED || change.is_rebuilt || change.is_moved))
                r = tell_bound(t, tracked);
        (*i)++;
        return r;
}

static int take_schema(
        struct tracking *tracking, struct schema_rows *rows, struct schema *schema, int result)
{
        if (result < 0) {
                schema_unref(schema);
                schema_rows_release(rows);
                return result;
        }
        schema_unref(tracking->schema);
        schema_rows_release(&tracking->rows);
        tracking->schema = schema;
        tracking->rows = *rows;
        *rows = (struct schema_rows){0};
        return tracking_order(tracking);
}

/* A table was dropped and another one took its name: the instances of both have one tree now. The
 * one that was there before owns its pages already. */
static void share_tree(struct tracking *t, struct tracked *a, struct tracked *b)
{
        bool is_a_guest = a->is_whole && !b->is_whole;
        struct tracked *guest = is_a_guest ? a : b, *host = is_a_guest ? b : a;
        uint16_t left = guest->tree;
        if (a->root != b->root || a->tree == b->tree)
                return;
        guest->tree = host->tree;
        if (!tracking_find_tree(t, left))
                pagemap_forget_tree(&t->map, left);
}

int tracking_apply(struct tracking *tracking, struct schema_rows *rows)
{
        struct schema *schema = NULL;
        int r = schema_build(rows, tracking->encoding, &schema);
        for (size_t i = 0; r == 0 && i < tracking->count;)
                r = apply_to(tracking, &i, schema);
        for (size_t i = 0; r == 0 && i < tracking->count; i++)
                for (size_t k = 0; k < i; k++)
                        share_tree(tracking, &tracking->list[k], &tracking->list[i]);
        return take_schema(tracking, rows, schema, r);
}

static int apply_vacuum_to(struct tracking *t, struct tracked *tracked, struct schema *schema)
{
        struct ddl_change change = {
                .table = schema_find_table(schema, tracked->binding.table->name)};
        if (!change.table)
                return -EBADMSG; /* the caller has compared the texts */
        int r = rebind(tracked, schema, &change);
        tracked->is_whole = true;
        tracked->is_by_content = !has_own_rowids(tracked);
        return r < 0 ? r : tell_bound(t, tracked);
}

int tracking_apply_vacuum(struct tracking *tracking, struct schema_rows *rows)
{
        struct schema *schema = NULL;
        int r = schema_build(rows, tracking->encoding, &schema);
        for (size_t i = 0; r == 0 && i < tracking->count; i++)
                r = apply_vacuum_to(tracking, &tracking->list[i], schema);
        return take_schema(tracking, rows, schema, r);
}

int tracking_begin(
        struct tracking *tracking, enum text_encoding encoding, const struct btpage_source *source)
{
        int r = 0;
        while (r == 0 && tracking->count > 0)
                r = tracking_stop(tracking, tracking->list[0].object_id, TRACKING_OTHER_ENCODING);
        struct change_event *events = steal(tracking->events);
        size_t count = steal(tracking->event_count);
        tracking_release(tracking);
        if (r == 0)
                r = tracking_open(tracking, encoding, source);
        tracking->events = events;
        tracking->event_count = count;
        return r;
}

void tracking_settle(struct tracking *tracking)
{
        for (size_t i = 0; i < tracking->count; i++) {
                struct tracked *tracked = &tracking->list[i];
                binding_release(&tracked->before);
                tracked->has_before = tracked->is_whole = tracked->is_by_content = false;
                tracked->old_root = tracked->root;
                tracked->was_index = tracked->is_index;
        }
}
