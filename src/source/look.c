/* SPDX-License-Identifier: MIT
 *
 * look: opens a source, reads its schema, closes it. It judges nothing that it finds.
 */
#include "source/look.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ground/buf.h"
#include "ground/cleanup.h"

enum {
        LOOK_TRIES = 10,
        BUSY_MS = 5000,
        INDEX_COPY = 48, /* the wal-index header stands twice (file format, "WAL-Index Format") */
        INDEX_INITIALIZED = 12,
        INDEX_FRAMES = 16,
        INDEX_SALT = 32,
};

/* What tells one state of the two files from another. */
struct stamp {
        off_t log_size; /* 0: none, or nothing in it */
        off_t size;
        struct timespec time;
};

static struct stamp take_stamp(const char *path)
{
        char log[PATH_MAX];
        struct stat st;
        struct stamp stamp = {0};
        snprintf(log, sizeof(log), "%s-wal", path);
        if (stat(log, &st) == 0)
                stamp.log_size = st.st_size;
        if (stat(path, &st) == 0) {
                stamp.size = st.st_size;
                stamp.time = st.st_mtim;
        }
        return stamp;
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
        return a->log_size == b->log_size && a->size == b->size &&
               a->time.tv_sec == b->time.tv_sec && a->time.tv_nsec == b->time.tv_nsec;
}

/* file:<path>?immutable=1, with what means something in a URI as %XX. */
static void append_immutable_uri(struct buf *buf, const char *path)
{
        buf_append_string(buf, "file:");
        for (const char *c = path; *c; c++) {
                if (strchr("?#%", *c))
                        buf_append_format(buf, "%%%02X", (unsigned)(uint8_t)*c);
                else
                        buf_append_byte(buf, (uint8_t)*c);
        }
        buf_append_string(buf, "?immutable=1");
}

static int open_immutable(const char *path, sqlite3 **ret_db)
{
        _cleanup_(buf_release) struct buf uri = BUF_INIT;
        append_immutable_uri(&uri, path);
        const char *name = buf_string(&uri);
        if (buf_error(&uri))
                return SQLITE_NOMEM;
        return sqlite3_open_v2(name, ret_db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
}

static int open_shared(const char *path, sqlite3 **ret_db)
{
        int r = sqlite3_open_v2(path, ret_db, SQLITE_OPEN_READWRITE, NULL);
        if (r == SQLITE_OK) {
                sqlite3_busy_timeout(*ret_db, BUSY_MS);
                sqlite3_db_config(*ret_db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        }
        return r;
}

/* As SQLite takes it, for the file may not say it yet: the first page may stand in the log. */
static int read_encoding(sqlite3 *db, enum text_encoding *ret_encoding)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &stmt, NULL);
        if (r == SQLITE_OK)
                r = sqlite3_step(stmt);
        if (r != SQLITE_ROW)
                return r == SQLITE_DONE ? -EIO : problem_errno(r);
        *ret_encoding = text_encoding_of((const char *)sqlite3_column_text(stmt, 0));
        return 0;
}

/* One try. */
static int read_once(
        const char *path, bool is_immutable, struct look *ret_look, struct problem *problem)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        _cleanup_(schema_rows_release) struct schema_rows rows = {0};
        struct look look = {0};
        int r = problem_errno(is_immutable ? open_immutable(path, &db) : open_shared(path, &db));
        if (r == 0)
                r = schema_rows_read(db, &rows);
        if (r == 0)
                r = read_encoding(db, &look.encoding);
        if (r < 0)
                return problem_set(problem, r == -EAGAIN ? EBUSY : -r, 0, "cannot read %s: %s",
                        path, db ? sqlite3_errmsg(db) : strerror(-r));
        r = schema_build(&rows, look.encoding, &look.schema);
        if (r < 0)
                return problem_set(
                        problem, -r, 0, "cannot read the schema of %s: %s", path, strerror(-r));
        *ret_look = look;
        return 0;
}

int look_at_schema(const char *path, struct look *ret_look, struct problem *problem)
{
        for (unsigned i = 0; i < LOOK_TRIES; i++) {
                struct look look;
                struct stamp before = take_stamp(path);
                if (before.log_size > 0)
                        break;
                int r = read_once(path, true, &look, problem);
                struct stamp after = take_stamp(path);
                if (same_stamp(&before, &after)) {
                        if (r == 0)
                                *ret_look = look;
                        return r;
                }
                /* Somebody began to write: what was read may be of two states. */
                if (r == 0)
                        schema_unref(look.schema);
        }
        return read_once(path, false, ret_look, problem);
}

int look_at_log(const char *path, struct look_log *ret_log)
{
        char name[PATH_MAX];
        uint8_t header[2 * INDEX_COPY];
        snprintf(name, sizeof(name), "%s-shm", path);
        _cleanup_close_ int fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header))
                return 0;
        if (memcmp(header, header + INDEX_COPY, INDEX_COPY) != 0 || !header[INDEX_INITIALIZED])
                return 0;
        /* In the byte order of the machine, but for the salt. */
        memcpy(&ret_log->frames, header + INDEX_FRAMES, sizeof(ret_log->frames));
        memcpy(ret_log->salt, header + INDEX_SALT, sizeof(ret_log->salt));
        return 1;
}
