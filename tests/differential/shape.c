/* SPDX-License-Identifier: MIT
 *
 * shape: see shape.h.
 */
#include "shape.h"

#include <sqlite3.h>
#include <strings.h>
#include "alteration.h"

void shape_release(struct shape *shape)
{
        free(shape->name);
        free(shape->sql);
        free(shape->parents);
        names_release(&shape->columns);
        names_release(&shape->types);
        names_release(&shape->indexes);
        names_release(&shape->index_texts);
        *shape = (struct shape){0};
}

void shape_change_release(struct shape_change *change)
{
        free(change->map);
        names_release(&change->definitions);
        *change = (struct shape_change){0};
}

static void read_pairs(struct names *first, struct names *second, struct reader *reader)
{
        uint32_t count = read_u32(reader);
        for (uint32_t i = 0; i < count && !reader->is_broken; i++) {
                names_take(first, read_text(reader));
                names_take(second, read_text(reader));
        }
}

void shape_read(struct shape *shape, struct reader *reader)
{
        *shape = (struct shape){.row = read_u64(reader), .root = read_u32(reader)};
        shape->is_without_rowid = read_u8(reader);
        shape->name = read_text(reader);
        shape->sql = read_text(reader);
        read_pairs(&shape->columns, &shape->types, reader);
        read_pairs(&shape->indexes, &shape->index_texts, reader);
        uint32_t parents = read_u32(reader);
        for (uint32_t i = 0; i < parents && !reader->is_broken; i++) {
                shape->parents = memory_grow(
                        shape->parents, (shape->parent_count + 1) * sizeof(*shape->parents));
                shape->parents[shape->parent_count++] = read_u32(reader);
        }
}

static int *make_map(unsigned count)
{
        int *map = memory_grow(NULL, (count + 1) * sizeof(*map));
        for (unsigned i = 0; i < count; i++)
                map[i] = COLUMN_GONE;
        return map;
}

void shape_change_read(
        struct shape_change *change, const struct shape *before, struct reader *reader)
{
        shape_change_release(change);
        enum alteration_kind kind = read_u8(reader);
        uint32_t count = read_u32(reader);
        int *map = make_map(before->columns.count);
        for (uint32_t i = 0; i < count && !reader->is_broken; i++) {
                uint32_t origin = read_u32(reader);
                if (origin < before->columns.count)
                        map[origin] = (int)i;
        }
        uint32_t definitions = read_u32(reader);
        for (uint32_t i = 0; i < definitions && !reader->is_broken; i++)
                names_take(&change->definitions, read_text(reader));
        if (kind == ALTERATION_REPLACED)
                free(map);
        else
                change->map = map;
}

static int find_column(const struct shape *shape, const char *name)
{
        for (unsigned i = 0; i < shape->columns.count; i++)
                if (strcasecmp(shape->columns.items[i], name) == 0)
                        return (int)i;
        return COLUMN_GONE;
}

void shape_change_decide(
        struct shape_change *change, const struct shape *before, const struct shape *after)
{
        if (before->row == after->row) {
                change->event = SHAPE_ALTERED;
                return;
        }
        free(change->map);
        change->map = make_map(before->columns.count);
        bool is_rebuilt = strcasecmp(before->name, after->name) == 0;
        change->event = is_rebuilt ? SHAPE_REBUILT : SHAPE_ENDED;
        for (unsigned i = 0; is_rebuilt && i < before->columns.count; i++)
                change->map[i] = find_column(after, before->columns.items[i]);
}

/* ---- statements ---- */

static void add_formatted(struct names *statements, char *text)
{
        names_add(statements, text);
        sqlite3_free(text);
}

static void tell_columns(const struct shape_change *change, const struct shape *before,
        const struct shape *after, struct names *statements)
{
        unsigned told = statements->count;
        for (unsigned i = 0; change->map && i < before->columns.count; i++) {
                const char *name = before->columns.items[i];
                const char *now = change->map[i] < 0 ? NULL : after->columns.items[change->map[i]];
                if (!now)
                        add_formatted(
                                statements, sqlite3_mprintf("ALTER TABLE \"%w\" DROP COLUMN \"%w\"",
                                                    after->name, name));
                else if (strcmp(name, now) != 0)
                        add_formatted(statements,
                                sqlite3_mprintf("ALTER TABLE \"%w\" RENAME COLUMN \"%w\" TO \"%w\"",
                                        after->name, name, now));
        }
        /* No statement alone leads to it, or none at all: a table that it refers to was renamed. */
        bool is_mixed = change->definitions.count && statements->count > told;
        while (is_mixed && statements->count > told)
                free(statements->items[--statements->count]);
        for (unsigned i = 0; !is_mixed && i < change->definitions.count; i++)
                add_formatted(statements, sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN %s",
                                                  after->name, change->definitions.items[i]));
        bool is_renamed = strcmp(before->name, after->name) != 0;
        if (statements->count == told && (is_mixed || !is_renamed) &&
                strcmp(before->sql, after->sql) != 0)
                names_add(statements, after->sql);
}

static void tell_indexes(
        const struct shape *before, const struct shape *after, struct names *statements)
{
        for (unsigned i = 0; i < before->indexes.count; i++)
                if (names_find(&after->indexes, before->indexes.items[i]) < 0)
                        add_formatted(statements,
                                sqlite3_mprintf("DROP INDEX \"%w\"", before->indexes.items[i]));
        for (unsigned i = 0; i < after->indexes.count; i++)
                if (names_find(&before->indexes, after->indexes.items[i]) < 0)
                        names_add(statements, after->index_texts.items[i]);
}

void shape_statements(const struct shape_change *change, const struct shape *before,
        const struct shape *after, struct names *ret_statements)
{
        if (change->event == SHAPE_SAME)
                return;
        if (change->event == SHAPE_ENDED) {
                add_formatted(ret_statements, sqlite3_mprintf("DROP TABLE \"%w\"", before->name));
                return;
        }
        if (change->event == SHAPE_REBUILT) {
                names_add(ret_statements, after->sql);
        } else {
                if (strcmp(before->name, after->name) != 0)
                        add_formatted(ret_statements,
                                sqlite3_mprintf("ALTER TABLE \"%w\" RENAME TO \"%w\"", before->name,
                                        after->name));
                tell_columns(change, before, after, ret_statements);
        }
        tell_indexes(before, after, ret_statements);
}
