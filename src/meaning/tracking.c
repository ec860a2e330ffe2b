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
        free(tracked->index);
}

void tracking_clear_events(struct tracking *tracking)
{
        for (size_t i = 0; i < tracking->event_count; i++)
                free((char *)tracking->events[i].text);
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
        if (table->is_without_rowid)
                return problem_set(problem, ENOTSUP, 0,
                        "table %s is WITHOUT ROWID, which is not captured yet", table->name);
        return 0;
}

static int bind(struct tracking *t, const struct schema_table *table,
        const struct capture_request *request, struct tracked *ret_tracked, struct problem *problem)
{
        int r = binding_make(request->object_id, t->schema, table, request->columns,
                request->column_count, request->key, request->key_count, &ret_tracked->binding);
        if (r == -ENOENT)
                return problem_set(problem, ENOENT, 0,
                        "table %s lacks a column that was to be captured", table->name);
        if (r == 0 && request->index && !(ret_tracked->index = strdup(request->index)))
                r = -ENOMEM;
        return r;
}

int tracking_attach(struct tracking *tracking, const struct capture_request *request,
        const struct btpage_source *source, struct problem *problem)
{
        const struct schema_table *table = schema_find_table(tracking->schema, request->table);
        int r = check_table(table, request, problem);
        if (r < 0)
                return r;
        struct tracked *list =
                realloc(tracking->list, (tracking->count + 1) * sizeof(*tracking->list));
        if (!list)
                return -ENOMEM;
        tracking->list = list;
        const struct tracked *same = find_root(tracking, table->root);
        struct tracked tracked = {
                .object_id = request->object_id,
                .root = table->root,
                .tree = same ? same->tree : free_tree(tracking),
        };
        if (tracked.tree == 0)
                return problem_set(problem, ENOTSUP, 0, "too many tables are captured");
        r = bind(tracking, table, request, &tracked, problem);
        if (r == 0 && !same)
                r = pagemap_build_tree(&tracking->map, tracked.tree, table->root, source);
        if (r == -EBADMSG)
                problem_set(problem, EBADMSG, 0, "table %s is corrupt (root page %u)", table->name,
                        table->root);
        if (r < 0) {
                tracked_release(&tracked);
                return r;
        }
        tracking->list[tracking->count++] = tracked;
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

static int add_event(
        struct tracking *t, enum change_event_type type, int64_t object_id, const char *text)
{
        struct change_event *events = realloc(t->events, (t->event_count + 1) * sizeof(*t->events));
        if (!events)
                return -ENOMEM;
        t->events = events;
        char *copy = strdup(text);
        if (!copy)
                return -ENOMEM;
        t->events[t->event_count++] =
                (struct change_event){.type = type, .object_id = object_id, .text = copy};
        return 0;
}

int tracking_stop(struct tracking *tracking, int64_t object_id, const char *reason)
{
        int r = add_event(tracking, CHANGE_EVENT_STOPPED, object_id, reason);
        tracking_detach(tracking, object_id);
        return r;
}

/* Tells the events of one instance; the index into the list does not move on if it was detached. */
static int apply_to(struct tracking *t, size_t *i, struct schema *schema)
{
        struct tracked *tracked = &t->list[*i];
        int64_t object_id = tracked->object_id;
        _cleanup_(ddl_change_release) struct ddl_change change = {0};
        int r = ddl_compare(t->schema, tracked->binding.table, schema, tracked->index, &change);
        for (unsigned k = 0; r == 0 && k < change.count; k++)
                r = add_event(t, CHANGE_EVENT_DDL, object_id, change.statements[k]);
        if (r < 0)
                return r;
        switch (change.verdict) {
        case DDL_STOPPED:
                return tracking_stop(t, object_id, change.reason);
        case DDL_DROPPED:
                r = add_event(t, CHANGE_EVENT_DROPPED, object_id, "");
                tracking_detach(t, object_id);
                return r;
        default:
                (*i)++;
                return binding_renew(&tracked->binding, schema, change.table, NULL, NULL);
        }
}

int tracking_apply(struct tracking *tracking, struct schema_rows *rows)
{
        struct schema *schema = NULL;
        int r = schema_build(rows, tracking->encoding, &schema);
        for (size_t i = 0; r == 0 && i < tracking->count;)
                r = apply_to(tracking, &i, schema);
        if (r < 0) {
                schema_unref(schema);
                schema_rows_release(rows);
                return r;
        }
        schema_unref(tracking->schema);
        schema_rows_release(&tracking->rows);
        tracking->schema = schema;
        tracking->rows = *rows;
        *rows = (struct schema_rows){0};
        return order_by_parents(tracking);
}
