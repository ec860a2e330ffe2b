/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/btpage.h"
#include "bytes/record.h"
#include "ground/bytes.h"
#include "ground/cleanup.h"
#include "prng.h"
#include "sample.h"

/* Pages made by hand. */

enum { USABLE = 512, CELL = 400 };

/* A page of one cell, whose bytes begin at CELL. */
static void make_page(uint8_t page[USABLE], uint8_t type, const char *cell, size_t size)
{
        bool leaf = type == BTPAGE_INDEX_LEAF || type == BTPAGE_TABLE_LEAF;
        memset(page, 0, USABLE);
        page[0] = type;
        put_be16(page + 3, 1);
        if (!leaf)
                put_be32(page + 8, 99);
        put_be16(page + (leaf ? 8 : 12), CELL);
        memcpy(page + CELL, cell, size);
}

Test(btpage, cells_of_every_type_are_read)
{
        static const struct {
                const char *name;
                uint8_t type;
                const char *bytes;
                size_t size;
                struct btcell cell;
                size_t local; /* offset of the local payload in the cell */
        } cases[] = {
                {"table leaf", BTPAGE_TABLE_LEAF, "\3\x81\1abc", 6,
                        {.rowid = 129, .payload_size = 3, .local_size = 3}, 3},
                {"table leaf, rowid -1", BTPAGE_TABLE_LEAF,
                        "\3\xff\xff\xff\xff\xff\xff\xff\xff\xff"
                        "abc",
                        13, {.rowid = -1, .payload_size = 3, .local_size = 3}, 10},
                {"table interior", BTPAGE_TABLE_INTERIOR, "\0\0\1\2\x85\1", 6,
                        {.child = 258, .rowid = 641}, 0},
                {"index leaf", BTPAGE_INDEX_LEAF, "\2xy", 3, {.payload_size = 2, .local_size = 2},
                        1},
                {"index leaf, empty payload", BTPAGE_INDEX_LEAF, "\0", 1, {0}, 1},
                {"index interior", BTPAGE_INDEX_INTERIOR, "\0\0\0\7\2xy", 7,
                        {.child = 7, .payload_size = 2, .local_size = 2}, 5},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                uint8_t bytes[USABLE];
                struct btpage page;
                struct btcell cell;
                const struct btcell *want = &cases[i].cell;
                make_page(bytes, cases[i].type, cases[i].bytes, cases[i].size);
                cr_assert_eq(btpage_open(bytes, USABLE, 2, &page), 0, "%s", cases[i].name);
                cr_assert_eq(btpage_cell(&page, 0, &cell), 0, "%s", cases[i].name);
                cr_expect_eq(cell.child, want->child, "%s", cases[i].name);
                cr_expect_eq(cell.rowid, want->rowid, "%s", cases[i].name);
                cr_expect_eq(cell.payload_size, want->payload_size, "%s", cases[i].name);
                cr_expect_eq(cell.local_size, want->local_size, "%s", cases[i].name);
                cr_expect_eq(cell.overflow, 0, "%s", cases[i].name);
                if (cases[i].local)
                        cr_expect_eq(
                                cell.local, bytes + CELL + cases[i].local, "%s", cases[i].name);
        }
}

Test(btpage, the_payload_splits_where_the_file_format_says)
{
        static const struct {
                uint8_t type;
                uint32_t payload, local;
        } cases[] = {
                {BTPAGE_TABLE_LEAF, 477, 477},
                {BTPAGE_TABLE_LEAF, 478, 39},
                {BTPAGE_TABLE_LEAF, 479, 39},
                {BTPAGE_TABLE_LEAF, 508 + 39, 39},
                {BTPAGE_TABLE_LEAF, 508 + 40, 40},
                {BTPAGE_TABLE_LEAF, 508 + 477, 477},
                {BTPAGE_TABLE_LEAF, 508 + 478, 39},
                {BTPAGE_INDEX_LEAF, 102, 102},
                {BTPAGE_INDEX_LEAF, 103, 39},
                {BTPAGE_INDEX_LEAF, 508 + 102, 102},
                {BTPAGE_INDEX_INTERIOR, 102, 102},
                {BTPAGE_INDEX_INTERIOR, 508 + 103, 39},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                uint8_t bytes[1024] = {0}, head[32] = {0};
                bool interior = cases[i].type == BTPAGE_INDEX_INTERIOR;
                unsigned size = 0;
                if (interior) {
                        put_be32(head, 5);
                        size = 4;
                }
                size += varint_put(head + size, cases[i].payload);
                if (cases[i].type == BTPAGE_TABLE_LEAF)
                        size += varint_put(head + size, 1);
                make_page(bytes, cases[i].type, "", 0);
                /* The cell begins where its local payload and overflow number just fit. */
                uint32_t tail = cases[i].local + (cases[i].local < cases[i].payload ? 4 : 0);
                uint32_t at = USABLE - tail - size;
                put_be16(bytes + (interior ? 12 : 8), (uint16_t)at);
                memcpy(bytes + at, head, size);
                if (cases[i].local < cases[i].payload)
                        put_be32(bytes + USABLE - 4, 1234);

                struct btpage page;
                struct btcell cell;
                cr_assert_eq(btpage_open(bytes, USABLE, 3, &page), 0);
                cr_assert_eq(btpage_cell(&page, 0, &cell), 0, "%u", cases[i].payload);
                cr_expect_eq(cell.local_size, cases[i].local, "%u of type %u: %u", cases[i].payload,
                        cases[i].type, cell.local_size);
                cr_expect_eq(cell.overflow, cases[i].local < cases[i].payload ? 1234 : 0, "%u",
                        cases[i].payload);
                put_be16(bytes + (interior ? 12 : 8), (uint16_t)(at + 1));
                memmove(bytes + at + 1, bytes + at, size);
                cr_expect_eq(btpage_cell(&page, 0, &cell), -EBADMSG, "%u, one byte further",
                        cases[i].payload);
        }
}

Test(btpage, what_is_no_btree_page_is_refused)
{
        for (unsigned type = 0; type < 256; type++) {
                uint8_t bytes[USABLE];
                struct btpage page;
                bool known = type == 2 || type == 5 || type == 10 || type == 13;
                make_page(bytes, (uint8_t)type, "", 0);
                cr_expect_eq(
                        btpage_open(bytes, USABLE, 2, &page), known ? 0 : -EBADMSG, "%u", type);
        }
}

Test(btpage, more_cells_than_the_page_has_room_for_are_refused)
{
        static const struct {
                uint8_t type;
                uint32_t pgno;
                uint16_t cells;
                int result;
        } cases[] = {
                {BTPAGE_TABLE_LEAF, 2, 0, 0},
                {BTPAGE_TABLE_LEAF, 2, 252, 0},
                {BTPAGE_TABLE_LEAF, 2, 253, -EBADMSG},
                {BTPAGE_TABLE_LEAF, 2, 65535, -EBADMSG},
                {BTPAGE_INDEX_INTERIOR, 2, 250, 0},
                {BTPAGE_INDEX_INTERIOR, 2, 251, -EBADMSG},
                {BTPAGE_TABLE_LEAF, 1, 202, 0},
                {BTPAGE_TABLE_LEAF, 1, 203, -EBADMSG},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                uint8_t bytes[USABLE] = {0};
                struct btpage page;
                unsigned header = cases[i].pgno == 1 ? 100 : 0;
                bytes[header] = cases[i].type;
                put_be16(bytes + header + 3, cases[i].cells);
                cr_expect_eq(btpage_open(bytes, USABLE, cases[i].pgno, &page), cases[i].result,
                        "%u cells on page %u", cases[i].cells, cases[i].pgno);
        }
}

Test(btpage, impossible_usable_sizes_are_refused)
{
        static uint8_t bytes[65536];
        static const uint32_t sizes[] = {0, 4, 479, 65537, UINT32_MAX};
        struct btpage page;
        bytes[0] = BTPAGE_TABLE_LEAF;
        for (size_t i = 0; i < COUNT(sizes); i++)
                cr_expect_eq(btpage_open(bytes, sizes[i], 2, &page), -EBADMSG, "%u", sizes[i]);
        cr_expect_eq(btpage_open(bytes, 480, 2, &page), 0);
        cr_expect_eq(btpage_open(bytes, 65536, 2, &page), 0);
}

Test(btpage, hostile_cells_are_refused)
{
        static const struct {
                const char *name;
                uint8_t type;
                uint16_t pointer;
                const char *bytes; /* at the pointer */
                size_t size;
        } cases[] = {
                {"pointer 0", BTPAGE_TABLE_LEAF, 0, "", 0},
                {"pointer into the header", BTPAGE_TABLE_LEAF, 7, "", 0},
                {"pointer into the pointers", BTPAGE_TABLE_LEAF, 9, "", 0},
                {"pointer at the end", BTPAGE_TABLE_LEAF, USABLE, "", 0},
                {"pointer far beyond", BTPAGE_TABLE_LEAF, 65535, "", 0},
                {"size without an end", BTPAGE_TABLE_LEAF, USABLE - 1, "\x81", 1},
                {"no room for the rowid", BTPAGE_TABLE_LEAF, USABLE - 1, "\1", 1},
                {"rowid without an end", BTPAGE_TABLE_LEAF, USABLE - 2, "\1\xff", 2},
                {"payload beyond the page", BTPAGE_TABLE_LEAF, USABLE - 4, "\3\1xx", 4},
                {"overflow number beyond the page", BTPAGE_INDEX_LEAF, USABLE - 44, "\x81\0", 2},
                {"overflow page 0", BTPAGE_INDEX_LEAF, CELL, "\x81\0", 2},
                {"no room for the child", BTPAGE_INDEX_INTERIOR, USABLE - 3, "\0\0\1", 3},
                {"no room after the child", BTPAGE_INDEX_INTERIOR, USABLE - 4, "\0\0\0\1", 4},
                {"child 0", BTPAGE_INDEX_INTERIOR, CELL, "\0\0\0\0\1x", 6},
                {"no room for the separator", BTPAGE_TABLE_INTERIOR, USABLE - 4, "\0\0\0\1", 4},
                {"table child 0", BTPAGE_TABLE_INTERIOR, CELL, "\0\0\0\0\1", 5},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_free_ uint8_t *bytes = malloc(USABLE);
                struct btpage page;
                struct btcell cell = {.rowid = 77};
                make_page(bytes, cases[i].type, "", 0);
                put_be16(bytes + (cases[i].type < 8 ? 12 : 8), cases[i].pointer);
                if (cases[i].size)
                        memcpy(bytes + cases[i].pointer, cases[i].bytes, cases[i].size);
                cr_assert_eq(btpage_open(bytes, USABLE, 2, &page), 0, "%s", cases[i].name);
                cr_expect_eq(btpage_cell(&page, 0, &cell), -EBADMSG, "%s", cases[i].name);
                cr_expect_eq(cell.rowid, 77, "%s: the result is left alone", cases[i].name);
        }
}

Test(btpage, payloads_that_no_sqlite_could_hold_are_refused)
{
        static const struct {
                uint64_t payload;
                int result;
        } cases[] = {
                {INT32_MAX, 0},
                {(uint64_t)INT32_MAX + 1, -EBADMSG},
                {UINT32_MAX, -EBADMSG},
                {UINT64_C(1) << 32, -EBADMSG},
                {UINT64_MAX, -EBADMSG},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                uint8_t bytes[USABLE];
                struct btpage page;
                struct btcell cell;
                make_page(bytes, BTPAGE_INDEX_LEAF, "", 0);
                /* Whatever the size is taken for, an overflow number follows that is not 0. */
                memset(bytes + 20, 1, USABLE - 20);
                put_be16(bytes + 8, 20);
                varint_put(bytes + 20, cases[i].payload);
                cr_assert_eq(btpage_open(bytes, USABLE, 2, &page), 0);
                cr_expect_eq(btpage_cell(&page, 0, &cell), cases[i].result, "%zu", i);
        }
}

Test(btpage, cells_and_children_outside_the_page_are_refused)
{
        uint8_t bytes[USABLE];
        struct btpage page;
        struct btcell cell;
        uint32_t pgno = 0;
        make_page(bytes, BTPAGE_TABLE_INTERIOR, "\0\0\0\5\1", 5);
        cr_assert_eq(btpage_open(bytes, USABLE, 2, &page), 0);
        cr_expect_eq(btpage_cell(&page, 1, &cell), -EBADMSG);
        cr_expect_eq(btpage_cell(&page, UINT32_MAX, &cell), -EBADMSG);
        cr_expect_eq(btpage_child(&page, 0, &pgno), 0);
        cr_expect_eq(pgno, 5);
        cr_expect_eq(btpage_child(&page, 1, &pgno), 0);
        cr_expect_eq(pgno, 99, "the last child is the right-most");
        cr_expect_eq(btpage_child(&page, 2, &pgno), -EBADMSG);
        put_be32(bytes + 8, 0);
        cr_assert_eq(btpage_open(bytes, USABLE, 2, &page), 0);
        cr_expect_eq(btpage_child(&page, 1, &pgno), -EBADMSG);
        put_be32(bytes + CELL, 0);
        cr_expect_eq(btpage_child(&page, 0, &pgno), -EBADMSG);
        put_be16(bytes + 12, USABLE - 3);
        cr_expect_eq(btpage_child(&page, 0, &pgno), -EBADMSG);
        make_page(bytes, BTPAGE_TABLE_LEAF, "\1\1x", 3);
        cr_assert_eq(btpage_open(bytes, USABLE, 2, &page), 0);
        cr_expect_eq(btpage_child(&page, 0, &pgno), -EBADMSG);
        cr_expect_eq(btpage_child(&page, 1, &pgno), -EBADMSG);
}

/* Chains made by hand: page n holds the next number of its entry, and content n. */

struct chain {
        uint32_t next[8];
        unsigned reads;
        unsigned visits;
        uint32_t visited[8];
        int read_error;
        int visit_error;
};

static int read_chain(void *context, uint32_t pgno, uint8_t *ret_page)
{
        struct chain *chain = context;
        cr_assert(pgno >= 2 && pgno < 8, "page %u was asked for", pgno);
        chain->reads++;
        memset(ret_page, (int)('0' + pgno), USABLE);
        put_be32(ret_page, chain->next[pgno]);
        return chain->read_error;
}

static int visit_chain(void *context, uint32_t pgno, unsigned position)
{
        struct chain *chain = context;
        cr_assert_eq(position, chain->visits);
        cr_assert(position < 8);
        chain->visited[chain->visits++] = pgno;
        return chain->visit_error;
}

Test(btpage, a_chain_is_followed_by_the_length_that_is_left)
{
        enum { ROOM = USABLE - 4, LOCAL = 39 };
        static const struct {
                const char *name;
                uint64_t left;
                uint32_t first;
                struct chain chain;
                int result;
                unsigned visits;
        } cases[] = {
                {"one byte", 1, 3, {{0}}, 0, 1},
                {"one full page", ROOM, 3, {{0}}, 0, 1},
                {"a next number that is not needed", ROOM, 3, {{[3] = 4}}, 0, 1},
                {"one byte more", ROOM + 1, 3, {{[3] = 6}}, 0, 2},
                {"three pages", 3 * ROOM, 7, {{[7] = 2, [2] = 5}}, 0, 3},
                {"ends too early", ROOM + 1, 3, {{[3] = 0}}, -EBADMSG, 1},
                {"leads to page 1", ROOM + 1, 3, {{[3] = 1}}, -EBADMSG, 1},
                {"leads out of the database", ROOM + 1, 3, {{[3] = 8}}, -EBADMSG, 1},
                {"begins outside the database", 1, UINT32_MAX, {{0}}, -EBADMSG, 0},
                {"begins at page 1", 1, 1, {{0}}, -EBADMSG, 0},
                {"a loop is as long as the payload", 4 * ROOM, 3, {{[3] = 4, [4] = 3}}, 0, 4},
                {"longer than the database", 7 * ROOM + 1, 3, {{[3] = 3}}, -EBADMSG, 0},
                {"2 GiB in one page", INT32_MAX - LOCAL, 3, {{[3] = 3}}, -EBADMSG, 0},
                {"the reader fails", ROOM + 1, 3, {{[3] = 4}, .read_error = -EIO}, -EIO, 1},
                {"the visitor fails", ROOM + 1, 3, {{[3] = 4}, .visit_error = -ELOOP}, -ELOOP, 1},
        };
        static const uint8_t local[LOCAL] = {0};
        for (size_t i = 0; i < COUNT(cases); i++) {
                uint8_t scratch[USABLE];
                struct chain chain = cases[i].chain;
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                struct btpage_source source = {.read = read_chain,
                        .context = &chain,
                        .usable = USABLE,
                        .page_size = USABLE,
                        .pages = 7,
                        .scratch = scratch};
                struct btcell cell = {.payload_size = LOCAL + cases[i].left,
                        .local = local,
                        .local_size = LOCAL,
                        .overflow = cases[i].first};
                cr_expect_eq(btpage_payload(&cell, &source, visit_chain, &chain, &buf),
                        cases[i].result, "%s", cases[i].name);
                cr_expect_eq(chain.visits, cases[i].visits, "%s: %u", cases[i].name, chain.visits);
                if (cases[i].result == 0) {
                        cr_expect_eq(buf.size, cell.payload_size, "%s", cases[i].name);
                        cr_expect_eq(buf.data[LOCAL], '0' + cases[i].first, "%s", cases[i].name);
                        cr_expect_eq(chain.reads, cases[i].visits, "%s", cases[i].name);
                }
                chain = cases[i].chain;
                cr_expect_eq(btpage_chain(&cell, &source, visit_chain, &chain), cases[i].result,
                        "%s", cases[i].name);
                cr_expect_eq(chain.visits, cases[i].visits, "%s", cases[i].name);
                if (cases[i].result == 0)
                        cr_expect_eq(chain.reads, cases[i].visits - 1,
                                "%s: the last page is not read", cases[i].name);
                chain = cases[i].chain;
                int alone = btpage_chain(&cell, &source, NULL, NULL);
                cr_expect(alone == cases[i].result || chain.visit_error, "%s", cases[i].name);
        }
}

Test(btpage, a_payload_is_appended_to_what_is_there)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        struct btpage_source source = {.usable = USABLE, .page_size = USABLE, .pages = 1};
        struct btcell cell = {.payload_size = 2, .local = (const uint8_t *)"xy", .local_size = 2};
        buf_append_string(&buf, "before ");
        cr_expect_eq(btpage_payload(&cell, &source, NULL, NULL, &buf), 0);
        cr_expect_str_eq(buf_string(&buf), "before xy");
        buf.error = -ENOMEM;
        cr_expect_eq(btpage_payload(&cell, &source, NULL, NULL, &buf), -ENOMEM);
}

/* Pages made by SQLite. */

enum { COLUMNS = 8, DEPTH_MAX = 20 };

struct walk {
        struct sample *sample;
        struct btpage_source source;
        sqlite3_stmt *stmt; /* says which row must come next: rowid (tables only), then columns */
        bool utf16;
        uint8_t *seen; /* a byte for each page */
        unsigned rows;
        unsigned interior_rows;
        unsigned overflow_pages;
        unsigned depth;
};

static int read_sample(void *context, uint32_t pgno, uint8_t *ret_page)
{
        const struct walk *walk = context;
        memcpy(ret_page, sample_image(walk->sample, pgno), walk->sample->page_size);
        return 0;
}

static void see(struct walk *walk, uint32_t pgno)
{
        cr_assert(pgno >= 1 && pgno <= walk->sample->count, "page %u", pgno);
        cr_assert_eq(walk->seen[pgno - 1], 0, "page %u is met twice", pgno);
        walk->seen[pgno - 1] = 1;
}

static int visit_overflow(void *context, uint32_t pgno, unsigned position)
{
        struct walk *walk = context;
        see(walk, pgno);
        walk->overflow_pages++;
        return 0;
}

struct positions {
        unsigned count;
        uint32_t last;
};

static int count_position(void *context, uint32_t pgno, unsigned position)
{
        struct positions *positions = context;
        cr_assert_eq(position, positions->count);
        positions->count++;
        positions->last = pgno;
        return 0;
}

static void expect_row(struct walk *walk, const struct btpage *page, const struct btcell *cell)
{
        _cleanup_(buf_release) struct buf payload = BUF_INIT;
        struct positions positions = {0};
        struct value values[COLUMNS];
        size_t count = 0;
        unsigned before = walk->overflow_pages;
        cr_assert_eq(btpage_payload(cell, &walk->source, visit_overflow, walk, &payload), 0);
        cr_assert_eq(payload.size, cell->payload_size);
        cr_assert_eq(btpage_chain(cell, &walk->source, count_position, &positions), 0);
        cr_assert_eq(positions.count, walk->overflow_pages - before);
        cr_assert_eq(record_decode(payload.data, payload.size, values, COLUMNS, &count), 0);

        cr_assert_eq(sqlite3_step(walk->stmt), SQLITE_ROW, "SQL knows no row %u", walk->rows);
        bool table = page->type == BTPAGE_TABLE_LEAF;
        if (table)
                cr_assert_eq(cell->rowid, sqlite3_column_int64(walk->stmt, 0));
        cr_assert_eq((int)count + table, sqlite3_column_count(walk->stmt));
        for (size_t i = 0; i < count; i++) {
                struct value want = sample_column(walk->stmt, (int)i + table, walk->utf16);
                cr_assert(value_equal(&values[i], &want), "row %u column %zu", walk->rows, i);
        }
        walk->rows++;
        walk->interior_rows += !btpage_is_leaf(page);
}

/* In key order: child, cell, child, cell, …, right-most child. */
static void walk_tree(struct walk *walk, uint32_t pgno, unsigned depth)
{
        struct btpage page;
        cr_assert(depth < DEPTH_MAX);
        see(walk, pgno);
        walk->depth = depth > walk->depth ? depth : walk->depth;
        cr_assert_eq(
                btpage_open(sample_image(walk->sample, pgno), walk->source.usable, pgno, &page), 0,
                "page %u", pgno);
        for (unsigned i = 0; i < page.cells; i++) {
                struct btcell cell;
                uint32_t child;
                cr_assert_eq(btpage_cell(&page, i, &cell), 0, "page %u cell %u", pgno, i);
                if (!btpage_is_leaf(&page)) {
                        cr_assert_eq(btpage_child(&page, i, &child), 0);
                        cr_assert_eq(child, cell.child);
                        walk_tree(walk, child, depth + 1);
                }
                if (page.type != BTPAGE_TABLE_INTERIOR)
                        expect_row(walk, &page, &cell);
        }
        if (!btpage_is_leaf(&page)) {
                uint32_t child;
                cr_assert_eq(btpage_child(&page, page.cells, &child), 0);
                walk_tree(walk, child, depth + 1);
        }
}

/* The tree at the root that `root_sql` gives holds the rows of `rows_sql`, in that order. */
static void expect_tree(struct walk *walk, const char *root_sql, const char *rows_sql)
{
        walk->stmt = sample_prepare(walk->sample, rows_sql);
        walk->rows = walk->interior_rows = walk->overflow_pages = walk->depth = 0;
        walk_tree(walk, (uint32_t)sample_number(walk->sample, root_sql), 0);
        cr_expect_eq(
                sqlite3_step(walk->stmt), SQLITE_DONE, "SQL knows more than %u rows", walk->rows);
        sqlite3_finalize(walk->stmt);
}

static void fill(struct sample *sample)
{
        sample_run(sample,
                "CREATE TABLE t(a, b, c, d);"
                "CREATE TABLE w(v, n INTEGER, k TEXT, r, PRIMARY KEY(n, k)) WITHOUT ROWID;"
                "CREATE INDEX i ON t(b, a);"
                "BEGIN;");
        for (int i = 0; i < 120; i++) {
                char sql[120];
                snprintf(sql, sizeof(sql), "CREATE TABLE filler_%d(a DEFAULT '%0*d')", i, i / 2 + 1,
                        0);
                sample_run(sample, sql);
        }
        sample_run(sample,
                "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<900)"
                "INSERT INTO t(rowid,a,b,c,d) SELECT i*i*i*i*i*(1-2*(i%2)),"
                " CASE i%5 WHEN 0 THEN NULL WHEN 1 THEN i-400 WHEN 2 THEN i*i*i*i*i*i*i WHEN 3 "
                "THEN i%2"
                "  ELSE -(1<<(i%64)) END,"
                " CASE i%4 WHEN 0 THEN i/7.0 WHEN 1 THEN -0.0 WHEN 2 THEN 'größe' || i"
                "  ELSE randomblob(i) END,"
                " printf('%.*c', (i*37)%2500, char(97+i%26)),"
                " CASE WHEN i%100=7 THEN zeroblob(200000+i) ELSE randomblob((i*i)%700) END FROM n;"
                "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<900)"
                "INSERT INTO w SELECT CASE i%3 WHEN 0 THEN NULL WHEN 1 THEN randomblob((i*41)%3000)"
                "  ELSE printf('%.*c', i%300, 'v') END,"
                " (i*7919)%1009-500, printf('%.*c', i%90, 'k') || i, i%2+i/8.0 FROM n;"
                "INSERT INTO t(rowid,a) VALUES(-9223372036854775808,1),(9223372036854775807,2);"
                "COMMIT");
}

static void expect_database(uint32_t page_size, int reserved, const char *encoding)
{
        struct sample sample;
        sample_create(&sample, page_size, reserved, encoding);
        fill(&sample);
        sample_read(&sample);
        cr_assert_eq(sample.usable, page_size - (uint32_t)reserved);
        _cleanup_free_ uint8_t *scratch = malloc(page_size);
        _cleanup_free_ uint8_t *seen = calloc(sample.count, 1);
        struct walk walk = {.sample = &sample, .utf16 = encoding[4] == '1', .seen = seen};
        walk.source = (struct btpage_source){.read = read_sample,
                .context = &walk,
                .usable = sample.usable,
                .page_size = page_size,
                .pages = sample.count,
                .scratch = scratch};

        expect_tree(&walk, "SELECT 1",
                "SELECT rowid,type,name,tbl_name,rootpage,sql FROM sqlite_schema ORDER BY rowid");
        cr_expect_eq(walk.rows, 123);
        expect_tree(&walk, "SELECT rootpage FROM sqlite_schema WHERE name='t'",
                "SELECT rowid,* FROM t ORDER BY rowid");
        cr_expect_eq(walk.rows, 903);
        cr_expect_gt(walk.depth, 0);
        cr_expect_gt(walk.overflow_pages, 9 * 200000 / page_size / 2);
        expect_tree(&walk, "SELECT rootpage FROM sqlite_schema WHERE name='w'",
                "SELECT n,k,v,r FROM w ORDER BY n,k");
        cr_expect_eq(walk.rows, 901);
        cr_expect_gt(walk.interior_rows, 0, "rows of WITHOUT ROWID stand in interior pages too");
        expect_tree(&walk, "SELECT rootpage FROM sqlite_schema WHERE name='i'",
                "SELECT b,a,rowid FROM t ORDER BY b,a,rowid");
        cr_expect_eq(walk.rows, 903);

        uint32_t met = 0;
        for (uint32_t i = 0; i < sample.count; i++)
                met += seen[i];
        cr_expect_eq(met + 120, sample.count,
                "all pages but the empty tables' are accounted for: %u", met);
        sample_release(&sample);
}

Test(btpage, pages_of_512_bytes_hold_what_sql_says)
{
        expect_database(512, 0, "UTF-8");
}

Test(btpage, pages_of_4096_bytes_hold_what_sql_says)
{
        expect_database(4096, 0, "UTF-8");
}

Test(btpage, pages_of_65536_bytes_hold_what_sql_says)
{
        expect_database(65536, 0, "UTF-8");
}

Test(btpage, reserved_bytes_are_not_part_of_a_page)
{
        expect_database(512, 32, "UTF-8");
        expect_database(1024, 255, "UTF-8");
        expect_database(4096, 8, "UTF-8");
        expect_database(65536, 1, "UTF-8");
}

Test(btpage, text_of_a_utf16_database_is_as_stored)
{
        expect_database(1024, 0, "UTF-16le");
}

/* Pages made by SQLite and then spoilt. */

struct spoilt {
        struct sample *sample;
        struct prng prng;
};

static int read_spoilt(void *context, uint32_t pgno, uint8_t *ret_page)
{
        struct spoilt *spoilt = context;
        cr_assert(pgno >= 2 && pgno <= spoilt->sample->count, "page %u was asked for", pgno);
        memcpy(ret_page, sample_image(spoilt->sample, pgno), spoilt->sample->page_size);
        if (prng_below(&spoilt->prng, 8) == 0)
                put_be32(ret_page, prng_below(&spoilt->prng, 2 * spoilt->sample->count));
        return 0;
}

static void check_cell(
        const struct btpage *page, const struct btcell *cell, const struct btpage_source *source)
{
        const uint8_t *end = page->bytes + page->usable;
        if (page->type == BTPAGE_TABLE_INTERIOR)
                return;
        cr_assert(cell->local > page->bytes && cell->local <= end);
        cr_assert(cell->local_size <= (size_t)(end - cell->local));
        cr_assert(cell->local_size == cell->payload_size || cell->overflow != 0);
        _cleanup_(buf_release) struct buf payload = BUF_INIT;
        int result = btpage_payload(cell, source, NULL, NULL, &payload);
        cr_assert(result == 0 || result == -EBADMSG, "%d", result);
        cr_assert(result != 0 || payload.size == cell->payload_size);
        struct value values[COLUMNS];
        size_t count;
        result = record_decode(payload.data, payload.size, values, COLUMNS, &count);
        cr_assert(result == 0 || result == -EBADMSG, "%d", result);
}

/* Half of the flips go where the numbers are: the header, the pointers, a cell's first bytes. */
static void flip(struct prng *prng, uint8_t *bytes, uint32_t usable)
{
        for (unsigned flips = 1 + prng_below(prng, 6); flips > 0; flips--) {
                uint32_t at = prng_below(prng, prng_below(prng, 2) ? 40 : usable);
                if (prng_below(prng, 3) == 0)
                        at = be16(bytes + 8 + 2 * prng_below(prng, 8)) % usable;
                bytes[at] ^= (uint8_t)(1u << prng_below(prng, 8));
        }
}

static unsigned spoil_page(struct spoilt *spoilt, const struct btpage_source *source)
{
        struct sample *sample = spoilt->sample;
        uint32_t pgno = 1 + prng_below(&spoilt->prng, sample->count);
        /* No byte more than is usable, so that a sanitizer sees a read behind it. */
        _cleanup_free_ uint8_t *bytes = malloc(sample->usable);
        struct btpage page;
        unsigned good = 0;
        memcpy(bytes, sample_image(sample, pgno), sample->usable);
        flip(&spoilt->prng, bytes, sample->usable);
        int result = btpage_open(bytes, sample->usable, pgno, &page);
        cr_assert(result == 0 || result == -EBADMSG);
        for (unsigned i = 0; result == 0 && i <= page.cells; i++) {
                struct btcell cell;
                uint32_t child;
                int cell_result = btpage_cell(&page, i, &cell);
                int child_result = btpage_child(&page, i, &child);
                cr_assert(cell_result == 0 || cell_result == -EBADMSG);
                cr_assert(child_result == 0 || child_result == -EBADMSG);
                good += cell_result == 0;
                if (cell_result == 0 && good < 8)
                        check_cell(&page, &cell, source);
        }
        return good;
}

Test(btpage, flipped_bits_lead_nowhere_outside)
{
        static const struct {
                uint32_t page_size;
                int reserved;
        } cases[] = {{512, 0}, {512, 32}, {4096, 0}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct sample sample;
                unsigned good = 0;
                sample_create(&sample, cases[i].page_size, cases[i].reserved, "UTF-8");
                fill(&sample);
                sample_run(&sample, "DELETE FROM t WHERE length(d) > 10000; VACUUM");
                sample_read(&sample);
                struct spoilt spoilt = {.sample = &sample, .prng = {1 + i}};
                _cleanup_free_ uint8_t *scratch = malloc(cases[i].page_size);
                struct btpage_source source = {.read = read_spoilt,
                        .context = &spoilt,
                        .usable = sample.usable,
                        .page_size = cases[i].page_size,
                        .pages = sample.count,
                        .scratch = scratch};
                for (unsigned round = 0; round < 10000; round++)
                        good += spoil_page(&spoilt, &source);
                cr_expect_gt(good, 2000, "cells that are still read: %u", good);
                sample_release(&sample);
        }
}

Test(btpage, random_bytes_lead_nowhere_outside)
{
        static const uint8_t types[] = {2, 5, 10, 13};
        struct prng prng = {53};
        for (unsigned round = 0; round < 20000; round++) {
                _cleanup_free_ uint8_t *bytes = malloc(USABLE);
                struct btpage page;
                for (unsigned i = 0; i < USABLE; i += 8)
                        put_be64(bytes + i, prng_next(&prng));
                bytes[0] = types[round % 4];
                bytes[3] = 0;
                int result = btpage_open(bytes, USABLE, 2, &page);
                cr_assert(result == 0 || result == -EBADMSG);
                for (unsigned i = 0; result == 0 && i < page.cells; i++) {
                        struct btcell cell;
                        put_be16(
                                bytes + page.pointers + 2 * i, (uint16_t)prng_below(&prng, USABLE));
                        int cell_result = btpage_cell(&page, i, &cell);
                        cr_assert(cell_result == 0 || cell_result == -EBADMSG);
                        cr_assert(cell_result != 0 || page.type == BTPAGE_TABLE_INTERIOR ||
                                  cell.local + cell.local_size <= bytes + USABLE);
                }
        }
}
