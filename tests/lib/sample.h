/* SPDX-License-Identifier: MIT
 *
 * sample: a database made by SQLite in a temporary directory, and the bytes of its files.
 *
 * The connection stays open, so that a test can ask SQL what the pages should say.
 */
#ifndef CDC_TESTS_SAMPLE_H
#define CDC_TESTS_SAMPLE_H

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/value.h"
#include "tmp.h"

struct sample {
        struct tmp tmp;
        sqlite3 *db;
        uint8_t *bytes; /* owned: of the database file, as of sample_read() */
        uint32_t page_size;
        uint32_t usable;
        uint32_t count; /* pages in bytes */
};

static inline void sample_run(struct sample *sample, const char *sql)
{
        char *message = NULL;
        int result = sqlite3_exec(sample->db, sql, NULL, NULL, &message);
        cr_assert_eq(result, SQLITE_OK, "%s: %s", sql, message);
}

/* An empty database; `reserved` bytes at each page's end are not SQLite's. */
static inline void sample_create(
        struct sample *sample, uint32_t page_size, int reserved, const char *encoding)
{
        char path[300], sql[80];
        *sample = (struct sample){.page_size = page_size};
        tmp_open(&sample->tmp);
        snprintf(path, sizeof(path), "%s/test.db", sample->tmp.directory);
        cr_assert_eq(sqlite3_open(path, &sample->db), SQLITE_OK);
        snprintf(
                sql, sizeof(sql), "PRAGMA page_size=%u; PRAGMA encoding='%s'", page_size, encoding);
        sample_run(sample, sql);
        sqlite3_file_control(sample->db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
}

/* A whole file of the database: "test.db" or "test.db-wal". The caller frees it. */
static inline uint8_t *sample_read_file(
        const struct sample *sample, const char *name, size_t *ret_size)
{
        char path[300];
        snprintf(path, sizeof(path), "%s/%s", sample->tmp.directory, name);
        return (uint8_t *)tmp_read(path, ret_size);
}

static inline void sample_read(struct sample *sample)
{
        size_t size;
        free(sample->bytes);
        sample->bytes = sample_read_file(sample, "test.db", &size);
        sample->usable = sample->page_size - sample->bytes[20];
        sample->count = (uint32_t)(size / sample->page_size);
        cr_assert_eq(size % sample->page_size, 0);
}

static inline const uint8_t *sample_image(const struct sample *sample, uint32_t pgno)
{
        return sample->bytes + (size_t)(pgno - 1) * sample->page_size;
}

static inline void sample_release(struct sample *sample)
{
        sqlite3_close_v2(sample->db);
        free(sample->bytes);
        tmp_close(&sample->tmp);
}

static inline sqlite3_stmt *sample_prepare(const struct sample *sample, const char *sql)
{
        sqlite3_stmt *stmt = NULL;
        int result = sqlite3_prepare_v2(sample->db, sql, -1, &stmt, NULL);
        cr_assert_eq(result, SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(sample->db));
        return stmt;
}

static inline int64_t sample_number(const struct sample *sample, const char *sql)
{
        sqlite3_stmt *stmt = sample_prepare(sample, sql);
        cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
        int64_t number = sqlite3_column_int64(stmt, 0);
        sqlite3_finalize(stmt);
        return number;
}

/* What SQL says stands in a column. TEXT comes in the encoding that utf16 asks for. */
static inline struct value sample_column(sqlite3_stmt *stmt, int column, bool utf16)
{
        switch (sqlite3_column_type(stmt, column)) {
        case SQLITE_INTEGER:
                return (struct value){
                        .type = VALUE_INTEGER, .integer = sqlite3_column_int64(stmt, column)};
        case SQLITE_FLOAT:
                return (struct value){
                        .type = VALUE_REAL, .real = sqlite3_column_double(stmt, column)};
        case SQLITE_TEXT: {
                const void *text = utf16 ? sqlite3_column_text16(stmt, column)
                                         : (const void *)sqlite3_column_text(stmt, column);
                int size = utf16 ? sqlite3_column_bytes16(stmt, column)
                                 : sqlite3_column_bytes(stmt, column);
                return (struct value){.type = VALUE_TEXT, .size = (uint32_t)size, .bytes = text};
        }
        case SQLITE_BLOB: {
                const void *blob = sqlite3_column_blob(stmt, column);
                int size = sqlite3_column_bytes(stmt, column);
                return (struct value){.type = VALUE_BLOB, .size = (uint32_t)size, .bytes = blob};
        }
        default:
                return (struct value){.type = VALUE_NULL};
        }
}

#endif
