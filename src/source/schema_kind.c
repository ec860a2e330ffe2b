/* SPDX-License-Identifier: MIT
 *
 * schema_kind: what a row of sqlite_schema describes: a table of the application, or one that
 * SQLite or a module keeps for itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "source/schema_private.h"

/* Shadow tables of the modules that come with SQLite and of well-known others: what follows the
 * name of the virtual table, digits aside. */
static const struct {
        const char *module, *suffix;
} shadows[] = {{"fts5", "data"}, {"fts5", "idx"}, {"fts5", "content"}, {"fts5", "docsize"},
        {"fts5", "config"}, {"fts4", "content"}, {"fts4", "segments"}, {"fts4", "segdir"},
        {"fts4", "docsize"}, {"fts4", "stat"}, {"fts3", "content"}, {"fts3", "segments"},
        {"fts3", "segdir"}, {"rtree", "node"}, {"rtree", "parent"}, {"rtree", "rowid"},
        {"rtree_i32", "node"}, {"rtree_i32", "parent"}, {"rtree_i32", "rowid"}, {"geopoly", "node"},
        {"geopoly", "parent"}, {"geopoly", "rowid"}, {"spellfix1", "vocab"}, {"vec0", "chunks"},
        {"vec0", "rowids"}, {"vec0", "info"}, {"vec0", "auxiliary"}, {"vec0", "vector_chunks"},
        {"vec0", "metadatachunks"}, {"vec0", "metadatatext"}};

static bool is_virtual(const struct schema_row *row)
{
        return row->sql && strncasecmp(row->sql, "CREATE VIRTUAL", 14) == 0;
}

/* The module of a virtual table: the name after USING, which is the first word that is not quoted
 * and follows the table's name. */
static void copy_module(const char *sql, char *ret_module, size_t size)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_$";
        const char *p = sql + strlen("CREATE VIRTUAL");
        for (bool is_found = false; *p && !is_found;) {
                bool is_quoted = strchr("\"'`[", *p);
                const char *end = is_quoted ? strchr(p + 1, *p == '[' ? ']' : *p) : p;
                size_t word = is_quoted ? 0 : strspn(p, letters);
                is_found = word == 5 && strncasecmp(p, "USING", 5) == 0;
                p = end ? end + (word ? word : 1) : "";
        }
        p += strcspn(p, letters);
        snprintf(ret_module, size, "%.*s", (int)strspn(p, letters), p);
}

static bool is_module_shadow(const char *module, const char *suffix)
{
        bool is_known = false, has_suffix = false;
        for (size_t i = 0; i < COUNT(shadows); i++) {
                size_t size = strlen(shadows[i].suffix);
                bool is_module = strcasecmp(module, shadows[i].module) == 0;
                bool is_suffix = strncasecmp(suffix, shadows[i].suffix, size) == 0 &&
                                 suffix[size + strspn(suffix + size, "0123456789")] == '\0';
                if (is_module && is_suffix)
                        return true;
                is_known |= is_module;
                has_suffix |= is_suffix;
        }
        return !is_known && has_suffix;
}

/* <virtual table>_<suffix>; either part may have underscores of its own. */
static bool is_shadow(const struct schema_rows *rows, const char *name)
{
        char module[64];
        for (const char *cut = strchr(name, '_'); cut; cut = strchr(cut + 1, '_')) {
                _cleanup_free_ char *owner = strndup(name, (size_t)(cut - name));
                const struct schema_row *row = owner ? schema_find_row(rows, "table", owner) : NULL;
                if (!row || !is_virtual(row))
                        continue;
                copy_module(row->sql, module, sizeof(module));
                if (is_module_shadow(module, cut + 1))
                        return true;
        }
        return false;
}

enum schema_kind schema_kind_of(const struct schema_rows *rows, const struct schema_row *row)
{
        if (strcmp(row->type, "view") == 0)
                return SCHEMA_VIEW;
        if (is_virtual(row))
                return SCHEMA_VIRTUAL;
        if (strncasecmp(row->name, "sqlite_", 7) == 0)
                return SCHEMA_INTERNAL;
        return is_shadow(rows, row->name) ? SCHEMA_SHADOW : SCHEMA_TABLE;
}
