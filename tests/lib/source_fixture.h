/* SPDX-License-Identifier: MIT
 *
 * source_fixture: a database in WAL mode that an application in another process made and keeps
 * open, and what this process sees of it; states of it rebuilt from pages.
 *
 *      struct source_fixture f;
 *      source_fixture_open(&f, "CREATE TABLE t(a)");
 *      ... f.app, f.database ...
 *      source_fixture_close(&f);
 *
 * The files of the database are not to be opened here: closing them drops SQLite's locks.
 */
#ifndef CDC_TEST_SOURCE_FIXTURE_H
#define CDC_TEST_SOURCE_FIXTURE_H

#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "app.h"
#include "ground/cleanup.h"
#include "source/database.h"
#include "source/pages.h"
#include "source/transactions.h"
#include "tmp.h"

struct source_fixture {
        struct tmp tmp;
        char path[512];
        struct app app;
        struct database *database;
};

static inline void source_fixture_check(bool ok, const char *what)
{
        if (!ok) {
                fprintf(stderr, "%s\n", what);
                abort();
        }
}

/* The application makes the database in WAL mode; sql comes first and may set its format. The
 * application's automatic checkpoints are off, and it does not wait for the disk. */
static inline void source_fixture_make(struct source_fixture *f, const char *sql)
{
        memset(f, 0, sizeof *f);
        tmp_open(&f->tmp);
        snprintf(f->path, sizeof f->path, "%s/app.db", f->tmp.directory);
        app_open(&f->app, f->path);
        app_run(&f->app, "%s", sql);
        char *mode = app_ask(&f->app,
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0");
        source_fixture_check(strcmp(mode, "wal\n0") == 0, mode);
        free(mode);
}

static inline void source_fixture_attach(struct source_fixture *f)
{
        struct problem problem = {0};
        int r = database_open(f->path, &f->database, &problem);
        source_fixture_check(r == 0, problem.message);
}

static inline void source_fixture_open(struct source_fixture *f, const char *sql)
{
        source_fixture_make(f, sql);
        source_fixture_attach(f);
}

static inline void source_fixture_close(struct source_fixture *f)
{
        database_close(f->database);
        if (f->app.pid)
                app_close(&f->app);
        tmp_close(&f->tmp);
}

static inline struct database_header source_fixture_header(const struct source_fixture *f)
{
        struct database_header header = {0};
        int r;
        while ((r = database_header(f->database, &header)) == -EAGAIN)
                ;
        source_fixture_check(r == 0, "database_header");
        return header;
}

/* A file beside the database, copied by another process; the caller frees the bytes. */
static inline char *source_fixture_copy(
        struct source_fixture *f, const char *suffix, size_t *ret_size)
{
        struct run_result result = run("cp -- %s%s %s/copied", f->path, suffix, f->tmp.directory);
        source_fixture_check(result.code == 0, result.text);
        run_release(&result);
        return tmp_read(tmp_path(&f->tmp, "copied"), ret_size);
}

static inline int source_fixture_compare_lines(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A line of fdinfo, if it tells of a lock on a file of the database. */
static inline char *source_fixture_lock(const struct source_fixture *f, const char *line)
{
        static const char *const suffixes[] = {"", "-shm", "-wal"};
        char kind[16], mode[16], from[32], to[32], path[600], *text;
        unsigned long long inode;
        struct stat st;
        if (sscanf(line, "lock: %*d: %15s %*s %15s %*d %*x:%*x:%llu %31s %31s", kind, mode, &inode,
                    from, to) != 5)
                return NULL;
        for (unsigned i = 0; i < COUNT(suffixes); i++) {
                snprintf(path, sizeof path, "%s%s", f->path, suffixes[i]);
                if (stat(path, &st) < 0 || st.st_ino != inode)
                        continue;
                tmp_check(asprintf(&text, "%s %s %s %s-%s\n", i ? suffixes[i] : "main", kind, mode,
                                  from, to) > 0,
                        "asprintf");
                return text;
        }
        return NULL;
}

/* Locks of this process on the database file, its -shm and its -wal, one a line; the caller frees
 * the text. Asked of each descriptor: /proc/locks leaves out some while others come and go. */
static inline char *source_fixture_locks(const struct source_fixture *f)
{
        char *lines[64], line[256];
        size_t count = 0;
        struct buf text = BUF_INIT;
        for (int fd = 0; fd < 256; fd++) {
                char path[64];
                snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
                FILE *info = fopen(path, "re");
                while (info && count < COUNT(lines) && fgets(line, sizeof line, info))
                        if ((lines[count] = source_fixture_lock(f, line)))
                                count++;
                if (info)
                        fclose(info);
        }
        qsort(lines, count, sizeof lines[0], source_fixture_compare_lines);
        for (size_t i = 0; i < count; i++) {
                buf_append_string(&text, lines[i]);
                free(lines[i]);
        }
        return buf_steal(&text);
}

/* Puts the pages of frames first to header->max_frame into the map. The number of transactions. */
static inline unsigned source_fixture_read_log(const struct source_fixture *f, uint32_t first,
        const struct database_header *header, struct frames *frames)
{
        struct transactions log = {0};
        struct transaction t = {0};
        unsigned count = 0;
        int r;
        transactions_begin(&log, f->database, first, header);
        while ((r = transactions_next(&log, &t)) == 1) {
                source_fixture_check(frames_merge(frames, &t.pages) == 0, "frames_merge");
                count++;
        }
        source_fixture_check(r == 0, strerror(-r));
        transaction_release(&t);
        return count;
}

/* Writes the pages of a state, as pages_read_old gives them, into a database file of its own that
 * needs no log, and opens that. Pages that cannot be read (those on the free list may never have
 * been written) are left empty. */
static inline sqlite3 *source_fixture_rebuild(
        struct source_fixture *f, const struct frames *base, uint32_t page_count)
{
        struct pages pages = {.database = f->database, .base = base};
        const char *path = tmp_path(&f->tmp, "rebuilt.db");
        uint32_t size = f->database->page_size;
        uint8_t *page = malloc(size);
        FILE *file = fopen(path, "wb");
        tmp_check(page && file, path);
        for (uint32_t i = 1; i <= page_count; i++) {
                if (pages_read_old(&pages, i, page) < 0)
                        memset(page, 0, size);
                if (i == 1)
                        page[18] = page[19] = 1; /* no WAL (file format §1.3.3) */
                tmp_check(fwrite(page, 1, size, file) == size, path);
        }
        tmp_check(fclose(file) == 0, path);
        free(page);
        sqlite3 *db = NULL;
        source_fixture_check(sqlite3_open(path, &db) == SQLITE_OK, "rebuilt.db");
        return db;
}

/* All rows of a query as text, or the error; the caller frees it. */
static inline char *source_fixture_dump(sqlite3 *db, const char *sql)
{
        struct buf text = BUF_INIT;
        sqlite3_stmt *stmt = NULL;
        int r = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
        while (r == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
                for (int i = 0; i < sqlite3_column_count(stmt); i++) {
                        const char *value = (const char *)sqlite3_column_text(stmt, i);
                        buf_append_format(&text, "%s%s", i ? "|" : "", value ? value : "NULL");
                }
                buf_append_byte(&text, '\n');
        }
        if (r != SQLITE_OK || sqlite3_finalize(stmt) != SQLITE_OK)
                buf_append_format(&text, "error: %s", sqlite3_errmsg(db));
        return buf_steal(&text);
}

static inline int64_t source_fixture_number(sqlite3 *db, const char *sql)
{
        char *text = source_fixture_dump(db, sql), *end;
        int64_t number = strtoll(text, &end, 10);
        source_fixture_check(end != text && strcmp(end, "\n") == 0, text);
        free(text);
        return number;
}

#endif
