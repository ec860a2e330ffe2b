/* SPDX-License-Identifier: MIT
 *
 * Two images of a database in memory stand for the states before and after a transaction. What
 * the difference tells is compared with the difference of two whole scans, and the page map it
 * leaves behind with one that is built anew.
 */
#include "ground/hash.h"
#include "image.h"
#include "meaning/tablescan.h"
#include "meaning/treediff.h"
#include "workload.h"

/* ---- rows as the scans and the difference tell them ---- */

struct row {
        int64_t rowid;
        uint64_t old, new; /* hashes of the payloads, 0 for none */
};

struct rows {
        struct row *rows; /* owned */
        size_t count, capacity;
};

static void rows_add(struct rows *rows, struct row row)
{
        if (rows->count == rows->capacity) {
                rows->capacity = rows->capacity ? rows->capacity * 2 : 256;
                rows->rows = realloc(rows->rows, rows->capacity * sizeof(*rows->rows));
        }
        rows->rows[rows->count++] = row;
}

static uint64_t hash_of(const struct buf *payload)
{
        return payload ? hash_bytes64(payload->data, payload->size) : 0;
}

static int add_scanned(void *context, int64_t rowid, const struct buf *payload)
{
        rows_add(context, (struct row){.rowid = rowid, .old = hash_of(payload)});
        return 0;
}

static int add_told(
        void *context, int64_t rowid, const struct buf *old_payload, const struct buf *new_payload)
{
        rows_add(context,
                (struct row){
                        .rowid = rowid, .old = hash_of(old_payload), .new = hash_of(new_payload)});
        return 0;
}

static struct rows scan(struct image *image, uint32_t root)
{
        struct rows rows = {0};
        struct btpage_source source = image_source(image);
        if (root != 0)
                cr_assert_eq(tablescan_rows(root, &source, add_scanned, &rows), 0);
        return rows;
}

/* The difference of two whole scans. */
static struct rows difference(const struct rows *old, const struct rows *new)
{
        struct rows rows = {0};
        size_t i = 0, k = 0;
        while (i < old->count || k < new->count) {
                bool has_old = i < old->count &&
                               (k >= new->count || old->rows[i].rowid <= new->rows[k].rowid);
                bool has_new = k < new->count &&
                               (i >= old->count || new->rows[k].rowid <= old->rows[i].rowid);
                struct row row = {
                        .rowid = has_old ? old->rows[i].rowid : new->rows[k].rowid,
                        .old = has_old ? old->rows[i].old : 0,
                        .new = has_new ? new->rows[k].old : 0,
                };
                if (row.old != row.new)
                        rows_add(&rows, row);
                i += has_old;
                k += has_new;
        }
        return rows;
}

/* ---- a database, its images, and what is tracked of it ---- */

struct subject {
        sqlite3 *db;
        struct image images[2]; /* before, after */
        struct frames changed;
        struct pagemap map;
        struct treediff diff;
        uint32_t roots[8]; /* of tree 1, 2, …; 0 = not there */
        unsigned trees;
        uint64_t rows, touched; /* told so far, trees looked at */
};

static void subject_open(struct subject *s, uint32_t page_size, int reserved)
{
        *s = (struct subject){.db = image_open(page_size, reserved)};
}

static void subject_release(struct subject *s)
{
        image_release(&s->images[0]);
        image_release(&s->images[1]);
        frames_release(&s->changed);
        pagemap_release(&s->map);
        treediff_release(&s->diff);
        sqlite3_close(s->db);
}

/* Takes the image before, with these trees captured: sqlite_schema, and the tables named. */
static void subject_begin(struct subject *s, const char *const *tables, unsigned count)
{
        image_take(&s->images[0], s->db);
        struct btpage_source source = image_source(&s->images[0]);
        s->trees = count + 1;
        for (uint16_t i = 0; i < s->trees; i++) {
                s->roots[i] = i == 0 ? 1 : image_root(s->db, tables[i - 1]);
                cr_assert_eq(pagemap_build_tree(&s->map, i + 1, s->roots[i], &source), 0);
        }
}

static void expect_same_rows(const struct rows *told, const struct rows *want, unsigned tree)
{
        for (size_t i = 0; i < told->count && i < want->count; i++)
                cr_assert(memcmp(&told->rows[i], &want->rows[i], sizeof(struct row)) == 0,
                        "tree %u, row %zu: %lld (%d%d) was told, %lld (%d%d) is right", tree, i,
                        (long long)told->rows[i].rowid, told->rows[i].old != 0,
                        told->rows[i].new != 0, (long long)want->rows[i].rowid,
                        want->rows[i].old != 0, want->rows[i].new != 0);
        cr_assert_eq(told->count, want->count, "tree %u: %zu rows were told, %zu are right", tree,
                told->count, want->count);
}

static void run_tree(struct subject *s, unsigned i)
{
        struct rows told = {0}, again = {0};
        struct rows old = scan(&s->images[0], s->roots[i]);
        struct rows new = scan(&s->images[1], s->roots[i]);
        struct rows want = difference(&old, &new);
        uint16_t tree = (uint16_t)(i + 1);
        if (treediff_touches(&s->diff, tree)) {
                cr_assert_eq(treediff_run(&s->diff, tree, s->roots[i], add_told, &told), 0);
                /* Two instances of a table look at it twice. */
                cr_assert_eq(treediff_run(&s->diff, tree, s->roots[i], add_told, &again), 0);
                expect_same_rows(&again, &want, tree);
                s->touched++;
        }
        expect_same_rows(&told, &want, tree);
        s->rows += told.count;
        free(old.rows);
        free(new.rows);
        free(want.rows);
        free(told.rows);
        free(again.rows);
}

static struct pagemap fresh_map(struct subject *s)
{
        struct pagemap fresh = {0};
        struct btpage_source source = image_source(&s->images[1]);
        for (uint16_t i = 0; i < s->trees; i++)
                cr_assert_eq(pagemap_build_tree(&fresh, i + 1, s->roots[i], &source), 0);
        return fresh;
}

/* Is the map what a scan of the new state makes of it? */
static void expect_true_map(struct subject *s)
{
        struct pagemap fresh = fresh_map(s);
        uint32_t end = (s->map.chunk_count + fresh.chunk_count) * 4096;
        for (uint32_t pgno = 0; pgno < end; pgno++) {
                struct pagemap_owner a = pagemap_get(&s->map, pgno), b = pagemap_get(&fresh, pgno);
                cr_assert(a.tree == b.tree && a.kind == b.kind && a.parent == b.parent,
                        "page %u: tree %u, kind %u, parent %u; right is %u, %u, %u", pgno, a.tree,
                        a.kind, a.parent, b.tree, b.kind, b.parent);
        }
        pagemap_release(&fresh);
}

/* A page that was freed and taken again was written, even if it came to hold the same bytes. */
static void add_taken_again(struct subject *s)
{
        struct pagemap fresh = fresh_map(s);
        for (uint32_t pgno = 1; pgno <= s->images[1].pages; pgno++) {
                struct pagemap_owner a = pagemap_get(&s->map, pgno), b = pagemap_get(&fresh, pgno);
                bool is_other_chain = b.kind == PAGEMAP_OVERFLOW_LATER && a.parent != b.parent;
                if (b.tree != 0 && (a.tree != b.tree || a.kind != b.kind || is_other_chain))
                        frames_put(&s->changed, pgno, pgno);
        }
        pagemap_release(&fresh);
}

/* Compares the image before with the database as it is now, which becomes the image before. */
static void subject_step(struct subject *s, struct prng *prng)
{
        image_take(&s->images[1], s->db);
        frames_clear(&s->changed);
        image_changes(&s->images[0], &s->images[1], &s->changed);
        add_taken_again(s);
        /* Pages may be written without a change. */
        for (unsigned i = prng ? prng_below(prng, 6) : 0; i > 0; i--)
                frames_put(&s->changed, 1 + prng_below(prng, s->images[1].pages), 1);
        struct btpage_source old = image_source(&s->images[0]);
        struct btpage_source new = image_source(&s->images[1]);
        cr_assert_eq(treediff_begin(&s->diff, &s->map, &s->changed, &old, &new), 0);
        unsigned first = prng ? prng_below(prng, s->trees) : 0;
        for (unsigned i = 0; i < s->trees; i++)
                run_tree(s, (first + i) % s->trees);
        cr_assert_eq(treediff_finish(&s->diff), 0);
        expect_true_map(s);
        struct image image = s->images[0];
        s->images[0] = s->images[1];
        s->images[1] = image;
}

/* ---- scripted ---- */

static const char *const one_table[] = {"t"};

static void make_table(struct subject *s, unsigned rows)
{
        image_run(s->db, "CREATE TABLE t(a, b); CREATE TABLE u(a, b)");
        image_run_format(s->db,
                "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < %u) "
                "INSERT INTO t SELECT i, zeroblob(CASE WHEN i %% 40 = 0 THEN 3000 ELSE 30 END) "
                "FROM n WHERE %u > 0",
                rows, rows);
}

static const struct {
        const char *name;
        unsigned rows; /* of table t, before */
        const char *sql;
        unsigned told;
} scripts[] = {
        {"the first row", 0, "INSERT INTO t VALUES(1, 2)", 1},
        {"a root that becomes an interior page", 5,
                "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 100) "
                "INSERT INTO t SELECT i, zeroblob(20) FROM n",
                100},
        {"from nothing to three levels", 0,
                "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
                "INSERT INTO t SELECT i, zeroblob(20) FROM n",
                3000},
        {"delete of everything on three levels", 3000, "DELETE FROM t", 3000},
        {"delete of nothing", 0, "DELETE FROM t", 0},
        {"update of everything, then delete", 500,
                "BEGIN; UPDATE t SET b = x'01'; DELETE FROM t; "
                "COMMIT",
                500},
        {"insert, then delete", 500,
                "BEGIN; INSERT INTO t SELECT a, b FROM t WHERE a <= 100; "
                "DELETE FROM t WHERE rowid > 500; COMMIT",
                0},
        {"delete, then insert of the same", 300,
                "BEGIN; CREATE TEMP TABLE k AS SELECT rowid AS r, * FROM t; DELETE FROM t; "
                "INSERT INTO t(rowid, a, b) SELECT * FROM k; COMMIT; DROP TABLE k",
                0},
        {"delete, then insert in the other order", 300,
                "BEGIN; CREATE TEMP TABLE k AS SELECT rowid AS r, * FROM t; DELETE FROM t; "
                "INSERT INTO t(rowid, a, b) SELECT * FROM k ORDER BY 1 DESC; COMMIT; DROP TABLE k",
                0},
        {"pages that go to another table", 500,
                "BEGIN; INSERT INTO u SELECT * FROM t; DELETE FROM t WHERE a > 2; "
                "INSERT INTO u SELECT * FROM u; COMMIT",
                498},
        {"pages that become another table's chain", 500,
                "BEGIN; DELETE FROM t WHERE a > 2; INSERT INTO u VALUES(1, zeroblob(20000)); "
                "COMMIT",
                498},
        {"one byte in the third overflow page", 40,
                "UPDATE t SET b = CAST(zeroblob(1200) || x'07' || zeroblob(1799) AS BLOB) "
                "WHERE a = 40",
                1},
        {"one byte in the last overflow page", 40,
                "UPDATE t SET b = CAST(zeroblob(2999) || x'07' AS BLOB) WHERE a = 40", 1},
        {"one byte in the page", 40,
                "UPDATE t SET b = CAST(x'07' || zeroblob(2999) AS BLOB) WHERE a = 40", 1},
        {"from a chain to none", 40, "UPDATE t SET b = 1 WHERE a = 40", 1},
        {"from none to a chain", 40, "UPDATE t SET b = zeroblob(9000) WHERE a = 3", 1},
        {"the same values", 200, "UPDATE t SET b = b", 0},
        {"rowids that move", 200, "UPDATE t SET rowid = rowid + 1000", 400},
        {"rowids that swap", 10,
                "BEGIN; UPDATE t SET rowid = 100 WHERE a = 1; UPDATE t SET rowid = 1 WHERE a = 2;"
                "UPDATE t SET rowid = 2 WHERE a = 1; COMMIT",
                2},
        {"a chain whose leaf splits", 200,
                "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 30) "
                "INSERT OR IGNORE INTO t(rowid, a, b) SELECT 40 * i - 1, i, zeroblob(300) FROM n",
                25},
        {"deletes from the end that free written pages", 500,
                "BEGIN; UPDATE t SET a = a + 1 WHERE rowid > 300; "
                "DELETE FROM t WHERE rowid > 310; COMMIT",
                200},
        {"a tree that collapses to its root", 3000, "DELETE FROM t WHERE a <> 7", 2999},
        {"rows of every second leaf", 500, "DELETE FROM t WHERE (a / 8) % 2", 248},
        {"the greatest rowid again", 10,
                "BEGIN; DELETE FROM t WHERE a = 10; INSERT INTO t VALUES(11, 1); COMMIT", 1},
};

static void run_script(size_t i, const char *secure_delete)
{
        struct subject s;
        subject_open(&s, 512, 0);
        image_run_format(s.db, "PRAGMA secure_delete=%s", secure_delete);
        make_table(&s, scripts[i].rows);
        subject_begin(&s, one_table, 1);
        image_run(s.db, scripts[i].sql);
        subject_step(&s, NULL);
        cr_expect_eq(
                s.rows, scripts[i].told, "%s: %llu", scripts[i].name, (unsigned long long)s.rows);
        subject_release(&s);
}

/* ON: pages that are freed are written, as zeroes. OFF: they stay as they were. */
static const char *const secure_deletes[] = {"OFF", "FAST", "ON"};

Test(treediff, scripted_changes_are_told_exactly)
{
        for (size_t i = 0; i < COUNT(scripts); i++)
                for (size_t k = 0; k < COUNT(secure_deletes); k++)
                        run_script(i, secure_deletes[k]);
}

Test(treediff, other_tables_and_indexes_touch_nothing)
{
        struct subject s;
        subject_open(&s, 512, 0);
        make_table(&s, 100);
        image_run(s.db, "CREATE INDEX ta ON t(a)");
        subject_begin(&s, one_table, 1);
        image_run(s.db, "INSERT INTO u SELECT * FROM t; REINDEX; PRAGMA user_version = 7");
        subject_step(&s, NULL);
        cr_expect_eq(s.rows, 0);
        cr_expect(!treediff_touches(&s.diff, 2));
        cr_expect(!treediff_touches(&s.diff, 99));
        subject_release(&s);
}

Test(treediff, untouched_leaves_are_not_read)
{
        struct subject s;
        subject_open(&s, 512, 0);
        make_table(&s, 5000);
        subject_begin(&s, one_table, 1);
        image_run(s.db, "UPDATE t SET a = 0 WHERE rowid = 2500");
        image_take(&s.images[1], s.db);
        image_changes(&s.images[0], &s.images[1], &s.changed);
        struct btpage_source old = image_source(&s.images[0]);
        struct btpage_source new = image_source(&s.images[1]);
        struct rows told = {0};
        s.images[0].reads = 0;
        cr_assert_eq(treediff_begin(&s.diff, &s.map, &s.changed, &old, &new), 0);
        cr_assert_eq(treediff_run(&s.diff, 2, s.roots[1], add_told, &told), 0);
        cr_expect_eq(told.count, 1);
        cr_expect_leq(s.images[0].reads + s.images[1].reads, 8, "%u",
                s.images[0].reads + s.images[1].reads);
        free(told.rows);
        subject_release(&s);
}

/* ---- random ---- */

static const struct {
        uint32_t page_size;
        int reserved;
        unsigned rows, rounds;
} sizes[] = {{512, 0, 900, 200}, {512, 32, 300, 100}, {1024, 0, 900, 60}, {4096, 0, 600, 30},
        {65536, 0, 300, 8}};

static void random_story(size_t i, uint64_t seed, unsigned commits)
{
        struct subject s;
        struct workload w;
        struct prng prng = {seed + 1000};
        subject_open(&s, sizes[i].page_size, sizes[i].reserved);
        image_run_format(s.db, "PRAGMA secure_delete=%s", secure_deletes[(seed + i) % 3]);
        workload_open(&w, s.db, sizes[i].page_size, sizes[i].rows, seed);
        for (unsigned k = 0; k < 20; k++)
                workload_transaction(&w);
        subject_begin(&s, workload_tables, WORKLOAD_CAPTURED);
        for (unsigned k = 0; k < sizes[i].rounds; k++) {
                for (unsigned n = 1 + prng_below(&prng, commits); n > 0; n--)
                        workload_transaction(&w);
                subject_step(&s, &prng);
        }
        cr_expect_gt(s.rows, sizes[i].rounds * 5u, "%llu rows", (unsigned long long)s.rows);
        subject_release(&s);
}

Test(treediff, random_transactions_are_told_exactly)
{
        for (size_t i = 0; i < COUNT(sizes); i++)
                for (uint64_t seed = 100; seed < 103; seed++)
                        random_story(i, seed, 1);
}

Test(treediff, random_changes_of_many_commits_at_once_are_told_exactly)
{
        for (size_t i = 0; i < COUNT(sizes); i++)
                random_story(i, 201, 5);
}

/* ---- hostile ---- */

/* A tree on page 2 of an image made by hand, and the same with a change. */
static int run_hostile(struct subject *s, struct rows *told)
{
        struct btpage_source old = image_source(&s->images[0]);
        struct btpage_source new = image_source(&s->images[1]);
        frames_clear(&s->changed);
        image_changes(&s->images[0], &s->images[1], &s->changed);
        cr_assert_eq(pagemap_build_tree(&s->map, 2, 2, &old), 0);
        cr_assert_eq(treediff_begin(&s->diff, &s->map, &s->changed, &old, &new), 0);
        int r = treediff_run(&s->diff, 2, 2, add_told, told);
        if (r < 0)
                treediff_forget(&s->diff, 2);
        cr_assert_eq(treediff_finish(&s->diff), 0);
        return r;
}

enum { PAGE = 512, PAGES = 60 };

static void make_good(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 4, 5}, 3);
        image_put_leaf(image, 3, (uint8_t[]){1, 2}, 2);
        image_put_leaf(image, 4, (uint8_t[]){3, 4}, 2);
        image_put_big_row(image, 5, 5, 4 * 508 + 100, 10);
        for (uint32_t pgno = 10; pgno < 14; pgno++)
                put_be32(image_page(image, pgno), pgno + 1);
}

static void spoil_nothing(struct image *image)
{
        image_put_leaf(image, 4, (uint8_t[]){4}, 1);
}

static void spoil_child_of_itself(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 2}, 2);
}

/* 60 ways down from each of 20 levels. */
static void spoil_many_loops(struct image *image)
{
        uint32_t children[60];
        for (unsigned i = 0; i < COUNT(children); i++)
                children[i] = 2;
        image_put_interior(image, 2, children, COUNT(children));
}

/* 60 ways down from each of 18 pages. */
static void spoil_many_ways(struct image *image)
{
        uint32_t children[60];
        for (uint32_t pgno = 2; pgno < 20; pgno++) {
                for (unsigned i = 0; i < COUNT(children); i++)
                        children[i] = pgno + 1;
                image_put_interior(image, pgno, children, COUNT(children));
        }
        image_put_leaf(image, 20, (uint8_t[]){1}, 1);
}

static void spoil_child_twice(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 4, 5, 4}, 4);
}

static void spoil_child_of_nobody(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 4, 5, 20}, 4);
}

static void spoil_child_beyond(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 4, 5, PAGES + 1}, 4);
}

static void spoil_child_on_a_chain(struct image *image)
{
        image_put_interior(image, 2, (uint32_t[]){3, 4, 5, 11}, 4);
}

static void spoil_order_in_the_leaf(struct image *image)
{
        image_put_leaf(image, 4, (uint8_t[]){4, 3}, 2);
}

static void spoil_row_twice(struct image *image)
{
        image_put_leaf(image, 4, (uint8_t[]){3, 3}, 2);
}

static void spoil_order_of_leaves(struct image *image)
{
        image_put_leaf(image, 3, (uint8_t[]){1, 9}, 2);
        image_put_leaf(image, 4, (uint8_t[]){3, 4, 5}, 3);
}

static void spoil_type(struct image *image)
{
        image_page(image, 4)[0] = BTPAGE_INDEX_LEAF;
}

static void spoil_root(struct image *image)
{
        memset(image_page(image, 2), 0, PAGE);
}

static void spoil_chain(struct image *image)
{
        put_be32(image_page(image, 11), PAGES + 1);
}

static void spoil_chain_end(struct image *image)
{
        put_be32(image_page(image, 11), 0);
}

static void spoil_size(struct image *image)
{
        image_put_big_row(image, 5, 5, 65000, 10);
}

static void spoil_depth(struct image *image)
{
        for (uint32_t pgno = 2; pgno < 23; pgno++)
                image_put_interior(image, pgno, (uint32_t[]){pgno + 1}, 1);
        image_put_leaf(image, 23, (uint8_t[]){1}, 1);
}

static const struct {
        const char *name;
        void (*spoil)(struct image *image);
        int result;
} hostile[] = {
        {"nothing wrong", spoil_nothing, 0},
        {"a page that is its own child", spoil_child_of_itself, -EBADMSG},
        {"a page that is its own child 60 times", spoil_many_loops, -EBADMSG},
        {"60 ways to each page", spoil_many_ways, -EBADMSG},
        {"a child that nobody wrote and nobody had", spoil_child_of_nobody, -EBADMSG},
        {"a child beyond the end", spoil_child_beyond, -EBADMSG},
        {"a child that is an overflow page", spoil_child_on_a_chain, -EBADMSG},
        {"rowids that fall in a leaf", spoil_order_in_the_leaf, -EBADMSG},
        {"a rowid twice", spoil_row_twice, -EBADMSG},
        {"rowids that fall from leaf to leaf", spoil_order_of_leaves, -EBADMSG},
        {"an index page", spoil_type, -EBADMSG},
        {"a root of zeroes", spoil_root, -EBADMSG},
        {"a chain that goes beyond the end", spoil_chain, -EBADMSG},
        {"a chain that ends early", spoil_chain_end, -EBADMSG},
        {"a payload larger than its chain", spoil_size, -EBADMSG},
        {"22 levels", spoil_depth, -EBADMSG},
};

Test(treediff, a_hostile_tree_ends_with_an_error, .timeout = 20)
{
        for (size_t i = 0; i < COUNT(hostile); i++) {
                struct subject s = {0};
                struct rows told = {0};
                for (int k = 0; k < 2; k++) {
                        image_make(&s.images[k], PAGE, PAGES);
                        make_good(&s.images[k]);
                }
                hostile[i].spoil(&s.images[1]);
                cr_expect_eq(run_hostile(&s, &told), hostile[i].result, "%s", hostile[i].name);
                cr_expect_lt(s.images[0].reads + s.images[1].reads, 1000, "%s", hostile[i].name);
                free(told.rows);
                subject_release(&s);
        }
}

Test(treediff, a_child_that_comes_twice_does_no_harm)
{
        struct subject s = {0};
        struct rows told = {0};
        for (int k = 0; k < 2; k++) {
                image_make(&s.images[k], PAGE, PAGES);
                make_good(&s.images[k]);
        }
        spoil_child_twice(&s.images[1]);
        int r = run_hostile(&s, &told);
        cr_expect(r == -EBADMSG || told.count == 0, "no row is invented");
        free(told.rows);
        subject_release(&s);
}

static int refuse_row(
        void *context, int64_t rowid, const struct buf *old_payload, const struct buf *new_payload)
{
        return -ECANCELED;
}

Test(treediff, an_error_of_the_callback_comes_back_and_the_tree_can_be_forgotten)
{
        struct subject s;
        subject_open(&s, 512, 0);
        make_table(&s, 200);
        subject_begin(&s, one_table, 1);
        image_run(s.db, "DELETE FROM t WHERE a > 100; INSERT INTO t VALUES(1, zeroblob(5000))");
        image_take(&s.images[1], s.db);
        image_changes(&s.images[0], &s.images[1], &s.changed);
        struct btpage_source old = image_source(&s.images[0]);
        struct btpage_source new = image_source(&s.images[1]);
        cr_assert_eq(treediff_begin(&s.diff, &s.map, &s.changed, &old, &new), 0);
        cr_expect_eq(treediff_run(&s.diff, 2, s.roots[1], refuse_row, NULL), -ECANCELED);
        treediff_forget(&s.diff, 2);
        pagemap_forget_tree(&s.map, 2);
        cr_assert_eq(treediff_finish(&s.diff), 0);
        s.trees = 1;
        expect_true_map(&s);
        subject_release(&s);
}

/* What the bytes of the new state are must not matter for safety. */
Test(treediff, random_bytes_give_rows_or_an_error, .timeout = 60)
{
        struct workload w;
        struct prng prng = {77};
        struct subject s;
        unsigned good = 0, rounds = 1500;
        subject_open(&s, 512, 0);
        workload_open(&w, s.db, 512, 300, 78);
        for (unsigned k = 0; k < 100; k++)
                workload_transaction(&w);
        for (unsigned round = 0; round < rounds; round++) {
                struct rows told = {0};
                pagemap_release(&s.map);
                subject_begin(&s, workload_tables, WORKLOAD_CAPTURED);
                workload_transaction(&w);
                image_take(&s.images[1], s.db);
                for (unsigned flips = 1 + prng_below(&prng, 8); flips > 0; flips--)
                        image_page(&s.images[1],
                                2 + prng_below(
                                            &prng, s.images[1].pages - 1))[prng_below(&prng, 40)] ^=
                                (uint8_t)(1u << prng_below(&prng, 8));
                frames_clear(&s.changed);
                image_changes(&s.images[0], &s.images[1], &s.changed);
                struct btpage_source old = image_source(&s.images[0]);
                struct btpage_source new = image_source(&s.images[1]);
                cr_assert_eq(treediff_begin(&s.diff, &s.map, &s.changed, &old, &new), 0);
                for (uint16_t i = 1; i < s.trees; i++) {
                        int r = treediff_run(&s.diff, i + 1, s.roots[i], add_told, &told);
                        cr_assert(r == 0 || r == -EBADMSG, "%d", r);
                        good += r == 0;
                        if (r < 0)
                                treediff_forget(&s.diff, i + 1);
                }
                cr_assert_eq(treediff_finish(&s.diff), 0);
                free(told.rows);
        }
        cr_expect(good > rounds / 4 && good < rounds * 4, "%u", good);
        subject_release(&s);
}
