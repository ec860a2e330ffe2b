/* SPDX-License-Identifier: MIT
 *
 * image: a database in memory, and the bytes of all its pages at some moment.
 *
 * Two images of one database are the state before and after; the pages in which they differ are
 * what a transaction wrote (or less, so that a test may add pages).
 */
#ifndef CDC_TESTS_IMAGE_H
#define CDC_TESTS_IMAGE_H

#include <criterion/criterion.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/btpage.h"
#include "ground/bytes.h"
#include "ground/cleanup.h"
#include "source/frames.h"

struct image {
        uint8_t *bytes; /* owned */
        uint32_t pages;
        uint32_t page_size;
        uint32_t usable;
        uint8_t *scratch; /* owned */
        unsigned reads;   /* so far */
};

static inline void image_run(sqlite3 *db, const char *sql)
{
        char *message = NULL;
        cr_assert_eq(
                sqlite3_exec(db, sql, NULL, NULL, &message), SQLITE_OK, "%s: %s", sql, message);
}

static inline void image_run_format(sqlite3 *db, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

static inline void image_run_format(sqlite3 *db, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        char *sql = sqlite3_vmprintf(format, arguments);
        va_end(arguments);
        image_run(db, sql);
        sqlite3_free(sql);
}

static inline sqlite3 *image_open(uint32_t page_size, int reserved)
{
        sqlite3 *db = NULL;
        cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
        image_run_format(db, "PRAGMA page_size=%u", page_size);
        sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
        return db;
}

static inline void image_release(struct image *image)
{
        free(image->bytes);
        free(image->scratch);
        *image = (struct image){0};
}

/* The pages as they are now, in place of what the image held. */
static inline void image_take(struct image *image, sqlite3 *db)
{
        sqlite3_int64 size = 0;
        unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
        cr_assert(bytes && size >= 512);
        image_release(image);
        image->page_size = be16(bytes + 16) == 1 ? 65536 : be16(bytes + 16);
        image->usable = image->page_size - bytes[20];
        image->pages = (uint32_t)(size / image->page_size);
        image->bytes = malloc((size_t)size);
        image->scratch = malloc(image->page_size);
        memcpy(image->bytes, bytes, (size_t)size);
        sqlite3_free(bytes);
}

static inline uint8_t *image_page(const struct image *image, uint32_t pgno)
{
        return image->bytes + (size_t)(pgno - 1) * image->page_size;
}

/* An image of `pages` zeroed pages, to be filled by hand. */
static inline void image_make(struct image *image, uint32_t page_size, uint32_t pages)
{
        *image = (struct image){.page_size = page_size, .usable = page_size, .pages = pages};
        image->bytes = calloc(pages, page_size);
        image->scratch = malloc(page_size);
}

static inline int image_read(void *context, uint32_t pgno, uint8_t *ret_page)
{
        struct image *image = context;
        cr_assert(pgno >= 1 && pgno <= image->pages, "page %u is asked for", pgno);
        image->reads++;
        memcpy(ret_page, image_page(image, pgno), image->page_size);
        return 0;
}

static inline struct btpage_source image_source(struct image *image)
{
        return (struct btpage_source){
                .read = image_read,
                .context = image,
                .usable = image->usable,
                .page_size = image->page_size,
                .pages = image->pages,
                .scratch = image->scratch,
        };
}

/* Puts the pages in which the two differ. */
static inline void image_changes(
        const struct image *old, const struct image *new, struct frames *changed)
{
        for (uint32_t pgno = 1; pgno <= new->pages; pgno++)
                if (pgno > old->pages ||
                        memcmp(image_page(old, pgno), image_page(new, pgno), old->page_size) != 0)
                        frames_put(changed, pgno, pgno);
}

static inline uint32_t image_root(sqlite3 *db, const char *table)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        sqlite3_prepare_v2(
                db, "SELECT rootpage FROM sqlite_schema WHERE name = ?1", -1, &stmt, NULL);
        sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
        cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW, "%s", table);
        return (uint32_t)sqlite3_column_int64(stmt, 0);
}

/* ---- pages made by hand ---- */

/* An interior table page with these children; separators count from 1 on. */
static inline void image_put_interior(
        struct image *image, uint32_t pgno, const uint32_t *children, unsigned count)
{
        uint8_t *page = image_page(image, pgno);
        memset(page, 0, image->page_size);
        page[0] = BTPAGE_TABLE_INTERIOR;
        put_be16(page + 3, (uint16_t)(count - 1));
        put_be32(page + 8, children[count - 1]);
        for (unsigned i = 0; i + 1 < count; i++) {
                uint8_t *cell = page + image->usable - 5 * (i + 1);
                put_be16(page + 12 + 2 * i, (uint16_t)(cell - page));
                put_be32(cell, children[i]);
                cell[4] = (uint8_t)(i + 1);
        }
}

/* A table leaf whose rows have one NULL each. */
static inline void image_put_leaf(
        struct image *image, uint32_t pgno, const uint8_t *rowids, unsigned count)
{
        uint8_t *page = image_page(image, pgno);
        memset(page, 0, image->page_size);
        page[0] = BTPAGE_TABLE_LEAF;
        put_be16(page + 3, (uint16_t)count);
        for (unsigned i = 0; i < count; i++) {
                uint8_t *cell = page + image->usable - 4 * (i + 1);
                put_be16(page + 8 + 2 * i, (uint16_t)(cell - page));
                memcpy(cell, (uint8_t[]){2, rowids[i], 2, 0}, 4);
        }
}

/* A table leaf with one row, of whose payload all but a little hangs on an overflow chain. */
static inline void image_put_big_row(
        struct image *image, uint32_t pgno, uint8_t rowid, uint16_t size, uint32_t overflow)
{
        uint8_t *page = image_page(image, pgno), *cell = page + 20;
        uint32_t room = image->usable - 35;
        uint32_t least = (image->usable - 12) * 32 / 255 - 23;
        uint32_t local = least + (size - least) % (image->usable - 4);
        memset(page, 0, image->page_size);
        page[0] = BTPAGE_TABLE_LEAF;
        put_be16(page + 3, 1);
        put_be16(page + 8, 20);
        cell += varint_put(cell, size);
        *cell++ = rowid;
        put_be32(cell + (local <= room ? local : least), overflow);
}

#endif
