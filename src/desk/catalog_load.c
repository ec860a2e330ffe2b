/* SPDX-License-Identifier: MIT
 *
 * catalog_load: the catalog that a store describes.
 *
 * An instance is read again only if its directory changed, and then only the files that came; if
 * files went as well, all of them. It knows the store's rooms and no reader of the catalog.
 */
#include "desk/catalog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "desk/role.h"
#include "faces/render.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "memory/files.h"
#include "memory/sql.h"

struct load {
        struct store *store;
        struct cdc_catalog *previous; /* or NULL */
        struct cdc_catalog *next;
        bool has_new_instance; /* one came or went: the root changed */
};

static void list_row(const struct file_row *row, struct cdc_file *ret_file)
{
        *ret_file = (struct cdc_file){
                .ino = row->ino,
                .ordinal = (uint64_t)row->ordinal,
                .size = (uint64_t)row->bytes,
                .mtime_ns = row->mtime_ns,
                .is_mapping = row->object_id == 0,
                .is_withdrawn = row->is_withdrawn,
        };
        lsn_format_name(row->from_lsn, ret_file->from_lsn);
        lsn_format_name(row->to_lsn, ret_file->to_lsn);
}

static int append_files(struct load *load, struct catalog_entry *entry, unsigned format)
{
        enum { AT_ONCE = 4096 };
        const struct cdc_file *last = catalog_newest_file(&entry->formats[format]);
        int64_t after = last ? (int64_t)last->ordinal : 0;
        for (;;) {
                _cleanup_(files_release) struct files files = {0};
                int r = files_list_openable(store_db(load->store), entry->instance.object_id,
                        render_at(format)->name, after, AT_ONCE, &files);
                if (r < 0 || files.count == 0)
                        return r;
                for (size_t i = 0; i < files.count; i++) {
                        struct cdc_file file;
                        list_row(&files.items[i], &file);
                        r = catalog_append(load->next, entry, format, &file);
                        if (r < 0)
                                return r;
                }
                after = files.items[files.count - 1].ordinal;
        }
}

struct counts {
        uint64_t files;
        uint64_t withdrawn; /* of them */
};

/* How many files of a format there are up to an ordinal. */
static int count_files(struct load *load, int64_t object_id, unsigned format, uint64_t up_to,
        struct counts *ret_counts)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(load->store,
                "SELECT count(*), total(is_withdrawn) FROM cdcfs_files WHERE object_id = ?"
                " AND format = ? AND ordinal <= ? AND mtime_ns IS NOT NULL",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        sqlite3_bind_text(stmt, 2, render_at(format)->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 3, (int64_t)up_to);
        r = sql_next(stmt);
        if (r == 1)
                *ret_counts = (struct counts){
                        .files = (uint64_t)sqlite3_column_int64(stmt, 0),
                        .withdrawn = (uint64_t)sqlite3_column_int64(stmt, 1),
                };
        sql_done(stmt);
        return r < 0 ? r : 0;
}

/* 1 if every file of the entry is still there, and listed or not as before. */
static int has_kept_all(struct load *load, const struct catalog_entry *entry)
{
        for (unsigned format = 0; format < entry->format_count; format++) {
                const struct catalog_list *list = &entry->formats[format];
                const struct cdc_file *last = catalog_newest_file(list);
                struct counts counts = {0};
                int r = last ? count_files(load, entry->instance.object_id, format, last->ordinal,
                                       &counts)
                             : 0;
                if (r < 0)
                        return r;
                if (counts.files != list->file_count || counts.withdrawn != list->withdrawn_count)
                        return 0;
        }
        return 1;
}

static int load_entry(struct load *load, const struct cdc_instance *instance)
{
        const struct catalog_entry *former = catalog_find_entry(load->next, instance->object_id);
        if (former && former->instance.mtime_ns == instance->mtime_ns)
                return 0;
        load->has_new_instance |= !former;
        int r = former ? has_kept_all(load, former) : 0;
        if (r < 0)
                return r;
        if (r == 0) {
                r = catalog_remove(load->next, instance->object_id);
                if (r < 0)
                        return r;
                former = NULL;
        }
        _cleanup_(catalog_entry_unrefp) struct catalog_entry *entry = NULL;
        r = catalog_begin_entry(former, instance, &entry);
        for (unsigned format = 0; r == 0 && format < render_file_formats(); format++)
                r = append_files(load, entry, format);
        return r < 0 ? r : catalog_put(load->next, steal(entry));
}

/* Takes out the instances between two ids: they are gone from the store. */
static int remove_between(struct load *load, int64_t after, int64_t before)
{
        const struct cdc_instance *gone;
        while ((gone = cdc_catalog_next_instance(load->next, after)) && gone->object_id < before) {
                load->has_new_instance = true;
                int r = catalog_remove(load->next, gone->object_id);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Where the group cannot be found, nobody but the owner reads. */
static void load_role(sqlite3_stmt *stmt, struct cdc_instance *instance)
{
        const char *role = (const char *)sqlite3_column_text(stmt, 6);
        instance->has_role = sqlite3_column_type(stmt, 6) != SQLITE_NULL;
        instance->role_gid = UINT32_MAX;
        if (role)
                (void)role_find_group(role, &instance->role_gid);
}

static int load_row(struct load *load, sqlite3_stmt *stmt, int64_t *last)
{
        struct cdc_instance instance = {
                .object_id = sqlite3_column_int64(stmt, 0),
                .base_ino = (uint64_t)sqlite3_column_int64(stmt, 3),
                .mtime_ns = sqlite3_column_int64(stmt, 4),
                .name = (const char *)sqlite3_column_text(stmt, 1),
                .directory = (const char *)sqlite3_column_text(stmt, 2),
                .supports_net_changes = sqlite3_column_int(stmt, 5) != 0,
        };
        if (!instance.name || !instance.directory)
                return -ENOMEM;
        load_role(stmt, &instance);
        int r = remove_between(load, *last, instance.object_id);
        *last = instance.object_id;
        return r < 0 ? r : load_entry(load, &instance);
}

static int load_entries(struct load *load)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(load->store,
                "SELECT object_id, '', '', base_ino, changed_ns, 0, NULL"
                " FROM cdcfs_instances WHERE object_id = 0 UNION ALL "
                "SELECT t.object_id, t.capture_instance, t.directory, i.base_ino, i.changed_ns,"
                "  t.supports_net_changes, t.role_name"
                " FROM change_tables AS t JOIN cdcfs_instances AS i USING (object_id)"
                " ORDER BY 1",
                &stmt);
        int64_t last = -1;
        while (r == 0 && (r = sql_next(stmt)) == 1)
                r = load_row(load, stmt, &last);
        sql_done(stmt);
        return r < 0 ? r : remove_between(load, last, INT64_MAX);
}

static bool find_format(const char *name, unsigned *ret_format)
{
        for (*ret_format = 0; *ret_format < render_count(); ++*ret_format) {
                const struct renderer *renderer = render_at(*ret_format);
                if (name && renderer->is_live && strcmp(renderer->name, name) == 0)
                        return true;
        }
        return false;
}

/* The oldest file that is not listed yet, of each instance and each format that is shown while it
 * grows: what net changes come to is not known before the end. */
static int load_lives(struct load *load)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(load->store,
                "SELECT object_id, format, ino FROM cdcfs_files WHERE mtime_ns IS NULL"
                " AND object_id > 0 ORDER BY object_id, format, ordinal",
                &stmt);
        struct catalog_live last = {0};
        while (r == 0 && (r = sql_next(stmt)) == 1) {
                struct catalog_live live = {
                        .object_id = sqlite3_column_int64(stmt, 0),
                        .ino = (uint64_t)sqlite3_column_int64(stmt, 2),
                };
                r = 0;
                if (!find_format((const char *)sqlite3_column_text(stmt, 1), &live.format) ||
                        catalog_order_live(&live, &last) == 0)
                        continue;
                last = live;
                r = catalog_append_live(load->next, live.object_id, live.format, live.ino);
        }
        sql_done(stmt);
        return r;
}

static int load_state(struct load *load)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(load->store,
                "SELECT base_ino, last_mtime_ns, catalog_version FROM cdcfs_state", &stmt);
        if (r == 0)
                r = sql_next(stmt);
        if (r == 1) {
                load->next->base_ino = (uint64_t)sqlite3_column_int64(stmt, 0);
                load->next->stamp_ns = sqlite3_column_int64(stmt, 1);
                load->next->version = (uint64_t)sqlite3_column_int64(stmt, 2);
        }
        sql_done(stmt);
        return r < 0 ? r : r == 1 ? 0 : -EBADMSG;
}

/* The root directory's: of the newest change in it, and never back. */
static int64_t root_mtime(const struct load *load)
{
        int64_t newest = load->next->stamp_ns;
        for (size_t i = 0; i < load->next->entry_count; i++) {
                int64_t at = load->next->entries[i]->instance.mtime_ns;
                newest = at > newest ? at : newest;
        }
        if (!load->previous)
                return newest;
        if (newest <= load->previous->mtime_ns)
                newest = load->has_new_instance
                                 ? clock_stamp_after(clock_wall(NULL), load->previous->mtime_ns)
                                 : load->previous->mtime_ns;
        return newest;
}

static int load_inside(struct load *load)
{
        int r = load_state(load);
        if (r < 0)
                return r;
        if (load->previous && !catalog_is_newer(load->next, load->previous))
                return 0;
        r = load_entries(load);
        if (r == 0)
                r = load_lives(load);
        if (r < 0)
                return r;
        load->next->mtime_ns = root_mtime(load);
        r = catalog_finish(load->next);
        return r < 0 ? r : 1;
}

int catalog_load(
        struct store *store, struct cdc_catalog *previous, struct cdc_catalog **ret_catalog)
{
        _cleanup_(catalog_unrefp) struct cdc_catalog *next = NULL;
        int r = 0;
        if (previous)
                r = catalog_clone(previous, &next);
        else if (!(next = catalog_new()))
                r = -ENOMEM;
        if (r < 0)
                return r;

        struct load load = {.store = store, .previous = previous, .next = next};
        r = store_begin_read(store);
        if (r < 0)
                return r;
        r = load_inside(&load);
        store_rollback(store);
        if (r == 1)
                *ret_catalog = steal(next);
        return r;
}
