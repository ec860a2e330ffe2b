/* SPDX-License-Identifier: MIT
 *
 * store: opens a store, notices what others do to it, closes and removes it.
 *
 * It refuses to know what any table means, except that the schema room can upgrade them.
 */
#include "memory/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "memory/sql.h"
#include "memory/store_private.h"
#include "memory/store_schema.h"

enum { OPEN_ATTEMPTS = 5 };

static void append_uri_byte(struct buf *uri, char byte)
{
        if (strchr("%?#", byte))
                buf_append_format(uri, "%%%02x", (unsigned char)byte);
        else
                buf_append_byte(uri, (uint8_t)byte);
}

static int open_connection(
        const char *path, enum store_mode mode, bool is_immutable, sqlite3 **ret_db)
{
        _cleanup_(buf_release) struct buf uri = BUF_INIT;
        int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
        flags |= mode == STORE_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
        /* A path that begins with two slashes would name a host. */
        buf_append_string(&uri, path[0] == '/' ? "file://" : "file:");
        for (const char *p = path; *p; p++)
                append_uri_byte(&uri, *p);
        if (is_immutable)
                buf_append_string(&uri, "?immutable=1");
        const char *text = buf_string(&uri);
        if (buf_error(&uri) < 0)
                return buf_error(&uri);
        int r = problem_errno(sqlite3_open_v2(text, ret_db, flags, NULL));
        if (r == 0)
                sqlite3_busy_timeout(*ret_db, STORE_BUSY_MS);
        return r;
}

static int read_integer(sqlite3 *db, const char *sql, int64_t *ret_value)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int result = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
        if (result == SQLITE_OK)
                result = sqlite3_step(stmt);
        if (result == SQLITE_ROW)
                *ret_value = sqlite3_column_int64(stmt, 0);
        return result == SQLITE_DONE ? -EBADMSG : problem_errno(result);
}

static int read_encoding(sqlite3 *db, enum text_encoding *ret_encoding)
{
        int64_t encoding = 0;
        int r = read_integer(db, "SELECT encoding FROM cdcfs_state", &encoding);
        if (r == 0 && (encoding < TEXT_UTF8 || encoding > TEXT_UTF16BE))
                r = -EBADMSG;
        *ret_encoding = (enum text_encoding)encoding;
        return r;
}

static int check_format(
        sqlite3 *db, const char *path, int64_t *ret_version, struct problem *problem)
{
        int64_t id = 0;
        int r = read_integer(db, "PRAGMA application_id", &id);
        if (r == 0)
                r = read_integer(db, "PRAGMA user_version", ret_version);
        if (r < 0)
                return problem_set(
                        problem, -r, 0, "cannot read the store '%s': %s", path, sqlite3_errmsg(db));
        if (id != STORE_APPLICATION_ID || *ret_version < 1)
                return problem_set(problem, EMEDIUMTYPE, 0, "'%s' is not a cdcfs store", path);
        if (*ret_version > STORE_VERSION)
                return problem_set(problem, ENOTSUP, 0,
                        "the store '%s' has version %lld and this program knows versions up to "
                        "%d: use a newer cdcfs",
                        path, (long long)*ret_version, STORE_VERSION);
        return 0;
}

static int set_up_writer(sqlite3 *db)
{
        return sql_execute(db, "PRAGMA journal_mode = WAL;"
                               "PRAGMA synchronous = NORMAL;"
                               "PRAGMA secure_delete = ON;"
                               "PRAGMA journal_size_limit = 67108864;"
                               "PRAGMA cache_size = -16000");
}

static bool has_wal(const char *path)
{
        struct stat stat_wal;
        char *wal = NULL;
        bool is_there = asprintf(&wal, "%s-wal", path) >= 0 && stat(wal, &stat_wal) == 0;
        free(wal);
        return is_there;
}

/* A reader's connection. A -wal means that somebody has it open, or died: then the ordinary way
 * through shared memory is the right one. Without, SQLite would make both side files, so the file
 * is read as it stands; somebody who came in between shows by his -wal. */
static int open_reader(
        const char *path, struct problem *problem, sqlite3 **ret_db, bool *ret_is_immutable)
{
        for (int attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
                _cleanup_sqlite_ sqlite3 *db = NULL;
                int64_t version = 0;
                bool is_immutable = !has_wal(path);
                int r = open_connection(path, STORE_READ, is_immutable, &db);
                if (r == 0)
                        r = read_integer(db, "PRAGMA schema_version", &version);
                if (is_immutable == has_wal(path))
                        continue; /* it changed under us; what was read may be half of each */
                if (r < 0)
                        return problem_set(problem, -r, 0, "cannot read the store '%s'%s: %s", path,
                                is_immutable ? "" : " with its write-ahead log",
                                db ? sqlite3_errmsg(db) : strerror(-r));
                *ret_is_immutable = is_immutable;
                *ret_db = steal(db);
                return 0;
        }
        return problem_set(problem, EAGAIN, 0,
                "the store '%s' is opened and closed all the time; try again", path);
}

/* Fills in store->db and what is known of it. */
static int connect_store(struct store *store, struct problem *problem)
{
        int64_t version = 0;
        if (stat(store->path, &store->stat) < 0) {
                int error = errno;
                return problem_set(problem, error, error == ENOENT ? 22901 : 0,
                        error == ENOENT ? "the database is not enabled for change data capture: "
                                          "there is no store '%s'; run enable-db%s"
                                        : "cannot look at the store '%s': %s",
                        store->path, error == ENOENT ? "" : strerror(error));
        }
        int r = store->mode == STORE_READ
                        ? open_reader(store->path, problem, &store->db, &store->is_immutable)
                        : open_connection(store->path, STORE_WRITE, false, &store->db);
        if (r < 0 && store->mode == STORE_WRITE)
                return problem_set(problem, -r, 0, "cannot open the store '%s': %s", store->path,
                        store->db ? sqlite3_errmsg(store->db) : strerror(-r));
        if (r == 0)
                r = check_format(store->db, store->path, &version, problem);
        if (r < 0)
                return r;
        if (store->mode == STORE_WRITE)
                r = set_up_writer(store->db);
        if (r == 0 && store->mode == STORE_WRITE)
                r = store_schema_upgrade(store->db, (int)version);
        else if (r == 0 && version < STORE_VERSION)
                return problem_set(problem, ENOTSUP, 0,
                        "the store '%s' has the older version %lld: start the agent once to "
                        "upgrade it",
                        store->path, (long long)version);
        if (r == 0)
                r = read_encoding(store->db, &store->encoding);
        if (r == 0)
                r = read_integer(store->db, "PRAGMA data_version", &store->data_version);
        /* What failed may have been taken back since, and SQLite be content. */
        bool has_words = sqlite3_errcode(store->db) != SQLITE_OK;
        if (r < 0)
                return problem_set(problem, -r, 0, "cannot use the store '%s': %s", store->path,
                        has_words ? sqlite3_errmsg(store->db) : strerror(-r));
        return 0;
}

int store_open(
        const char *path, enum store_mode mode, struct problem *problem, struct store **ret_store)
{
        _cleanup_(store_closep) struct store *store = calloc(1, sizeof *store);
        if (store)
                store->path = strdup(path);
        if (!store || !store->path)
                return problem_set(problem, ENOMEM, 0, "out of memory");
        store->mode = mode;
        int r = connect_store(store, problem);
        if (r == 0)
                *ret_store = steal(store);
        return r;
}

void store_close(struct store *store)
{
        if (!store)
                return;
        store_statement_forget_all(store);
        if (store->db)
                store_rollback(store);
        sqlite3_close_v2(store->db);
        free(store->path);
        free(store);
}

void store_closep(struct store **store)
{
        store_close(*store);
}

/* Noticing. */

static int reopen(struct store *store)
{
        store_statement_forget_all(store);
        sqlite3_close_v2(steal(store->db));
        int r = connect_store(store, NULL);
        return r < 0 ? r : 1;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
        return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Nobody has written to a store that was opened as immutable. */
static bool is_untouched(const struct store *store, const struct stat *now)
{
        return now->st_size == store->stat.st_size &&
               is_same_time(now->st_mtim, store->stat.st_mtim) && !has_wal(store->path);
}

int store_check_read(const struct store *store)
{
        struct stat now;
        if (!store->is_immutable)
                return 0;
        return stat(store->path, &now) < 0 || !is_untouched(store, &now) ? -ESTALE : 0;
}

int store_changed(struct store *store)
{
        struct stat now;
        sqlite3_stmt *stmt = NULL;
        if (stat(store->path, &now) < 0 || now.st_ino != store->stat.st_ino ||
                now.st_dev != store->stat.st_dev)
                return -ESTALE;
        if (store->is_immutable)
                return is_untouched(store, &now) ? 0 : reopen(store);
        int r = store_statement(store, "PRAGMA data_version", &stmt);
        if (r < 0)
                return r;
        r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EIO;
        int64_t version = sqlite3_column_int64(stmt, 0);
        sql_done(stmt);
        bool has_changed = version != store->data_version;
        store->data_version = version;
        return has_changed;
}

void store_announce(const struct store *store)
{
        _cleanup_free_ char *log = NULL;
        if (asprintf(&log, "%s-wal", store->path) < 0) {
                log = NULL;
                return;
        }
        /* By name: a descriptor of our own is not needed, so that no lock can be lost with it. */
        utimensat(AT_FDCWD, log, NULL, 0);
}

/* Removing. */

/* Leaves WAL, which SQLite allows to the only connection alone, and then holds the lock that
 * shuts out everybody. */
static int take_alone(sqlite3 *db)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int result = sqlite3_prepare_v2(db, "PRAGMA journal_mode = DELETE", -1, &stmt, NULL);
        if (result == SQLITE_OK)
                result = sqlite3_step(stmt);
        if (result != SQLITE_ROW)
                return result == SQLITE_DONE ? -EAGAIN : problem_errno(result);
        const char *mode = (const char *)sqlite3_column_text(stmt, 0);
        if (!mode || strcmp(mode, "delete") != 0)
                return -EAGAIN;
        sqlite3_reset(stmt);
        return sql_execute(db, "BEGIN EXCLUSIVE");
}

int store_delete(struct store **store, struct problem *problem)
{
        struct store *s = *store;
        if (s->mode != STORE_WRITE)
                return problem_set(problem, EROFS, 0, "the store is open for reading only");
        store_statement_forget_all(s);
        sqlite3_busy_timeout(s->db, 0);
        int r = take_alone(s->db);
        if (r == 0 && unlink(s->path) < 0)
                r = -errno;
        if (r == 0) {
                store_closep(store);
                *store = NULL;
                return 0;
        }
        store_rollback(s);
        sqlite3_busy_timeout(s->db, STORE_BUSY_MS);
        (void)sql_execute(s->db, "PRAGMA journal_mode = WAL");
        if (r == -EAGAIN)
                return problem_set(problem, EBUSY, 0,
                        "the store '%s' is in use: stop the agent and unmount first", s->path);
        return problem_set(
                problem, -r, 0, "cannot remove the store '%s': %s", s->path, strerror(-r));
}
