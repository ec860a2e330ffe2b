/* SPDX-License-Identifier: MIT
 *
 * store: one connection to `<source>-cdc`, the SQLite file that keeps everything captured.
 *
 * It knows how such a file is made, recognised, opened, locked, synced and removed; which tables
 * it has is in store_schema.c, what they mean in the other rooms of this floor.
 *
 * A struct store belongs to one thread at a time (opened without SQLite's mutex). Writers:
 *
 *      store_begin(store);             BEGIN IMMEDIATE
 *      mapping_append(store, …); …     none of this floor's functions commits by itself
 *      store_commit(store);            or store_rollback(store)
 *      store_sync(store, …);           only now does it survive a power cut
 *
 * Format: application_id 0x63646366 ("cdcf"), user_version = STORE_VERSION, page size 4096, the
 * source's text encoding, WAL while open (the last close folds it in and removes -wal and -shm),
 * synchronous NORMAL, secure_delete ON. Owner and mode are the source's; where the owner cannot
 * be given (not root), group and other bits shrink so that nobody can read the store who cannot
 * read the source. SQLite gives -wal and -shm the same.
 *
 * Never open() or close() the store's files by hand in a process that has it open: that drops
 * SQLite's POSIX locks.
 */
#ifndef CDC_STORE_H
#define CDC_STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include "ground/problem.h"
#include "ground/text.h"

enum {
        STORE_APPLICATION_ID = 0x63646366,
        STORE_VERSION = 5,
        STORE_BUSY_MS = 30000, /* how long a writer waits for another one */
};

enum store_mode { STORE_READ, STORE_WRITE };

struct store;

/* What a new store must know of its source. */
struct store_source {
        const char *path; /* absolute; its owner and mode are taken over */
        uint64_t device;
        uint64_t inode;
        uint32_t page_size;
        enum text_encoding encoding;
};

/* "<source>-cdc" beside the file that a symlink means, so that a source has one store by whatever
 * name it is opened; the caller frees it. NULL: no memory. */
char *store_default_path(const char *source_path);

/* Makes a complete store under a temporary name and gives it its name in one step, so that of two
 * creators one wins and a reader never meets half a store. It has its state row and no instance.
 * Durable on return. Does not open it.
 * -EEXIST (22905, a notice): there is one. -ENOENT: no such source or directory. Else errno. */
int store_create(const char *path, const struct store_source *source, struct problem *problem);

/* Opens a store that exists.
 * STORE_WRITE upgrades an older version in one transaction. STORE_READ writes nothing, and where
 * nobody has the store open no file appears beside it (SQLite's immutable=1, checked again after
 * the first read; store_changed() notices a writer that came later).
 * -ENOENT (22901): no store, so the database is not enabled. -EMEDIUMTYPE: not a store.
 * -ENOTSUP: a newer version than ours, or an older one opened for reading. -EACCES, -EROFS: a
 * store with a -wal that must be read but cannot be opened. -EBADMSG: damaged. Else errno. */
int store_open(
        const char *path, enum store_mode mode, struct problem *problem, struct store **ret_store);
/* Rolls back what is open. NULL is allowed. */
void store_close(struct store *store);
void store_closep(struct store **store);
/* Removes the store's files and closes *store (opened for writing), which becomes NULL.
 * -EBUSY: another connection has it open; *store stays open and usable. */
int store_delete(struct store **store, struct problem *problem);

sqlite3 *store_db(struct store *store);
const char *store_path(const struct store *store);
/* The encoding of every TEXT in it, equal to the source's. */
enum text_encoding store_encoding(const struct store *store);

/* BEGIN IMMEDIATE; waits up to STORE_BUSY_MS, then -EAGAIN. STORE_WRITE only: -EROFS. */
int store_begin(struct store *store);
/* BEGIN for several SELECTs on one state; ended by store_commit or store_rollback. */
int store_begin_read(struct store *store);
/* On failure the transaction is still open: roll it back. */
int store_commit(struct store *store);
/* Without a transaction it does nothing. */
void store_rollback(struct store *store);
bool store_in_transaction(struct store *store);
/* Makes every commit so far durable: syncs the WAL through SQLite's own file handle. Outside a
 * transaction. 0 or -EIO. */
int store_sync(struct store *store, struct problem *problem);

/* 1: another connection has committed since the last call (or since opening); 0: not; -ESTALE: the
 * file under this name is gone or another one (disable-db). Outside a transaction, with no
 * statement of this store in use.
 * A store that was opened as immutable is opened anew here if a writer has come since: the
 * sqlite3 * and all statements change then, and the answer is 1. */
int store_changed(struct store *store);

/* Raises a file event on the store's log now. That of a commit comes before the commit can be seen:
 * who only looks at events would miss one whose sync took long. Without a log nothing happens. */
void store_announce(const struct store *store);

/* Asked after a long read: 0, or -ESTALE if the store was opened as immutable and somebody has
 * written to it since, so that what was read may be half of each state. */
int store_check_read(const struct store *store);

/* A prepared statement, cached by its text for the life of the connection: texts are a fixed set.
 * It comes reset and without bindings and is owned by the store; only one use at a time of each.
 * 0 or a negative errno. */
int store_statement(struct store *store, const char *sql, sqlite3_stmt **ret_stmt);
/* The same under a short name, for texts that are made at run time: find first, and prepare only
 * if that gives NULL. store_statement_forget finalizes one (NULL-safe by name). */
sqlite3_stmt *store_statement_find(struct store *store, const char *name);
int store_statement_add(
        struct store *store, const char *name, const char *sql, sqlite3_stmt **ret_stmt);
void store_statement_forget(struct store *store, const char *name);

/* What SQLite says about the last failure on this store; for a problem's text. */
const char *store_error(struct store *store);

#endif
