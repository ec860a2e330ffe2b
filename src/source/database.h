/* SPDX-License-Identifier: MIT
 *
 * database: the source as the engine touches it: connections, SQLite's own file handles, the
 * wal-index header.
 *
 * Every byte of the database file, its WAL and its wal-index is read through handles that SQLite
 * opened (SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER, xShmMap): an open() and close()
 * of our own would drop every POSIX lock that SQLite holds in this process. Nothing here knows
 * what a page means. One thread uses a database.
 *
 * Connections made here wait for no lock (busy timeout 0), never checkpoint by themselves and
 * leave the WAL alone when they close (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE).
 */
#ifndef CDC_DATABASE_H
#define CDC_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include "ground/problem.h"
#include "ground/text.h"

struct database {
        char *path;         /* owned, absolute */
        sqlite3 *files;     /* holds the handles below; also the checkpointer's connection */
        sqlite3_file *main; /* borrowed from files */
        sqlite3_file *wal;  /* borrowed from files */
        const volatile uint8_t *index; /* first block of the wal-index, live memory */
        uint32_t page_size;
        uint32_t usable; /* page size minus reserved bytes, when it was opened */
        enum text_encoding encoding;
};

/* The wal-index header (file format, "WAL-Index Format"): what is committed. */
struct database_header {
        uint32_t change;     /* +1 with each commit */
        uint32_t max_frame;  /* last committed frame; nothing beyond it exists */
        uint32_t pages;      /* of the database after that commit; without a frame it may be 0 */
        uint32_t backfilled; /* frames copied into the database file by checkpoints */
        uint32_t attempted;  /* frames that a checkpoint has begun to copy; all after a recovery */
        uint8_t salt[8];     /* of the WAL that max_frame counts in */
        bool big_endian;     /* words of the WAL's checksums */
};

/* Opens a database in WAL mode and reads one row, so that the WAL and its index stand; for that it
 * waits up to a second while another process has it locked.
 * -ENOTSUP if it is not in WAL mode, -EBUSY if it is locked (exclusive locking mode), -EBADMSG if
 * it is no database, else as problem_errno. */
int database_open(const char *path, struct database **ret_database, struct problem *problem);
void database_close(struct database *database);
/* Closes as any SQLite connection does: the last one out copies the log and removes it. For when
 * everything in the log is captured and no other connection of this process is open. */
void database_leave(struct database *database);
/* One more connection, set up as told above. 0 or as problem_errno. */
int database_connect(const struct database *database, sqlite3 **ret_connection);
/* 0, or -EAGAIN if no consistent copy could be read: a writer is just publishing, or died in the
 * middle of it (then database_refresh makes SQLite recover). */
int database_header(const struct database *database, struct database_header *ret_header);
/* Begins and ends a read, which recovers the wal-index if it needs to be. */
int database_refresh(struct database *database);
/* True if the two headers name the same commit of the same WAL. */
bool database_same_commit(const struct database_header *a, const struct database_header *b);
/* Has the WAL been restarted since `at`, or have frames behind `frame` of it been copied into the
 * database file? Good at any time, also while a writer stores the header. */
bool database_is_overtaken(
        const struct database *database, const struct database_header *at, uint32_t frame);

/* What a read transaction of SQLite does in the wal-index, by hand: holds one of the marks 1 to 4,
 * not `other_than`, at the commit. Through the file of a connection that does nothing else. The
 * mark, or -EAGAIN if the commit is not the last any more or no mark is free. */
int database_hold_mark(const struct database *database, sqlite3_file *file,
        const struct database_header *at, int other_than);
/* The same at an older commit, `frame` of the WAL, while no checkpoint runs, so that from then on
 * none copies what lies behind it. *ret_header: as of that moment; it tells what had been copied
 * before. The mark, or -EAGAIN if a checkpoint runs or no mark is free. */
int database_hold_mark_behind(const struct database *database, sqlite3_file *file, uint32_t frame,
        struct database_header *ret_header);
void database_release_mark(sqlite3_file *file, int mark);
/* The file of a connection, which reads once so that the wal-index is open. */
int database_file(sqlite3 *connection, sqlite3_file **ret_file);

/* Fill exactly `size` bytes. 0, -EIO, or -ENODATA if the file ends before. */
int database_read_wal(
        const struct database *database, uint64_t offset, void *ret_bytes, uint32_t size);
int database_read_main(
        const struct database *database, uint64_t offset, void *ret_bytes, uint32_t size);
/* Bytes of the database file. */
int database_main_size(const struct database *database, uint64_t *ret_size);
/* fsync through the handles. */
int database_sync_wal(const struct database *database);
int database_sync_main(const struct database *database);

#endif
