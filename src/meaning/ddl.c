/* SPDX-License-Identifier: MIT
 *
 * ddl: see the header. ADD COLUMN inserts `, definition` into the stored text; what the two texts
 * do not share is therefore the definition, as the application wrote it.
 */
#include "meaning/ddl.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"

void ddl_change_release(struct ddl_change *change)
{
        for (unsigned i = 0; i < change->count; i++)
                free(change->statements[i]);
        free(change->statements);
        free(change->reason);
        *change = (struct ddl_change){0};
}

/* Takes what stands in the buffer as one more statement. */
static int add_statement(struct ddl_change *change, struct buf *statement)
{
        char **statements =
                realloc(change->statements, (change->count + 1) * sizeof(*change->statements));
        if (!statements)
                return -ENOMEM;
        change->statements = statements;
        change->statements[change->count] = buf_steal(statement);
        if (!change->statements[change->count])
                return -ENOMEM;
        change->count++;
        return 0;
}

static int stop(struct ddl_change *change, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

static int stop(struct ddl_change *change, const char *format, ...)
{
        va_list arguments;
        ddl_change_release(change);
        va_start(arguments, format);
        char *reason = sqlite3_vmprintf(format, arguments);
        va_end(arguments);
        change->verdict = DDL_STOPPED;
        change->reason = reason ? strdup(reason) : NULL;
        sqlite3_free(reason);
        return change->reason ? 0 : -ENOMEM;
}

static bool is_same_column(const struct schema_column *a, const struct schema_column *b)
{
        return strcmp(a->name, b->name) == 0 && strcmp(a->declared_type, b->declared_type) == 0 &&
               a->storage == b->storage && a->is_generated == b->is_generated;
}

static bool is_same_key(const struct schema_table *a, const struct schema_table *b)
{
        return a->rowid_column == b->rowid_column && a->key_count == b->key_count &&
               (a->key_count == 0 || memcmp(a->key, b->key, a->key_count * sizeof(*a->key)) == 0);
}

/* The first column that differs, or -1 if the new table begins with all columns of the old. */
static int first_difference(const struct schema_table *a, const struct schema_table *b)
{
        for (unsigned i = 0; i < a->column_count; i++)
                if (i >= b->column_count || !is_same_column(&a->columns[i], &b->columns[i]))
                        return (int)i;
        return -1;
}

/* Length of a string, quoted name or comment at the start of the text; 0 if there is none. */
static size_t opaque_size(const char *text, size_t size)
{
        static const struct {
                const char *begin, *end;
        } kinds[] = {{"'", "'"}, {"\"", "\""}, {"`", "`"}, {"[", "]"}, {"--", "\n"}, {"/*", "*/"}};
        for (size_t i = 0; i < COUNT(kinds); i++) {
                size_t begin = strlen(kinds[i].begin), end = strlen(kinds[i].end);
                if (size < begin || memcmp(text, kinds[i].begin, begin) != 0)
                        continue;
                const char *found = memmem(text + begin, size - begin, kinds[i].end, end);
                return found ? (size_t)(found - text) + end : size;
        }
        return 0;
}

/* Length of the first definition in a comma list, minding quotes, comments and parentheses. */
static size_t definition_size(const char *text, size_t size)
{
        int depth = 0;
        for (size_t i = 0; i < size;) {
                size_t opaque = opaque_size(text + i, size - i);
                if (opaque == 0 && text[i] == ',' && depth == 0)
                        return i;
                if (opaque == 0 && (text[i] == '(' || text[i] == ')'))
                        depth += text[i] == '(' ? 1 : -1;
                i += opaque > 0 ? opaque : 1;
        }
        return size;
}

static int add_column_statement(
        struct ddl_change *change, const char *table, const char *text, size_t size)
{
        _cleanup_(buf_release) struct buf statement = BUF_INIT;
        while (size > 0 && isspace((unsigned char)*text))
                text++, size--;
        while (size > 0 && isspace((unsigned char)text[size - 1]))
                size--;
        buf_append_string(&statement, "ALTER TABLE ");
        text_append_identifier(&statement, table);
        buf_append_string(&statement, " ADD COLUMN ");
        buf_append(&statement, text, size);
        return add_statement(change, &statement);
}

/* True if the text is this many definitions with a comma before each. */
static bool is_definitions(const char *text, size_t size, unsigned count)
{
        for (; count > 0 && size > 0 && *text == ','; count--) {
                size_t definition = 1 + definition_size(text + 1, size - 1);
                text += definition;
                size -= definition;
        }
        return count == 0 && size == 0;
}

/* The definitions that the new text holds beyond the old; NULL if the old text does not enclose
 * them. What is inserted into `a, b` to make `a, c, b` may be `, c` or `c, `: it is looked for
 * from the right to the left. */
static const char *inserted_text(const char *old, const char *new, unsigned count, size_t *ret_size)
{
        size_t old_size = strlen(old), new_size = strlen(new), prefix = 0;
        while (prefix < old_size && old[prefix] == new[prefix])
                prefix++;
        size_t rest = old_size - prefix;
        if (new_size < old_size || memcmp(old + prefix, new + new_size - rest, rest) != 0)
                return NULL;
        size_t size = new_size - old_size;
        *ret_size = size;
        for (const char *text = new + prefix;; text--) {
                if (is_definitions(text, size, count))
                        return text;
                if (text == new || size == 0 || text[-1] != text[size - 1])
                        return NULL;
        }
}

static int add_columns(
        struct ddl_change *change, const struct schema_table *old, const struct schema_table *new)
{
        size_t size = 0;
        const char *text =
                inserted_text(old->sql, new->sql, new->column_count - old->column_count, &size);
        int r = 0;
        if (!text) {
                _cleanup_(buf_release) struct buf statement = BUF_INIT;
                buf_append_string(&statement, new->sql);
                return add_statement(change, &statement);
        }
        while (r == 0 && size > 0) {
                size_t definition = definition_size(text + 1, size - 1);
                r = add_column_statement(change, new->name, text + 1, definition);
                text += 1 + definition;
                size -= 1 + definition;
        }
        return r;
}

/* ---- indexes of the table ---- */

static const struct schema_index *find_same_index(
        const struct schema *schema, const struct schema_index *index)
{
        for (size_t i = 0; i < schema->index_count; i++) {
                const struct schema_index *other = &schema->indexes[i];
                bool is_same_text =
                        (!other->sql && !index->sql) ||
                        (other->sql && index->sql && strcmp(other->sql, index->sql) == 0);
                if (is_same_text && strcmp(other->name, index->name) == 0)
                        return other;
        }
        return NULL;
}

static int compare_indexes(const struct schema *old, const struct schema *new, const char *table,
        struct ddl_change *change)
{
        int r = 0;
        for (size_t i = 0; r == 0 && i < old->index_count; i++) {
                const struct schema_index *index = &old->indexes[i];
                if (!text_equal_name(index->table_name, table) || find_same_index(new, index))
                        continue;
                _cleanup_(buf_release) struct buf statement = BUF_INIT;
                buf_append_string(&statement, "DROP INDEX ");
                text_append_identifier(&statement, index->name);
                r = add_statement(change, &statement);
        }
        for (size_t i = 0; r == 0 && i < new->index_count; i++) {
                const struct schema_index *index = &new->indexes[i];
                if (!index->sql || !text_equal_name(index->table_name, table) ||
                        find_same_index(old, index))
                        continue;
                _cleanup_(buf_release) struct buf statement = BUF_INIT;
                buf_append_string(&statement, index->sql);
                r = add_statement(change, &statement);
        }
        return r;
}

/* ---- the table ---- */

static int table_gone(const struct schema_table *old, struct ddl_change *change)
{
        _cleanup_(buf_release) struct buf statement = BUF_INIT;
        buf_append_string(&statement, "DROP TABLE ");
        text_append_identifier(&statement, old->name);
        change->verdict = DDL_DROPPED;
        return add_statement(change, &statement);
}

/* The table's row in sqlite_schema is gone or is another table's now. */
static int table_left(const struct schema_table *old, const struct schema *new,
        const struct schema_table *same_row, struct ddl_change *change)
{
        if (schema_find_table(new, old->name))
                return stop(change, "table %s was rebuilt or dropped and created again", old->name);
        if (same_row && same_row->root == old->root && same_row->is_parsed &&
                same_row->column_count == old->column_count && first_difference(old, same_row) < 0)
                return stop(change, "table %s was renamed to %s", old->name, same_row->name);
        return table_gone(old, change);
}

static int text_changed(
        const struct schema_table *old, const struct schema_table *new, struct ddl_change *change)
{
        if (!new->is_parsed)
                return stop(change, "SQLite %s cannot parse the new text of table %s",
                        sqlite3_libversion(), old->name);
        int different = first_difference(old, new);
        if (different >= 0)
                return stop(change, "column %s of table %s was dropped, renamed or changed",
                        old->columns[different].name, old->name);
        if (!is_same_key(old, new) || old->is_without_rowid != new->is_without_rowid ||
                old->is_strict != new->is_strict)
                return stop(change, "the key of table %s was changed", old->name);
        change->verdict = DDL_CHANGED;
        return add_columns(change, old, new);
}

static const struct schema_index *find_index(
        const struct schema *schema, const char *table, const char *index)
{
        const struct schema_index *found = schema_find_index(schema, index);
        return found && text_equal_name(found->table_name, table) ? found : NULL;
}

/* Does the index that rows are identified by, if it was there, still identify them? */
static bool keeps_identity(
        const struct schema *old, const struct schema *new, const char *table, const char *index)
{
        const struct schema_index *a = find_index(old, table, index);
        const struct schema_index *b = find_index(new, table, index);
        return !a ||
               (b && b->is_unique && b->is_partial == a->is_partial && !b->has_expression &&
                       b->column_count == a->column_count &&
                       memcmp(a->columns, b->columns, a->column_count * sizeof(*a->columns)) == 0);
}

int ddl_compare(const struct schema *old, const struct schema_table *table,
        const struct schema *new, const char *index, struct ddl_change *ret_change)
{
        const struct schema_table *now = schema_find_rowid(new, table->rowid);
        struct ddl_change change = {.verdict = DDL_SAME, .table = now};
        int r = 0;
        if (!now || now->kind != table->kind || !text_equal_name(now->name, table->name)) {
                r = table_left(table, new, now, &change);
                change.table = NULL;
        } else if (now->root != table->root) {
                r = stop(&change, "table %s was moved to another root page (VACUUM)", table->name);
        } else if (strcmp(now->sql, table->sql) != 0) {
                r = text_changed(table, now, &change);
                if (change.verdict == DDL_CHANGED)
                        change.table = now;
        }
        if (r == 0 && change.verdict != DDL_DROPPED && change.verdict != DDL_STOPPED) {
                r = compare_indexes(old, new, table->name, &change);
                if (change.count > 0)
                        change.verdict = DDL_CHANGED;
                if (r == 0 && index && !keeps_identity(old, new, table->name, index))
                        r = stop(&change,
                                "index %s, the identity of the rows, was dropped or changed",
                                index);
                change.table = now;
        }
        if (r < 0) {
                ddl_change_release(&change);
                return r;
        }
        *ret_change = change;
        return 0;
}
