/* SPDX-License-Identifier: MIT
 *
 * enable_key: what identifies a row of a new instance: the declared PRIMARY KEY, a chosen unique
 * index, or nothing (then the rowid does), and whether net changes can be had from it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ground/cleanup.h"
#include "memory/enable_private.h"

void enable_key_release(struct enable_key *key)
{
        enable_columns_release(&key->columns);
        free(key->index_name);
        key->index_name = NULL;
}

static int set_key(
        struct enable_key *key, const char *name, const unsigned *positions, unsigned count)
{
        key->index_name = strdup(name);
        key->columns.positions = calloc(count + 1, sizeof *positions);
        if (!key->index_name || !key->columns.positions)
                return -ENOMEM;
        if (count > 0)
                memcpy(key->columns.positions, positions, count * sizeof *positions);
        key->columns.count = count;
        return 0;
}

/* NULL in a column of a declared key is possible in SQLite, save in these. */
static bool can_be_null(const struct schema_table *table, unsigned position)
{
        if (table->columns[position].is_not_null || table->rowid_column == (int)position)
                return false;
        for (unsigned i = 0; table->is_without_rowid && i < table->key_count; i++) {
                if (table->key[i] == position)
                        return false;
        }
        return true;
}

static int check_index_column(
        const struct instances_request *request, unsigned position, struct problem *problem)
{
        const struct schema_column *column = &request->table->columns[position];
        if (column->is_virtual)
                return problem_set(problem, EINVAL, 22929,
                        "the index '%s' cannot identify rows: its column '%s' is generated and "
                        "not stored",
                        request->index, column->name);
        if (can_be_null(request->table, position))
                return problem_set(problem, EINVAL, 22838,
                        "the index '%s' cannot identify rows: its column '%s' is not declared NOT "
                        "NULL",
                        request->index, column->name);
        return 0;
}

static int choose_index(
        const struct instances_request *request, struct problem *problem, struct enable_key *key)
{
        const struct schema_table *table = request->table;
        const struct schema_index *index = schema_find_index(request->schema, request->index);
        if (!index || !text_equal_name(index->table_name, table->name))
                return problem_set(problem, EINVAL, 22928, "'%s' is not an index of the table '%s'",
                        request->index, table->name);
        if (!index->is_unique || index->is_partial || index->has_expression)
                return problem_set(problem, EINVAL, 22929,
                        "the index '%s' cannot identify rows: it %s", index->name,
                        !index->is_unique   ? "is not unique"
                        : index->is_partial ? "covers a part of the rows only"
                                            : "has an expression");
        for (unsigned i = 0; i < index->column_count; i++) {
                int r = check_index_column(request, index->columns[i], problem);
                if (r < 0)
                        return r;
        }
        return set_key(key, index->name, index->columns, index->column_count);
}

static bool is_index_of_key(const struct schema_index *index, const struct schema_table *table)
{
        if (index->sql || !text_equal_name(index->table_name, table->name) ||
                index->column_count != table->key_count)
                return false;
        for (unsigned i = 0; i < table->key_count; i++) {
                if (index->columns[i] != table->key[i])
                        return false;
        }
        return true;
}

/* The automatic index of the PRIMARY KEY. An INTEGER PRIMARY KEY has none: the table itself is in
 * that order. */
static const char *primary_key_name(const struct instances_request *request)
{
        const struct schema *schema = request->schema;
        for (size_t i = 0; i < schema->index_count; i++) {
                if (is_index_of_key(&schema->indexes[i], request->table))
                        return schema->indexes[i].name;
        }
        return "PRIMARY KEY";
}

static bool is_among(const struct enable_columns *columns, unsigned position)
{
        for (unsigned i = 0; i < columns->count; i++) {
                if (columns->positions[i] == position)
                        return true;
        }
        return false;
}

int enable_choose_key(const struct instances_request *request,
        const struct enable_columns *captured, struct problem *problem, struct enable_key *ret_key)
{
        const struct schema_table *table = request->table;
        _cleanup_(enable_key_release) struct enable_key key = {0};
        int r = 0;
        if (request->index)
                r = choose_index(request, problem, &key);
        else if (table->key_count > 0)
                r = set_key(&key, primary_key_name(request), table->key, table->key_count);
        for (unsigned i = 0; r == 0 && i < key.columns.count; i++) {
                unsigned position = key.columns.positions[i];
                if (!is_among(captured, position))
                        return problem_set(problem, EINVAL, 22943,
                                "the captured column list leaves out the column '%s', which is "
                                "part of the key '%s'",
                                table->columns[position].name, key.index_name);
        }
        if (r < 0)
                return r;
        *ret_key = key;
        memset(&key, 0, sizeof key);
        return 0;
}

int enable_choose_net(const struct instances_request *request, const struct enable_key *key,
        struct problem *problem, bool *ret_supports_net)
{
        unsigned count = key->columns.count;
        bool is_wanted = request->supports_net < 0 ? count > 0 : request->supports_net > 0;
        if (is_wanted && count == 0)
                return problem_set(problem, EINVAL, 22939,
                        "net changes need a key: the table '%s' has no PRIMARY KEY, and no unique "
                        "index was given with --index",
                        request->table->name);
        if (is_wanted && count > ENABLE_NET_KEY_COUNT)
                return problem_set(problem, EINVAL, 22865,
                        "the key '%s' has %u columns, and net changes allow at most %d: enable the "
                        "table with --supports-net-changes 0",
                        key->index_name, count, ENABLE_NET_KEY_COUNT);
        *ret_supports_net = is_wanted;
        return 0;
}
