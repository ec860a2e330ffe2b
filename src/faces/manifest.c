/* SPDX-License-Identifier: MIT
 *
 * manifest: merging the files of all formats by the time of listing, which rises strictly over
 * all of them. It measures nothing: what it tells was stored when the file was listed.
 */
#include "faces/manifest.h"

#include <errno.h>
#include <string.h>

#include "faces/render.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "ground/lsn.h"
#include "memory/files.h"
#include "memory/sql.h"

static const char header[] = "name,format,from_lsn,to_lsn,rows,bytes,sha256,first_time,last_time,"
                             "closed_at,odd_text,resync,renderer\n";

/* The files of one format from a place on. */
struct cursor {
        struct files files;
        size_t next;
        bool is_ended;
};

static void release_cursors(struct cursor (*cursors)[MANIFEST_FORMATS])
{
        for (unsigned format = 0; format < MANIFEST_FORMATS; format++)
                files_release(&(*cursors)[format].files);
}

/* The next file of a format, or NULL. */
static int look(const struct manifest *manifest, sqlite3 *store, unsigned format,
        struct cursor *cursor, const struct file_row **ret_file)
{
        enum { AT_ONCE = 512 };
        *ret_file = NULL;
        if (!(manifest->formats >> format & 1))
                return 0;
        if (cursor->next == cursor->files.count && !cursor->is_ended) {
                files_release(&cursor->files);
                cursor->next = 0;
                int r = files_list(store, manifest->object_id, render_at(format)->name,
                        manifest->last[format], AT_ONCE, &cursor->files);
                if (r < 0)
                        return r;
                cursor->is_ended = cursor->files.count < AT_ONCE;
        }
        if (cursor->next < cursor->files.count)
                *ret_file = &cursor->files.items[cursor->next];
        return 0;
}

static void append_time(struct buf *text, int64_t time_ns)
{
        char time[CLOCK_TEXT_SIZE];
        clock_format(time_ns, time);
        buf_append_string(text, time);
        buf_append_byte(text, ',');
}

static void append_line(struct buf *text, const struct file_row *file, const char *suffix)
{
        char from_name[LSN_NAME_SIZE], to_name[LSN_NAME_SIZE];
        char from[LSN_TEXT_SIZE], to[LSN_TEXT_SIZE];
        lsn_format_name(file->from_lsn, from_name);
        lsn_format_name(file->to_lsn, to_name);
        lsn_format(file->from_lsn, from);
        lsn_format(file->to_lsn, to);
        buf_append_format(text, "%s-%s%s,%s,%s,%s,%lld,%lld,", from_name, to_name, suffix,
                file->format, from, to, (long long)file->rows, (long long)file->bytes);
        buf_append_hex(text, file->sha256, sizeof file->sha256);
        buf_append_byte(text, ',');
        append_time(text, file->first_time_ns);
        append_time(text, file->last_time_ns);
        append_time(text, file->closed_ns);
        buf_append_format(text, "%lld,%d,%u\n", (long long)file->odd_text, file->is_resync,
                file->renderer_version);
}

/* Adds the line of the file that was listed first of those without one. 1, or 0: there is none. */
static int append_next(struct manifest *manifest, sqlite3 *store, struct cursor *cursors)
{
        const struct file_row *oldest = NULL;
        unsigned oldest_format = 0;
        for (unsigned format = 0; format < render_file_formats(); format++) {
                const struct file_row *file;
                int r = look(manifest, store, format, &cursors[format], &file);
                if (r < 0)
                        return r;
                if (file && (!oldest || file->mtime_ns < oldest->mtime_ns)) {
                        oldest = file;
                        oldest_format = format;
                }
        }
        if (!oldest)
                return 0;
        append_line(&manifest->text, oldest, render_at(oldest_format)->suffix);
        manifest->last[oldest_format] = oldest->ordinal;
        if (manifest->first[oldest_format] == 0)
                manifest->first[oldest_format] = oldest->ordinal;
        cursors[oldest_format].next++;
        return 1;
}

/* Files go from the oldest on: it is enough to look at the first of each format. */
static int has_kept_first(const struct manifest *manifest, sqlite3 *store)
{
        for (unsigned format = 0; format < render_file_formats(); format++) {
                _cleanup_(files_release) struct files files = {0};
                int r = files_list(
                        store, manifest->object_id, render_at(format)->name, 0, 1, &files);
                if (r < 0)
                        return r;
                int64_t first = files.count > 0 ? files.items[0].ordinal : 0;
                if (manifest->first[format] != 0 && manifest->first[format] != first)
                        return 0;
        }
        return 1;
}

static int read_changed(sqlite3 *store, int64_t object_id, int64_t *ret_changed_ns)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(store,
                "SELECT changed_ns FROM cdcfs_instances WHERE object_id = ?", -1, &stmt, NULL));
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        *ret_changed_ns = sqlite3_column_int64(stmt, 0);
        return 0;
}

int manifest_update(struct manifest *manifest, sqlite3 *store)
{
        _cleanup_(release_cursors) struct cursor cursors[MANIFEST_FORMATS] = {0};
        int64_t changed_ns = 0;
        int r = read_changed(store, manifest->object_id, &changed_ns);
        if (r < 0 || (manifest->text.size > 0 && changed_ns == manifest->changed_ns))
                return r;
        r = has_kept_first(manifest, store);
        if (r < 0)
                return r;
        if (r == 0 || manifest->text.size == 0) {
                buf_reset(&manifest->text);
                memset(manifest->first, 0, sizeof manifest->first);
                memset(manifest->last, 0, sizeof manifest->last);
                buf_append_string(&manifest->text, header);
        }
        while ((r = append_next(manifest, store, cursors)) > 0)
                ;
        manifest->changed_ns = changed_ns;
        return r < 0 ? r : buf_error(&manifest->text);
}

void manifest_release(struct manifest *manifest)
{
        buf_release(&manifest->text);
        *manifest = (struct manifest){0};
}
