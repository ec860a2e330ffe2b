/* SPDX-License-Identifier: MIT
 *
 * database: see the header. The layout of the wal-index is that of the file format's section
 * "WAL-Index File Format"; it is in the byte order of the machine.
 */
#include "source/database.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/bytes.h"
#include "ground/cleanup.h"

enum {
        INDEX_BLOCK = 32768,
        INDEX_COPY = 48, /* one copy of the header */
        INDEX_CHECKED = 40,
        INDEX_SALT = 32,
        INDEX_BACKFILL = 96,
        INDEX_MARKS = 100,
        INDEX_ATTEMPTED = 128,
        HEADER_TRIES = 100,
        OPEN_LIMIT_MS = 1000,
};

static int connection_open(const char *path, sqlite3 **ret_connection)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        int r = sqlite3_open_v2(path, &db,
                SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);
        if (r != SQLITE_OK)
                return problem_errno(r);
        sqlite3_extended_result_codes(db, 1);
        sqlite3_busy_timeout(db, 0);
        sqlite3_wal_autocheckpoint(db, 0);
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        /* A text in the schema that this SQLite cannot parse must not be an error of every read. */
        sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
        *ret_connection = steal(db);
        return 0;
}

int database_connect(const struct database *database, sqlite3 **ret_connection)
{
        return connection_open(database->path, ret_connection);
}

static int read_text(sqlite3 *db, const char *sql, char *ret_text, size_t size)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
        if (r == SQLITE_OK)
                r = sqlite3_step(stmt);
        if (r != SQLITE_ROW)
                return r == SQLITE_DONE ? -EIO : problem_errno(r);
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        sqlite3_snprintf((int)size, ret_text, "%s", text ? text : "");
        return 0;
}

/* Reads what connections say of the database; a read, so the WAL is open afterwards. This once it
 * waits for a lock: nothing is pinned yet, and another process that opens the WAL first, or closes
 * it last, locks out everybody for a moment. */
static int read_settings(struct database *d, struct problem *problem)
{
        char text[32];
        sqlite3_busy_timeout(d->files, OPEN_LIMIT_MS);
        int r = read_text(d->files, "SELECT count(*) FROM sqlite_schema", text, sizeof(text));
        if (r == 0)
                r = read_text(d->files, "PRAGMA journal_mode", text, sizeof(text));
        if (r == 0 && strcmp(text, "wal") != 0)
                return problem_set(problem, ENOTSUP, 0,
                        "%s is in journal mode %s: change data capture reads the write-ahead log; "
                        "run cdcctl enable-db --set-wal",
                        d->path, text);
        if (r == 0)
                r = read_text(d->files, "PRAGMA page_size", text, sizeof(text));
        if (r == 0)
                d->page_size = (uint32_t)strtoul(text, NULL, 10);
        if (r == 0)
                r = read_text(d->files, "PRAGMA encoding", text, sizeof(text));
        if (r == 0)
                d->encoding = text_encoding_of(text);
        if (r == -EAGAIN)
                return problem_set(problem, EBUSY, 0,
                        "%s is locked by another process (locking_mode=EXCLUSIVE?)", d->path);
        if (r < 0)
                return problem_set(
                        problem, -r, 0, "cannot read %s: %s", d->path, sqlite3_errmsg(d->files));
        sqlite3_busy_timeout(d->files, 0);
        return 0;
}

static int map_handles(struct database *d)
{
        void volatile *block = NULL;
        sqlite3_file_control(d->files, "main", SQLITE_FCNTL_FILE_POINTER, &d->main);
        sqlite3_file_control(d->files, "main", SQLITE_FCNTL_JOURNAL_POINTER, &d->wal);
        if (!d->main || !d->main->pMethods || !d->wal || !d->wal->pMethods ||
                d->main->pMethods->iVersion < 2)
                return -ENOTSUP;
        int r = d->main->pMethods->xShmMap(d->main, 0, INDEX_BLOCK, 0, &block);
        if (r != SQLITE_OK || !block)
                return -ENOTSUP;
        d->index = block;
        return 0;
}

/* Reserved bytes stand at offset 20 of page 1, which may be in the WAL only; sqlite3_file_control
 * can be asked instead. VACUUM and a restore may change them: who reads states of the database
 * asks page 1 of each. */
static int read_reserved(struct database *d)
{
        int reserved = -1;
        int r = sqlite3_file_control(d->files, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
        if (r != SQLITE_OK || reserved < 0)
                return -EIO;
        d->usable = d->page_size - (uint32_t)reserved;
        return d->usable < 480 ? -EBADMSG : 0;
}

int database_open(const char *path, struct database **ret_database, struct problem *problem)
{
        struct database *d = calloc(1, sizeof(*d));
        if (!d || !(d->path = realpath(path, NULL))) {
                int error = d ? errno : ENOMEM;
                database_close(d);
                return problem_set(problem, error, 0, "%s: %s", path, strerror(error));
        }
        int r = connection_open(d->path, &d->files);
        if (r < 0)
                problem_set(problem, -r, 0, "cannot open %s", d->path);
        if (r == 0)
                r = read_settings(d, problem);
        if (r == 0 && ((r = map_handles(d)) < 0 || (r = read_reserved(d)) < 0))
                problem_set(
                        problem, -r, 0, "%s: its log cannot be read from outside (VFS)", d->path);
        if (r < 0) {
                database_close(d);
                return r;
        }
        *ret_database = d;
        return 0;
}

void database_leave(struct database *database)
{
        sqlite3_db_config(database->files, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
        database_close(database);
}

void database_close(struct database *database)
{
        if (!database)
                return;
        sqlite3_close_v2(database->files);
        free(database->path);
        free(database);
}

static uint32_t load32(const uint8_t *p)
{
        uint32_t v;
        memcpy(&v, p, sizeof(v));
        return v;
}

static void copy_volatile(uint8_t *to, const volatile uint8_t *from, size_t size)
{
        for (size_t i = 0; i < size; i++)
                to[i] = from[i];
}

static bool copy_is_valid(const uint8_t *copy)
{
        uint32_t sum[2] = {0, 0};
        for (unsigned i = 0; i < INDEX_CHECKED; i += 8) {
                sum[0] += load32(copy + i) + sum[1];
                sum[1] += load32(copy + i + 4) + sum[0];
        }
        return copy[12] != 0 && sum[0] == load32(copy + 40) && sum[1] == load32(copy + 44);
}

/* Writers store copy 2, then copy 1, so reading 1 before 2 and finding them equal is safe. */
static bool read_copies(const volatile uint8_t *index, uint8_t copy[INDEX_COPY])
{
        uint8_t second[INDEX_COPY];
        copy_volatile(copy, index, INDEX_COPY);
        __sync_synchronize();
        copy_volatile(second, index + INDEX_COPY, INDEX_COPY);
        return memcmp(copy, second, INDEX_COPY) == 0 && copy_is_valid(copy);
}

int database_header(const struct database *database, struct database_header *ret_header)
{
        uint8_t first[INDEX_COPY], again[INDEX_COPY], backfill[4], attempted[4];
        for (int i = 0; i < HEADER_TRIES; i++) {
                if (!read_copies(database->index, first))
                        continue;
                copy_volatile(backfill, database->index + INDEX_BACKFILL, sizeof(backfill));
                copy_volatile(attempted, database->index + INDEX_ATTEMPTED, sizeof(attempted));
                __sync_synchronize();
                if (!read_copies(database->index, again) || memcmp(first, again, INDEX_COPY) != 0)
                        continue;
                *ret_header = (struct database_header){
                        .change = load32(first + 8),
                        .big_endian = first[13] != 0,
                        .max_frame = load32(first + 16),
                        .pages = load32(first + 20),
                        .backfilled = load32(backfill),
                        .attempted = load32(attempted),
                };
                memcpy(ret_header->salt, first + 32, sizeof(ret_header->salt));
                return 0;
        }
        return -EAGAIN;
}

/* Without the header's checksum: a writer in the middle of storing it changes no salt. A restart
 * stores the salt before it sets the number of copied frames back, so that is read first. */
bool database_is_overtaken(
        const struct database *database, const struct database_header *at, uint32_t frame)
{
        uint8_t backfill[4], salt[sizeof(at->salt)];
        __sync_synchronize();
        copy_volatile(backfill, database->index + INDEX_BACKFILL, sizeof(backfill));
        __sync_synchronize();
        copy_volatile(salt, database->index + INDEX_SALT, sizeof(salt));
        return load32(backfill) > frame || memcmp(salt, at->salt, sizeof(salt)) != 0;
}

int database_refresh(struct database *database)
{
        char text[32];
        return read_text(database->files, "SELECT count(*) FROM sqlite_schema", text, sizeof(text));
}

bool database_same_commit(const struct database_header *a, const struct database_header *b)
{
        return a->max_frame == b->max_frame && memcmp(a->salt, b->salt, sizeof(a->salt)) == 0;
}

/* ---- read marks, as the file format has them ---- */

enum { LOCK_CHECKPOINT = 1, LOCK_MARK = 3, MARKS = 5 }; /* lock 3 + i is that of mark i */
static const uint32_t UNUSED = 0xffffffff;

int database_file(sqlite3 *connection, sqlite3_file **ret_file)
{
        char text[32];
        sqlite3_file *file = NULL;
        int r = read_text(connection, "SELECT count(*) FROM sqlite_schema", text, sizeof(text));
        if (r < 0)
                return r;
        sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
        if (!file || !file->pMethods)
                return -EIO;
        *ret_file = file;
        return 0;
}

static int mark_lock(sqlite3_file *file, int mark, int flags)
{
        return file->pMethods->xShmLock(file, LOCK_MARK + mark, 1, flags);
}

static volatile uint32_t *mark_value(const struct database *d, int mark)
{
        return (volatile uint32_t *)(uintptr_t)(d->index + INDEX_MARKS) + mark;
}

/* Only who has a mark alone may set it. */
static bool set_mark(const struct database *d, sqlite3_file *file, int mark, uint32_t frame)
{
        if (mark_lock(file, mark, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) != SQLITE_OK)
                return false;
        *mark_value(d, mark) = frame;
        __sync_synchronize();
        mark_lock(file, mark, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
        return true;
}

/* One that was unused first: a checkpoint may be about to lock one with an old value. */
static int set_any_mark(
        const struct database *d, sqlite3_file *file, int other_than, uint32_t frame)
{
        for (int used = 0; used < 2; used++)
                for (int i = 1; i < MARKS; i++)
                        if (i != other_than && (*mark_value(d, i) != UNUSED) == used &&
                                set_mark(d, file, i, frame))
                                return i;
        return -EAGAIN;
}

int database_hold_mark(const struct database *database, sqlite3_file *file,
        const struct database_header *at, int other_than)
{
        struct database_header now;
        int mark = set_any_mark(database, file, other_than, at->max_frame);
        if (mark < 0 || mark_lock(file, mark, SQLITE_SHM_LOCK | SQLITE_SHM_SHARED) != SQLITE_OK)
                return -EAGAIN;
        __sync_synchronize();
        if (database_header(database, &now) == 0 && database_same_commit(&now, at) &&
                *mark_value(database, mark) == at->max_frame)
                return mark;
        database_release_mark(file, mark);
        return -EAGAIN;
}

/* With the lock of the one checkpointer in hand: one that had looked at the marks before would copy
 * by what it saw. */
static int hold_behind(const struct database *database, sqlite3_file *file, uint32_t frame,
        struct database_header *ret_header)
{
        int mark = set_any_mark(database, file, 0, frame);
        if (mark < 0 || mark_lock(file, mark, SQLITE_SHM_LOCK | SQLITE_SHM_SHARED) != SQLITE_OK)
                return -EAGAIN;
        __sync_synchronize();
        if (*mark_value(database, mark) == frame && database_header(database, ret_header) == 0)
                return mark;
        database_release_mark(file, mark);
        return -EAGAIN;
}

int database_hold_mark_behind(const struct database *database, sqlite3_file *file, uint32_t frame,
        struct database_header *ret_header)
{
        int (*lock)(sqlite3_file *, int, int, int) = file->pMethods->xShmLock;
        if (lock(file, LOCK_CHECKPOINT, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) != SQLITE_OK)
                return -EAGAIN;
        int mark = hold_behind(database, file, frame, ret_header);
        lock(file, LOCK_CHECKPOINT, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
        return mark;
}

void database_release_mark(sqlite3_file *file, int mark)
{
        mark_lock(file, mark, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
}

static int handle_read(sqlite3_file *file, uint64_t offset, void *ret_bytes, uint32_t size)
{
        int r = file->pMethods->xRead(file, ret_bytes, (int)size, (sqlite3_int64)offset);
        if (r == SQLITE_IOERR_SHORT_READ)
                return -ENODATA;
        return r == SQLITE_OK ? 0 : -EIO;
}

int database_read_wal(
        const struct database *database, uint64_t offset, void *ret_bytes, uint32_t size)
{
        return handle_read(database->wal, offset, ret_bytes, size);
}

int database_read_main(
        const struct database *database, uint64_t offset, void *ret_bytes, uint32_t size)
{
        return handle_read(database->main, offset, ret_bytes, size);
}

int database_main_size(const struct database *database, uint64_t *ret_size)
{
        sqlite3_int64 size = 0;
        if (database->main->pMethods->xFileSize(database->main, &size) != SQLITE_OK)
                return -EIO;
        *ret_size = (uint64_t)size;
        return 0;
}

static int handle_sync(sqlite3_file *file)
{
        return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) == SQLITE_OK ? 0 : -EIO;
}

int database_sync_wal(const struct database *database)
{
        return handle_sync(database->wal);
}

int database_sync_main(const struct database *database)
{
        return handle_sync(database->main);
}
