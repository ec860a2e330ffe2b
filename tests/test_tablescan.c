/* SPDX-License-Identifier: MIT */
#include "image.h"
#include "meaning/tablescan.h"

/* ---- whole tables, beside SQL ---- */

struct beside {
        sqlite3_stmt *stmt; /* rowid and BLOB of each row, in order */
        unsigned rows;
};

/* The record of one BLOB ends with its bytes. */
static int compare_row(void *context, int64_t rowid, const struct buf *payload)
{
        struct beside *beside = context;
        cr_assert_eq(
                sqlite3_step(beside->stmt), SQLITE_ROW, "row %lld is not there", (long long)rowid);
        cr_assert_eq(sqlite3_column_int64(beside->stmt, 0), rowid);
        size_t size = (size_t)sqlite3_column_bytes(beside->stmt, 1);
        cr_assert(payload->size > size && payload->size <= size + 6);
        const void *blob = sqlite3_column_blob(beside->stmt, 1);
        cr_assert(size == 0 || memcmp(payload->data + payload->size - size, blob, size) == 0,
                "row %lld", (long long)rowid);
        beside->rows++;
        return 0;
}

static unsigned scan_beside_sql(sqlite3 *db, struct image *image)
{
        struct beside beside = {0};
        image_take(image, db);
        struct btpage_source source = image_source(image);
        sqlite3_prepare_v2(db, "SELECT rowid, a FROM t ORDER BY rowid", -1, &beside.stmt, NULL);
        cr_expect_eq(tablescan_rows(image_root(db, "t"), &source, compare_row, &beside), 0);
        cr_expect_eq(sqlite3_step(beside.stmt), SQLITE_DONE, "no row is left out");
        sqlite3_finalize(beside.stmt);
        return beside.rows;
}

Test(tablescan, every_row_comes_once_in_the_order_of_rowids)
{
        static const struct {
                uint32_t page_size;
                int reserved;
        } cases[] = {{512, 0}, {512, 32}, {1024, 0}, {4096, 8}, {65536, 0}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_sqlite_ sqlite3 *db = image_open(cases[i].page_size, cases[i].reserved);
                struct image image = {0};
                image_run(db, "CREATE TABLE t(a)");
                cr_expect_eq(scan_beside_sql(db, &image), 0);
                image_run(db, "INSERT INTO t(rowid, a) VALUES(-9223372036854775808, x'01'),"
                              "(0, x'02'), (9223372036854775807, x'')");
                cr_expect_eq(scan_beside_sql(db, &image), 3);
                image_run_format(db,
                        "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE "
                        "i < 4000) INSERT INTO t(rowid, a) SELECT (i * 7919) %% 4001 - 2000, "
                        "CASE WHEN i %% 40 = 0 THEN randomblob(%u * (i %% 5)) ELSE randomblob(30) "
                        "END FROM n WHERE (i * 7919) %% 4001 <> 2000",
                        cases[i].page_size);
                cr_expect_gt(scan_beside_sql(db, &image), 4000);
                image_release(&image);
        }
}

static int count_row(void *context, int64_t rowid, const struct buf *payload)
{
        return ++*(unsigned *)context == (unsigned)rowid ? 0 : -EINVAL;
}

Test(tablescan, the_schema_is_a_table_on_page_1)
{
        _cleanup_sqlite_ sqlite3 *db = image_open(512, 0);
        struct image image = {0};
        unsigned count = 0;
        for (int i = 0; i < 200; i++)
                image_run_format(db, "CREATE TABLE t%d(a)", i);
        image_take(&image, db);
        struct btpage_source source = image_source(&image);
        cr_expect_eq(tablescan_rows(1, &source, count_row, &count), 0);
        cr_expect_eq(count, 200);
        image_release(&image);
}

/* ---- trees made by hand ---- */

enum { PAGE = 512, PAGES = 60 };

static void make_two_leaves(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 4}, 2);
        image_put_leaf(image, 3, (uint8_t[]){1, 2}, 2);
        image_put_leaf(image, 4, (uint8_t[]){3, 4, 5}, 3);
}

static int fail_at_3(void *context, int64_t rowid, const struct buf *payload)
{
        ++*(unsigned *)context;
        return rowid == 3 ? -ECANCELED : 0;
}

Test(tablescan, an_error_of_the_callback_ends_the_scan)
{
        struct image image;
        unsigned count = 0;
        image_make(&image, PAGE, PAGES);
        make_two_leaves(&image);
        struct btpage_source source = image_source(&image);
        cr_expect_eq(tablescan_rows(2, &source, fail_at_3, &count), -ECANCELED);
        cr_expect_eq(count, 3);
        image_release(&image);
}

static int read_fails(void *context, uint32_t pgno, uint8_t *ret_page)
{
        return pgno == 4 ? -EIO : image_read(context, pgno, ret_page);
}

Test(tablescan, an_error_of_reading_comes_back)
{
        struct image image;
        unsigned count = 0;
        image_make(&image, PAGE, PAGES);
        make_two_leaves(&image);
        struct btpage_source source = image_source(&image);
        source.read = read_fails;
        cr_expect_eq(tablescan_rows(2, &source, count_row, &count), -EIO);
        cr_expect_eq(count, 2, "what comes before is told");
        image_release(&image);
}

static void make_deep(struct image *image, uint32_t levels)
{
        for (uint32_t pgno = 2; pgno < 1 + levels; pgno++)
                image_put_interior(image, pgno, (uint32_t[]){pgno + 1}, 1);
        image_put_leaf(image, 1 + levels, (uint8_t[]){1}, 1);
}

static void make_20_levels(struct image *image)
{
        make_deep(image, 20);
}

static void make_21_levels(struct image *image)
{
        make_deep(image, 21);
}

/* 60 children a page, all of them the page itself: 60^20 ways down. */
static void make_own_children(struct image *image)
{
        uint32_t children[60];
        for (unsigned i = 0; i < COUNT(children); i++)
                children[i] = 2;
        image_put_interior(image, 2, children, COUNT(children));
}

static void make_beyond(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){PAGES + 1}, 1);
}

static void make_zeroes(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3}, 1);
}

static void make_index(struct image *image)
{
        image_put_leaf(image, 2, NULL, 0);
        image_page(image, 2)[0] = BTPAGE_INDEX_LEAF;
}

static void make_chain_loop(struct image *image)
{
        image_put_big_row(image, 2, 1, 4 * 508 + 100, 10);
        put_be32(image_page(image, 10), 10);
}

static void make_chain_beyond(struct image *image)
{
        image_put_big_row(image, 2, 1, 508 + 100, PAGES + 1);
}

Test(tablescan, a_hostile_tree_ends_with_an_error)
{
        static const struct {
                const char *name;
                void (*make)(struct image *image);
                int result;
        } cases[] = {
                {"20 levels", make_20_levels, 0},
                {"21 levels", make_21_levels, -EBADMSG},
                {"a page that is its own children", make_own_children, -EBADMSG},
                {"a child beyond the end", make_beyond, -EBADMSG},
                {"a page of zeroes", make_zeroes, -EBADMSG},
                {"an index", make_index, -EBADMSG},
                {"a chain that bites itself", make_chain_loop, 0},
                {"a chain beyond the end", make_chain_beyond, -EBADMSG},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct image image;
                unsigned count = 0;
                image_make(&image, PAGE, PAGES);
                cases[i].make(&image);
                struct btpage_source source = image_source(&image);
                cr_expect_eq(tablescan_rows(2, &source, count_row, &count), cases[i].result, "%s",
                        cases[i].name);
                cr_expect_lt(image.reads, 100, "%s", cases[i].name);
                image_release(&image);
        }
}
