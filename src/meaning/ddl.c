/* SPDX-License-Identifier: MIT
 *
 * ddl: see the header.
 */
#include "meaning/ddl.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "meaning/columns.h"
#include "meaning/definitions.h"

void ddl_change_release(struct ddl_change *change)
{
        for (unsigned i = 0; i < change->count; i++)
                free(change->statements[i]);
        free(change->statements);
        free(change->reason);
        free(change->map);
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

static int add_text(struct ddl_change *change, const char *text)
{
        _cleanup_(buf_release) struct buf statement = BUF_INIT;
        buf_append_string(&statement, text);
        return add_statement(change, &statement);
}

/* ALTER TABLE "table" ACTION "name" [TO "other"] */
static int add_alter(struct ddl_change *change, const char *table, const char *action,
        const char *name, const char *other)
{
        _cleanup_(buf_release) struct buf statement = BUF_INIT;
        buf_append_string(&statement, "ALTER TABLE ");
        text_append_identifier(&statement, table);
        buf_append_format(&statement, " %s ", action);
        text_append_identifier(&statement, name);
        if (other) {
                buf_append_string(&statement, " TO ");
                text_append_identifier(&statement, other);
        }
        return add_statement(change, &statement);
}

static int stop(struct ddl_change *change, const char *reason)
{
        ddl_change_release(change);
        change->verdict = DDL_STOPPED;
        change->reason = strdup(reason);
        return change->reason ? 0 : -ENOMEM;
}

/* ---- columns ---- */

struct difference {
        unsigned gone, renamed, retyped, added;
};

static struct difference count_differences(
        const struct schema_table *old, const struct schema_table *new, const int *map)
{
        struct difference d = {.added = new->column_count};
        for (unsigned i = 0; i < old->column_count; i++) {
                if (map[i] < 0) {
                        d.gone++;
                        continue;
                }
                const struct schema_column *a = &old->columns[i], *b = &new->columns[map[i]];
                d.added--;
                d.renamed += strcmp(a->name, b->name) != 0;
                d.retyped += strcmp(a->declared_type, b->declared_type) != 0 ||
                             a->is_generated != b->is_generated;
        }
        return d;
}

static int add_definition(
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

static int tell_added(struct ddl_change *change, const struct schema_table *old,
        const struct schema_table *new, unsigned count)
{
        size_t size = 0;
        const char *text = definitions_inserted(
                definitions_begin(old->sql), definitions_begin(new->sql), count, &size);
        int r = text ? 0 : add_text(change, new->sql);
        while (r == 0 && text && size > 0) {
                size_t definition = definitions_size(text + 1, size - 1);
                r = add_definition(change, new->name, text + 1, definition);
                text += 1 + definition;
                size -= 1 + definition;
        }
        return r;
}

static int tell_renamed_and_gone(
        struct ddl_change *change, const struct schema_table *old, const struct schema_table *new)
{
        int r = 0;
        for (unsigned i = 0; r == 0 && i < old->column_count; i++) {
                const char *name = old->columns[i].name;
                if (change->map[i] < 0)
                        r = add_alter(change, new->name, "DROP COLUMN", name, NULL);
                else if (strcmp(name, new->columns[change->map[i]].name) != 0)
                        r = add_alter(change, new->name, "RENAME COLUMN", name,
                                new->columns[change->map[i]].name);
        }
        return r;
}

/* Which statement leads from the old text to the new one: ALTER TABLE where it can be told, else
 * the new text itself. */
static int tell_columns(
        struct ddl_change *change, const struct schema_table *old, const struct schema_table *new)
{
        struct difference d = count_differences(old, new, change->map);
        bool has_kept = d.gone > 0 || d.renamed > 0;
        if (d.retyped > 0 || (has_kept && d.added > 0))
                return add_text(change, new->sql);
        if (has_kept)
                return tell_renamed_and_gone(change, old, new);
        if (d.added > 0)
                return tell_added(change, old, new, d.added);
        return add_text(change, new->sql);
}

/* ---- indexes of the table ---- */

/* The index as it is in the other schema. ALTER TABLE rewrites its text, which makes it no other
 * index. */
static const struct schema_index *find_index(const struct schema *schema,
        const struct schema_index *index, const char *table, bool is_altered)
{
        const struct schema_index *found = schema_find_index(schema, index->name);
        if (!found || !found->sql || !text_equal_name(found->table_name, table))
                return NULL;
        return is_altered || strcmp(found->sql, index->sql) == 0 ? found : NULL;
}

static int tell_index_gone(struct ddl_change *change, const struct schema_index *index)
{
        _cleanup_(buf_release) struct buf statement = BUF_INIT;
        buf_append_string(&statement, "DROP INDEX ");
        text_append_identifier(&statement, index->name);
        return add_statement(change, &statement);
}

/* The index of the table that was made next after the row of sqlite_schema; automatic ones are
 * passed over. */
static const struct schema_index *next_index(
        const struct schema *schema, const char *table, int64_t rowid)
{
        const struct schema_index *next = NULL;
        for (size_t i = 0; i < schema->index_count; i++) {
                const struct schema_index *index = &schema->indexes[i];
                if (index->sql && text_equal_name(index->table_name, table) &&
                        index->rowid > rowid && (!next || index->rowid < next->rowid))
                        next = index;
        }
        return next;
}

static int compare_indexes(const struct schema *old, const char *old_table,
        const struct schema *new, const char *new_table, struct ddl_change *change)
{
        bool is_altered = change->map != NULL;
        const struct schema_index *index = NULL;
        int r = 0;
        while (r == 0 && (index = next_index(old, old_table, index ? index->rowid : INT64_MIN)))
                if (!find_index(new, index, new_table, is_altered))
                        r = tell_index_gone(change, index);
        while (r == 0 && (index = next_index(new, new_table, index ? index->rowid : INT64_MIN)))
                if (!find_index(old, index, old_table, is_altered))
                        r = add_text(change, index->sql);
        return r;
}

/* ---- the table ---- */

static int tell_dropped(struct ddl_change *change, const struct schema_table *old)
{
        _cleanup_(buf_release) struct buf statement = BUF_INIT;
        buf_append_string(&statement, "DROP TABLE ");
        text_append_identifier(&statement, old->name);
        change->verdict = DDL_DROPPED;
        return add_statement(change, &statement);
}

/* The same row of sqlite_schema: altered, renamed, or moved to another root page. */
static int tell_altered(struct ddl_change *change, const struct schema_table *old,
        const struct schema_table *new, bool is_written)
{
        int r = 0;
        change->table = new;
        change->is_moved = new->root != old->root;
        if (strcmp(new->sql, old->sql) == 0 && strcmp(new->name, old->name) == 0)
                return 0;
        change->verdict = DDL_CHANGED;
        bool is_renamed = strcmp(new->name, old->name) != 0;
        if (is_renamed)
                r = add_alter(change, old->name, "RENAME TO", new->name, NULL);
        if (r == 0)
                r = columns_align(old, new, is_written, &change->map);
        if (r < 0)
                return r;
        struct difference d = count_differences(old, new, change->map);
        bool is_same = d.gone + d.renamed + d.retyped + d.added == 0;
        /* Renaming the table rewrites its text; that alone is no second statement. */
        return is_renamed && is_same ? 0 : tell_columns(change, old, new);
}

/* Another row under the same name. */
static int tell_rebuilt(
        struct ddl_change *change, const struct schema_table *old, const struct schema_table *new)
{
        change->verdict = DDL_CHANGED;
        change->table = new;
        change->is_rebuilt = true;
        int r = columns_match(old, new, &change->map);
        return r < 0 ? r : add_text(change, new->sql);
}

/* ALTER TABLE RENAME TO writes the new name in quotes. */
static bool is_name_quoted(const struct schema_table *table)
{
        static const char begin[] = "CREATE TABLE \"";
        const char *sql = table->sql + strlen(begin);
        if (strncmp(table->sql, begin, strlen(begin)) != 0)
                return false;
        for (const char *name = table->name; *name; name++) {
                if (*sql++ != *name || (*name == '"' && *sql++ != '"'))
                        return false;
        }
        return *sql == '"';
}

static bool has_same_types(
        const struct schema_table *old, const struct schema_table *now, bool by_name)
{
        if (now->column_count != old->column_count)
                return false;
        for (unsigned i = 0; i < old->column_count; i++) {
                const struct schema_column *a = &old->columns[i], *b = &now->columns[i];
                if (strcmp(a->declared_type, b->declared_type) != 0 ||
                        (by_name && strcmp(a->name, b->name) != 0))
                        return false;
        }
        return true;
}

/* Is one column list the other with one piece put in, as ADD COLUMN and DROP COLUMN leave it? */
static bool is_extended(const struct schema_table *old, const struct schema_table *now)
{
        const char *a = definitions_begin(old->sql), *b = definitions_begin(now->sql);
        size_t a_size = strlen(a), b_size = strlen(b), begin = 0, end = 0;
        size_t size = a_size < b_size ? a_size : b_size;
        if (now->column_count == old->column_count)
                return false;
        while (begin < size && a[begin] == b[begin])
                begin++;
        while (end < size && a[a_size - 1 - end] == b[b_size - 1 - end])
                end++;
        return begin + end >= size;
}

/* Has the table of this row another name now? A row number may also have been used again, by
 * another table. If its root is another page (auto_vacuum moves roots when a table is dropped) the
 * names of the columns must speak for it. */
static bool is_renamed(const struct schema_table *old, const struct schema_table *now)
{
        bool has_moved = now->root != old->root;
        if (!is_name_quoted(now))
                return false;
        return has_same_types(old, now, has_moved) || (!has_moved && is_extended(old, now));
}

static bool is_ordinary(const struct schema_table *table)
{
        return table && (table->kind == SCHEMA_TABLE || table->kind == SCHEMA_SHADOW);
}

/* A new object gets the row behind the last one. While one behind this row stayed, no other table
 * can have got it. */
static bool is_row_kept(const struct schema *old, const struct schema *new, int64_t rowid)
{
        for (size_t i = 0; i < new->table_count; i++) {
                const struct schema_table *later = &new->tables[i];
                const struct schema_table *before = schema_find_rowid(old, later->rowid);
                if (later->rowid > rowid && before && strcmp(before->name, later->name) == 0 &&
                        strcmp(before->sql, later->sql) == 0)
                        return true;
        }
        return false;
}

static int tell_table(struct ddl_change *change, const struct schema *before,
        const struct schema_table *old, const struct schema *new, bool is_written)
{
        const struct schema_table *now = schema_find_rowid(new, old->rowid);
        const struct schema_table *named = schema_find_table(new, old->name);
        bool is_same_row = is_ordinary(now) && (now == named || is_renamed(old, now) ||
                                                       is_row_kept(before, new, old->rowid));
        const struct schema_table *found = is_same_row ? now : is_ordinary(named) ? named : NULL;
        if (!found)
                return tell_dropped(change, old);
        if (!found->is_parsed)
                return stop(change, "SQLite cannot parse the new text of the table");
        return is_same_row ? tell_altered(change, old, found, is_written)
                           : tell_rebuilt(change, old, found);
}

int ddl_compare(const struct schema *old, const struct schema_table *table,
        const struct schema *new, bool is_written, struct ddl_change *ret_change)
{
        struct ddl_change change = {.verdict = DDL_SAME};
        int r = tell_table(&change, old, table, new, is_written);
        if (r == 0 && change.table) {
                r = compare_indexes(old, table->name, new, change.table->name, &change);
                if (change.count > 0)
                        change.verdict = DDL_CHANGED;
        }
        if (r < 0) {
                ddl_change_release(&change);
                return r;
        }
        *ret_change = change;
        return 0;
}
