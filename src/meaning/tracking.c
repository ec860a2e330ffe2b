/* SPDX-License-Identifier: MIT
 *
 * tracking: see the header.
 */
#include "meaning/tracking_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "meaning/ddl.h"
#include "meaning/schemarows.h"
#include "meaning/tablescan.h"

static int read_row(void *context, int64_t rowid, const struct buf *payload)
{
        struct tracking *t = context;
        return schemarows_change(&t->rows, t->encoding, rowid, payload);
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

struct tracked *tracking_find_tree(const struct tracking *tracking, uint16_t tree)
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
        while (tree != 0 && tracking_find_tree(tracking, tree))
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

int tracking_order(struct tracking *t)
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

static int check_encoding(
        const struct tracking *t, const struct capture_request *request, struct problem *problem)
{
        if (request->encoding == 0 || request->encoding == t->encoding)
                return 0;
        return problem_set(problem, ENOTSUP, 0, "%s", TRACKING_OTHER_ENCODING);
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
        int r = check_encoding(tracking, request, problem);
        if (r == 0)
                r = find_table(tracking, request, &found, problem);
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
        return tracking_order(tracking);
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
        if (!tracking_find_tree(tracking, tree))
                pagemap_forget_tree(&tracking->map, tree);
}
