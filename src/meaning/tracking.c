/* SPDX-License-Identifier: MIT
 *
 * tracking: see the header.
 */
#include "meaning/tracking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/record.h"
#include "ground/cleanup.h"
#include "meaning/ddl.h"
#include "meaning/tablescan.h"

enum { SCHEMA_COLUMNS = 5 };

/* ---- rows of sqlite_schema ---- */

static int copy_text(const struct value *value, enum text_encoding encoding, char **ret_text)
{
        _cleanup_(buf_release) struct buf text = BUF_INIT;
        if (value->type != VALUE_TEXT) {
                *ret_text = NULL;
                return 0;
        }
        if (encoding == TEXT_UTF8)
                buf_append(&text, value->bytes, value->size);
        else
                text_append_utf16(&text, value->bytes, value->size, encoding);
        *ret_text = buf_steal(&text);
        return *ret_text ? 0 : -ENOMEM;
}

static int decode_row(int64_t rowid, const struct buf *payload, enum text_encoding encoding,
        struct schema_row *ret_row)
{
        struct value v[SCHEMA_COLUMNS] = {{0}};
        size_t count;
        *ret_row = (struct schema_row){.rowid = rowid};
        int r = record_decode(payload->data, payload->size, v, SCHEMA_COLUMNS, &count);
        if (r == 0)
                r = copy_text(&v[0], encoding, &ret_row->type);
        if (r == 0)
                r = copy_text(&v[1], encoding, &ret_row->name);
        if (r == 0)
                r = copy_text(&v[2], encoding, &ret_row->table_name);
        if (r == 0)
                r = copy_text(&v[4], encoding, &ret_row->sql);
        if (r == 0 && v[3].type == VALUE_INTEGER)
                ret_row->root = (uint32_t)v[3].integer;
        if (r == 0 && (!ret_row->type || !ret_row->name || !ret_row->table_name))
                r = -EBADMSG;
        return r;
}

static void row_release(struct schema_row *row)
{
        free(row->type);
        free(row->name);
        free(row->table_name);
        free(row->sql);
}

static size_t row_position(const struct schema_rows *rows, int64_t rowid)
{
        size_t i = 0;
        while (i < rows->count && rows->rows[i].rowid < rowid)
                i++;
        return i;
}

static void remove_row(struct schema_rows *rows, size_t i)
{
        row_release(&rows->rows[i]);
        memmove(&rows->rows[i], &rows->rows[i + 1], (rows->count - i - 1) * sizeof(*rows->rows));
        rows->count--;
}

static int insert_row(struct schema_rows *rows, size_t i, const struct schema_row *row)
{
        struct schema_row *grown = realloc(rows->rows, (rows->count + 1) * sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        memmove(&grown[i + 1], &grown[i], (rows->count - i) * sizeof(*grown));
        grown[i] = *row;
        rows->rows = grown;
        rows->count++;
        return 0;
}

int tracking_change_row(struct schema_rows *rows, enum text_encoding encoding, int64_t rowid,
        const struct buf *payload)
{
        struct schema_row row = {0};
        size_t i = row_position(rows, rowid);
        if (i < rows->count && rows->rows[i].rowid == rowid)
                remove_row(rows, i);
        if (!payload)
                return 0;
        int r = decode_row(rowid, payload, encoding, &row);
        if (r == 0)
                r = insert_row(rows, i, &row);
        if (r < 0)
                row_release(&row);
        return r;
}

static char *copy_string(const char *string, bool *is_failed)
{
        char *copy = string ? strdup(string) : NULL;
        *is_failed |= string && !copy;
        return copy;
}

int tracking_copy_rows(const struct schema_rows *rows, struct schema_rows *ret_rows)
{
        struct schema_rows copy = {.rows = calloc(rows->count + 1, sizeof(*copy.rows))};
        bool is_failed = !copy.rows;
        for (size_t i = 0; !is_failed && i < rows->count; i++) {
                const struct schema_row *from = &rows->rows[i];
                copy.rows[copy.count++] = (struct schema_row){
                        .rowid = from->rowid,
                        .root = from->root,
                        .type = copy_string(from->type, &is_failed),
                        .name = copy_string(from->name, &is_failed),
                        .table_name = copy_string(from->table_name, &is_failed),
                        .sql = copy_string(from->sql, &is_failed),
                };
        }
        if (is_failed) {
                schema_rows_release(&copy);
                return -ENOMEM;
        }
        *ret_rows = copy;
        return 0;
}

static int read_row(void *context, int64_t rowid, const struct buf *payload)
{
        struct tracking *t = context;
        return tracking_change_row(&t->rows, t->encoding, rowid, payload);
}

int tracking_open(
        struct tracking *tracking, enum text_encoding encoding, const struct btpage_source *source)
{
        *tracking = (struct tracking){.encoding = encoding};
        int r = tablescan_rows(1, source, read_row, tracking);
        if (r == 0)
                r = pagemap_build_tree(&tracking->map, TRACKING_SCHEMA_TREE, 1, source);
        if (r == 0)
                r = schema_build(&tracking->rows, encoding, &tracking->schema);
        if (r < 0)
                tracking_release(tracking);
        return r;
}

static void tracked_release(struct tracked *tracked)
{
        binding_release(&tracked->binding);
        binding_release(&tracked->before);
}

void tracking_clear_events(struct tracking *tracking)
{
        for (size_t i = 0; i < tracking->event_count; i++) {
                free((char *)tracking->events[i].text);
                free((void *)tracking->events[i].binding);
        }
        free(tracking->events);
        tracking->events = NULL;
        tracking->event_count = 0;
}

void tracking_release(struct tracking *tracking)
{
        for (size_t i = 0; i < tracking->count; i++)
                tracked_release(&tracking->list[i]);
        free(tracking->list);
        tracking_clear_events(tracking);
        pagemap_release(&tracking->map);
        schema_rows_release(&tracking->rows);
        schema_unref(tracking->schema);
        *tracking = (struct tracking){0};
}

/* ---- instances ---- */

struct tracked *tracking_find(const struct tracking *tracking, int64_t object_id)
{
        for (size_t i = 0; i < tracking->count; i++)
                if (tracking->list[i].object_id == object_id)
                        return &tracking->list[i];
        return NULL;
}

static struct tracked *find_tree(const struct tracking *tracking, uint16_t tree)
{
        for (size_t i = 0; i < tracking->count; i++)
                if (tracking->list[i].tree == tree)
                        return &tracking->list[i];
        return NULL;
}

static struct tracked *find_root(const struct tracking *tracking, uint32_t root)
{
        for (size_t i = 0; i < tracking->count; i++)
                if (tracking->list[i].root == root)
                        return &tracking->list[i];
        return NULL;
}

static uint16_t free_tree(const struct tracking *tracking)
{
        uint16_t tree = TRACKING_SCHEMA_TREE + 1;
        while (tree != 0 && find_tree(tracking, tree))
                tree++;
        return tree;
}

/* Puts a table behind its parents. A cycle is broken where it is met. */
static void order_visit(
        struct tracking *t, size_t i, bool *is_done, struct tracked *ordered, size_t *count)
{
        if (is_done[i])
                return;
        is_done[i] = true;
        const struct schema_table *table = t->list[i].binding.table;
        for (unsigned p = 0; p < table->parent_count; p++)
                for (size_t k = 0; k < t->count; k++)
                        if (text_equal_name(t->list[k].binding.table->name, table->parents[p]))
                                order_visit(t, k, is_done, ordered, count);
        ordered[(*count)++] = t->list[i];
}

static int order_by_parents(struct tracking *t)
{
        size_t count = 0;
        struct tracked *ordered = calloc(t->count + 1, sizeof(*ordered));
        _cleanup_free_ bool *is_done = calloc(t->count + 1, sizeof(*is_done));
        if (!ordered || !is_done) {
                free(ordered);
                return -ENOMEM;
        }
        for (size_t i = 0; i < t->count; i++)
                order_visit(t, i, is_done, ordered, &count);
        free(t->list);
        t->list = ordered;
        return 0;
}

static int check_table(const struct schema_table *table, const struct capture_request *request,
        struct problem *problem)
{
        if (!table)
                return problem_set(
                        problem, ENOENT, 22931, "table %s does not exist", request->table);
        if (table->kind != SCHEMA_TABLE || !table->is_parsed)
                return problem_set(problem, ENOTSUP, 0, "%s is no ordinary table", table->name);
        return 0;
}

/* Where the columns of an earlier text are in the table as it is now. */
struct found {
        const struct schema_table *table;
        int *positions; /* owned; NULL = by name */
};

static void found_release(struct found *found)
{
        free(found->positions);
}

static int map_positions(const struct capture_request *request, const int *map, struct found *found)
{
        found->positions = calloc(request->column_count + 1, sizeof(*found->positions));
        if (!found->positions)
                return -ENOMEM;
        for (unsigned i = 0; i < request->column_count; i++) {
                int position = request->positions[i];
                found->positions[i] = position >= 0 && map ? map[position] : position;
        }
        return 0;
}

/* Reads the earlier text as a schema of its own and compares. */
static int find_altered(struct tracking *t, const struct capture_request *request,
        struct found *found, struct problem *problem)
{
        _cleanup_(ddl_change_release) struct ddl_change change = {0};
        const struct schema_table *same_row = schema_find_rowid(t->schema, request->schema_rowid);
        struct schema *old = NULL;
        struct schema_row row = {
                .rowid = request->schema_rowid,
                .type = (char *)"table",
                .name = (char *)request->table,
                .table_name = (char *)request->table,
                .root = same_row ? same_row->root : 0,
                .sql = (char *)request->sql,
        };
        struct schema_rows rows = {.rows = &row, .count = 1};
        int r = schema_build(&rows, t->encoding, &old);
        bool is_known = r == 0 && old->table_count == 1 && old->tables[0].is_parsed;
        if (r == 0 && !is_known)
                r = problem_set(problem, ENOTSUP, 0, "SQLite cannot parse the text of table %s",
                        request->table);
        for (unsigned i = 0; r == 0 && i < request->column_count; i++)
                if (request->positions[i] >= (int)old->tables[0].column_count)
                        r = -EBADMSG;
        if (r == 0)
                r = ddl_compare(old, &old->tables[0], t->schema, false, &change);
        if (r == 0 && change.verdict == DDL_STOPPED)
                r = problem_set(problem, ENOTSUP, 0, "%s", change.reason);
        if (r == 0 && (r = map_positions(request, change.map, found)) == 0)
                found->table = change.table;
        schema_unref(old);
        return r;
}

static int find_table(struct tracking *t, const struct capture_request *request,
        struct found *found, struct problem *problem)
{
        if (request->sql)
                return find_altered(t, request, found, problem);
        found->table = schema_find_table(t->schema, request->table);
        return 0;
}

static int bind(struct tracking *t, const struct found *found,
        const struct capture_request *request, struct binding *ret_binding, struct problem *problem)
{
        int r;
        if (found->positions)
                r = binding_make_at(request->object_id, t->schema, found->table, found->positions,
                        request->column_count, request->key, request->key_count, ret_binding);
        else
                r = binding_make(request->object_id, t->schema, found->table, request->columns,
                        request->column_count, request->key, request->key_count, ret_binding);
        if (r == -ENOENT)
                return problem_set(problem, ENOENT, 0,
                        "table %s lacks a column that was to be captured", found->table->name);
        return r;
}

static int add_tracked(struct tracking *t, const struct tracked *tracked)
{
        struct tracked *list = realloc(t->list, (t->count + 1) * sizeof(*t->list));
        if (!list)
                return -ENOMEM;
        t->list = list;
        t->list[t->count++] = *tracked;
        return 0;
}

static int enter_tree(struct tracking *t, struct tracked *tracked,
        const struct btpage_source *source, struct problem *problem)
{
        const struct tracked *same = find_root(t, tracked->root);
        tracked->tree = same ? same->tree : free_tree(t);
        if (tracked->tree == 0)
                return problem_set(problem, ENOTSUP, 0, "too many tables are captured");
        int r = same ? 0 : pagemap_build_tree(&t->map, tracked->tree, tracked->root, source);
        if (r == -EBADMSG)
                problem_set(problem, EBADMSG, 0, "table %s is corrupt (root page %u)",
                        tracked->binding.table->name, tracked->root);
        return r;
}

int tracking_attach(struct tracking *tracking, const struct capture_request *request,
        const struct btpage_source *source, struct problem *problem)
{
        _cleanup_(found_release) struct found found = {0};
        int r = find_table(tracking, request, &found, problem);
        if (r == 0)
                r = check_table(found.table, request, problem);
        if (r < 0)
                return r;
        struct tracked tracked = {
                .object_id = request->object_id,
                .root = found.table->root,
                .old_root = found.table->root,
                .is_index = found.table->is_without_rowid,
                .was_index = found.table->is_without_rowid,
        };
        r = bind(tracking, &found, request, &tracked.binding, problem);
        if (r == 0)
                r = enter_tree(tracking, &tracked, source, problem);
        if (r == 0)
                r = add_tracked(tracking, &tracked);
        if (r < 0) {
                tracked_release(&tracked);
                return r;
        }
        return order_by_parents(tracking);
}

void tracking_detach(struct tracking *tracking, int64_t object_id)
{
        struct tracked *tracked = tracking_find(tracking, object_id);
        if (!tracked)
                return;
        uint16_t tree = tracked->tree;
        size_t i = (size_t)(tracked - tracking->list);
        tracked_release(tracked);
        tracking->count--;
        memmove(tracked, tracked + 1, (tracking->count - i) * sizeof(*tracked));
        if (!find_tree(tracking, tree))
                pagemap_forget_tree(&tracking->map, tree);
}

/* ---- schema changes ---- */

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
        tracked->is_whole = change->is_rebuilt ||
                            (change->map && reads_otherwise(&tracked->before, &tracked->binding));
        tracked->is_by_content = change->is_rebuilt && tracked->binding.key_count == 0;
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
        if (r == 0 && (change.verdict == DDL_CHANGED || change.is_rebuilt))
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
        return order_by_parents(tracking);
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
        if (!find_tree(t, left))
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
        tracked->is_by_content = tracked->binding.key_count == 0;
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
