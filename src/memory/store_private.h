/* SPDX-License-Identifier: MIT
 *
 * store_private: what store.c (opening) and store_use.c (transactions, statements) share. No other
 * room includes it.
 */
#ifndef CDC_STORE_PRIVATE_H
#define CDC_STORE_PRIVATE_H

#include <sys/stat.h>
#include "memory/store.h"

enum { STORE_BUCKETS = 64 };

struct store_cached {
        struct store_cached *next;
        sqlite3_stmt *stmt;
        char name[];
};

struct store {
        sqlite3 *db;
        char *path; /* owned */
        enum store_mode mode;
        enum text_encoding encoding;
        bool is_immutable; /* opened while nobody else had it open */
        struct stat stat;  /* of the file when it was opened */
        int64_t data_version;
        struct store_cached *statements[STORE_BUCKETS];
};

/* Finalizes every cached statement. */
void store_statement_forget_all(struct store *store);

#endif
