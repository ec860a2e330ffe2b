/* SPDX-License-Identifier: MIT
 *
 * view_content: closed files and documents of a view, each on the calling thread's connection.
 *
 * It makes no bytes; the faces do.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "cdc.h"
#include "desk/manifests.h"
#include "desk/view.h"
#include "faces/content.h"
#include "faces/document.h"
#include "faces/render.h"
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "ground/lsn.h"
#include "memory/sql.h"

/* ---- closed files ---- */

/* A struct cdc_content is a content of a pool whose owner is the view. */
static struct content *content_of(struct cdc_content *content)
{
        return (struct content *)content;
}

int cdc_content_open(struct cdc_view *view, uint64_t ino, struct cdc_content **ret_content)
{
        struct store *store = NULL;
        struct content *content = NULL;
        int r = view_store(view, NULL, &store);
        if (r == 0)
                r = content_open(view_pool(view), store_db(store), ino, &content);
        if (r == 0)
                *ret_content = (struct cdc_content *)content;
        return r;
}

int cdc_content_read(
        struct cdc_content *content, uint64_t offset, void *buffer, size_t size, size_t *ret_size)
{
        struct store *store = NULL;
        int r = view_store(content_owner(content_of(content)), NULL, &store);
        if (r < 0)
                return r;
        return content_read(content_of(content), store_db(store), offset, buffer, size, ret_size);
}

int cdc_content_try_read(
        struct cdc_content *content, uint64_t offset, void *buffer, size_t size, size_t *ret_size)
{
        return content_try_read(content_of(content), offset, buffer, size, ret_size);
}

void cdc_content_status(
        struct cdc_content *content, uint64_t *ret_ino, uint64_t *ret_size, int64_t *ret_mtime_ns)
{
        content_status(content_of(content), ret_ino, ret_size, ret_mtime_ns);
}

void cdc_content_close(struct cdc_content *content)
{
        if (content)
                content_close(content_of(content));
}

/* ---- documents ---- */

struct request {
        struct cdc_view *view;
        sqlite3 *store;
        int64_t object_id; /* 0 = the database */
        const struct cdc_pulse *pulse;
};

static int make_readme(const struct request *request, struct buf *buf)
{
        if (request->object_id != 0)
                return -ENOENT;
        document_readme(view_source(request->view), buf);
        return 0;
}

static int make_validity(const struct request *request, struct buf *buf)
{
        if (!request->pulse)
                return document_validity(request->store, request->object_id, NULL, buf);
        struct document_pulse pulse = {
                .as_of_ns = request->pulse->as_of_ns,
                .is_caught_up = request->pulse->is_caught_up,
        };
        if (request->pulse->end_of_log[0] &&
                lsn_parse(request->pulse->end_of_log, &pulse.end_of_log) < 0)
                return -EINVAL;
        return document_validity(request->store, request->object_id, &pulse, buf);
}

static int make_min_lsn(const struct request *request, struct buf *buf)
{
        return document_min_lsn(request->store, request->object_id, buf);
}

static int make_max_lsn(const struct request *request, struct buf *buf)
{
        return document_max_lsn(request->store, request->object_id, buf);
}

static int make_ddl_history(const struct request *request, struct buf *buf)
{
        return document_ddl_history(request->store, request->object_id, render_find("csv"), buf);
}

static int make_ddl_history_jsonl(const struct request *request, struct buf *buf)
{
        return document_ddl_history(request->store, request->object_id, render_find("jsonl"), buf);
}

static int make_captured_columns(const struct request *request, struct buf *buf)
{
        return document_table(
                request->store, "captured_columns", request->object_id, render_find("csv"), buf);
}

/* Of the whole database only, as those that follow. */
static int make_table(const struct request *request, const char *table, struct buf *buf)
{
        if (request->object_id != 0)
                return -ENOENT;
        return document_table(request->store, table, 0, render_find("csv"), buf);
}

static int make_change_tables(const struct request *request, struct buf *buf)
{
        return make_table(request, "change_tables", buf);
}

static int make_index_columns(const struct request *request, struct buf *buf)
{
        return make_table(request, "index_columns", buf);
}

static int make_jobs(const struct request *request, struct buf *buf)
{
        return make_table(request, "cdc_jobs", buf);
}

static int make_scan_sessions(const struct request *request, struct buf *buf)
{
        return make_table(request, "dm_cdc_log_scan_sessions", buf);
}

static int make_errors(const struct request *request, struct buf *buf)
{
        return make_table(request, "dm_cdc_errors", buf);
}

static int make_schema(const struct request *request, struct buf *buf)
{
        return document_schema(request->store, request->object_id, buf);
}

static int make_files(const struct request *request, struct buf *buf)
{
        if (request->object_id == 0)
                return -ENOENT;
        return manifests_append(view_manifests(request->view), request->store, request->object_id,
                view_formats(request->view), buf);
}

static int make_partitions(const struct request *request, struct buf *buf)
{
        struct utsname machine;
        if (request->object_id != 0)
                return -ENOENT;
        return document_partitions(
                request->store, uname(&machine) == 0 ? machine.nodename : "", buf);
}

static int (*const makers[])(const struct request *request, struct buf *buf) = {
        [CDC_DOCUMENT_README] = make_readme,
        [CDC_DOCUMENT_VALIDITY] = make_validity,
        [CDC_DOCUMENT_MIN_LSN] = make_min_lsn,
        [CDC_DOCUMENT_MAX_LSN] = make_max_lsn,
        [CDC_DOCUMENT_DDL_HISTORY] = make_ddl_history,
        [CDC_DOCUMENT_DDL_HISTORY_JSONL] = make_ddl_history_jsonl,
        [CDC_DOCUMENT_CAPTURED_COLUMNS] = make_captured_columns,
        [CDC_DOCUMENT_CHANGE_TABLES] = make_change_tables,
        [CDC_DOCUMENT_INDEX_COLUMNS] = make_index_columns,
        [CDC_DOCUMENT_JOBS] = make_jobs,
        [CDC_DOCUMENT_SCAN_SESSIONS] = make_scan_sessions,
        [CDC_DOCUMENT_ERRORS] = make_errors,
        [CDC_DOCUMENT_SCHEMA] = make_schema,
        [CDC_DOCUMENT_FILES] = make_files,
        [CDC_DOCUMENT_PARTITIONS] = make_partitions,
};

/* Documents tell of the store as its last commit left it. */
static int last_commit(struct store *store, int64_t *ret_ns)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store, "SELECT last_commit_time_ns FROM cdcfs_state", &stmt);
        if (r == 0 && (r = sql_next(stmt)) == 1)
                *ret_ns = sqlite3_column_int64(stmt, 0);
        sql_done(stmt);
        return r < 0 ? r : 0;
}

int cdc_document_render(struct cdc_view *view, const struct cdc_instance *instance,
        enum cdc_document document, const struct cdc_pulse *pulse, char **ret_bytes,
        size_t *ret_size, int64_t *ret_mtime_ns)
{
        struct store *store = NULL;
        int r = view_store(view, NULL, &store);
        if (r < 0)
                return r;
        struct request request = {
                .view = view,
                .store = store_db(store),
                .object_id = instance ? instance->object_id : 0,
                .pulse = pulse,
        };
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        int64_t mtime_ns = 0;
        r = store_begin_read(store);
        if (r == 0)
                r = last_commit(store, &mtime_ns);
        if (r == 0)
                r = makers[document](&request, &buf);
        store_rollback(store);
        buf_append_byte(&buf, 0); /* so that an empty document has bytes too */
        if (r == 0)
                r = buf_error(&buf);
        if (r < 0)
                return r;
        *ret_size = buf.size - 1;
        *ret_bytes = buf_steal(&buf);
        *ret_mtime_ns = mtime_ns;
        return 0;
}
