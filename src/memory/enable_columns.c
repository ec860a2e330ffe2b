/* SPDX-License-Identifier: MIT
 *
 * enable_columns: which columns a new instance captures: the list's, or all. The list is parsed
 * here. It refuses to know the key.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "memory/enable_private.h"

static const char *const metadata_columns[] = {
        "__$start_lsn",
        "__$end_lsn",
        "__$seqval",
        "__$operation",
        "__$update_mask",
        "__$command_id",
};

void enable_columns_release(struct enable_columns *columns)
{
        free(columns->positions);
        memset(columns, 0, sizeof *columns);
}

static int bad_list(struct problem *problem, const char *why)
{
        return problem_set(problem, EINVAL, 22942,
                "the captured column list cannot be matched with the columns of the table: %s",
                why);
}

static const char *skip_spaces(const char *p)
{
        while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
                p++;
        return p;
}

/* An item in quotes; *at stands on the opening one. A doubled closing quote stands for one. */
static int parse_quoted(const char **at, struct buf *item, struct problem *problem)
{
        char closing = **at == '[' ? ']' : '"';
        const char *p = *at + 1;
        for (; *p; p++) {
                if (*p == closing && p[1] != closing)
                        break;
                if (*p == closing)
                        p++;
                buf_append_byte(item, (uint8_t)*p);
        }
        if (!*p)
                return problem_set(problem, EINVAL, 22965,
                        "the captured column list has an opening %c without a closing %c: '%s'",
                        **at, closing, *at);
        *at = p + 1;
        return 0;
}

static void parse_bare(const char **at, struct buf *item)
{
        const char *end = *at + strcspn(*at, ",");
        size_t size = (size_t)(end - *at);
        while (size > 0 && strchr(" \t\r\n", (*at)[size - 1]))
                size--;
        buf_append(item, *at, size);
        *at = end;
}

/* Reads one item and the comma after it. *ret_is_last: there was none. */
static int parse_item(const char **at, struct buf *item, struct problem *problem, bool *ret_is_last)
{
        int r = 0;
        const char *p = skip_spaces(*at);
        buf_reset(item);
        if (*p == '"' || *p == '[')
                r = parse_quoted(&p, item, problem);
        else if (*p == ',' || !*p)
                return bad_list(problem, "an item is empty");
        else
                parse_bare(&p, item);
        if (r < 0)
                return r;
        p = skip_spaces(p);
        if (*p && *p != ',')
                return bad_list(problem, "something follows a quoted item before the comma");
        *ret_is_last = !*p;
        *at = *p ? p + 1 : p;
        return 0;
}

static int mark_column(const struct schema_table *table, const char *name, bool *is_captured,
        struct problem *problem)
{
        int position = schema_find_column(table, name);
        if (position < 0)
                return problem_set(problem, EINVAL, 22930,
                        "the table '%s' has no column '%s', which the captured column list names",
                        table->name, name);
        if (is_captured[position])
                return problem_set(problem, EINVAL, 22942,
                        "the captured column list names the column '%s' twice", name);
        is_captured[position] = true;
        return 0;
}

static int mark_list(
        const struct instances_request *request, bool *is_captured, struct problem *problem)
{
        _cleanup_(buf_release) struct buf item = BUF_INIT;
        const char *at = request->columns;
        bool is_last = false;
        while (!is_last) {
                int r = parse_item(&at, &item, problem, &is_last);
                if (r < 0)
                        return r;
                const char *name = buf_string(&item);
                r = buf_error(&item);
                if (r == 0)
                        r = mark_column(request->table, name, is_captured, problem);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int check_reserved(const struct schema_table *table, const struct enable_columns *columns,
        struct problem *problem)
{
        for (unsigned i = 0; i < columns->count; i++) {
                const char *name = table->columns[columns->positions[i]].name;
                for (size_t j = 0; j < COUNT(metadata_columns); j++) {
                        if (text_equal_name(name, metadata_columns[j]))
                                return problem_set(problem, EINVAL, 22975,
                                        "the column '%s' of the table '%s' has the name of a "
                                        "metadata column of the change table: leave it out with "
                                        "--captured-columns",
                                        name, table->name);
                }
        }
        if (columns->count > ENABLE_COLUMN_COUNT)
                return problem_set(problem, EINVAL, 22925,
                        "%u columns of the table '%s' would be captured and the limit is %d: name "
                        "fewer with --captured-columns",
                        columns->count, table->name, ENABLE_COLUMN_COUNT);
        return 0;
}

int enable_choose_columns(const struct instances_request *request, struct problem *problem,
        struct enable_columns *ret_columns)
{
        const struct schema_table *table = request->table;
        _cleanup_(enable_columns_release) struct enable_columns columns = {0};
        _cleanup_free_ bool *is_captured = calloc(table->column_count + 1, sizeof *is_captured);
        columns.positions = calloc(table->column_count + 1, sizeof *columns.positions);
        if (!is_captured || !columns.positions)
                return -ENOMEM;
        int r = request->columns ? mark_list(request, is_captured, problem) : 0;
        if (r < 0)
                return r;
        for (unsigned i = 0; i < table->column_count; i++) {
                if (!request->columns || is_captured[i])
                        columns.positions[columns.count++] = i;
        }
        r = check_reserved(table, &columns, problem);
        if (r < 0)
                return r;
        *ret_columns = columns;
        columns.positions = NULL;
        return 0;
}
