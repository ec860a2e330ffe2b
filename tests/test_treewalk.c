/* SPDX-License-Identifier: MIT
 *
 * Walks over trees of databases in memory: over the whole of them, and over the part that some
 * written pages make.
 */
#include "image.h"
#include "meaning/treewalk.h"
#include "workload.h"

struct subject {
        sqlite3 *db;
        struct image image;
        struct frames changed;
        struct pagemap map;
        struct treediff diff;
        uint32_t root;
};

/* A table and its image; its tree has number 2. */
static void subject_open(struct subject *s, uint32_t page_size, const char *sql)
{
        *s = (struct subject){.db = image_open(page_size, 0)};
        image_run(s->db, sql);
        image_run(s->db, "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE "
                         "i < 2000) INSERT INTO t SELECT i, zeroblob(CASE WHEN i % 30 = 0 THEN "
                         "3000 ELSE i % 40 END) FROM n");
        image_take(&s->image, s->db);
        s->root = image_root(s->db, "t");
        struct btpage_source source = image_source(&s->image);
        cr_assert_eq(pagemap_build_tree(&s->map, 2, s->root, &source), 0);
}

static void subject_begin(struct subject *s)
{
        struct btpage_source source = image_source(&s->image);
        cr_assert_eq(treediff_begin(&s->diff, &s->map, &s->changed, &source, &source), 0);
}

static void subject_release(struct subject *s)
{
        image_release(&s->image);
        frames_release(&s->changed);
        pagemap_release(&s->map);
        treediff_release(&s->diff);
        sqlite3_close(s->db);
}

static unsigned count_rows(struct treewalk *walk)
{
        unsigned count = 0;
        int r = treewalk_next(walk);
        for (; r == 0 && walk->has_row; count++) {
                cr_assert_eq(treewalk_payload(walk), 0);
                cr_assert_gt(walk->diff->payloads[walk->side].size, 2);
                r = treewalk_next(walk);
        }
        cr_assert_eq(r, 0);
        cr_expect_eq(walk->depth, 0);
        return count;
}

static const struct {
        const char *sql;
        bool is_index;
} tables[] = {
        {"CREATE TABLE t(a INTEGER PRIMARY KEY, b)", false},
        {"CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID", true},
};

static const uint32_t sizes[] = {512, 4096, 65536};

Test(treewalk, a_whole_walk_meets_every_row_of_both_kinds_of_tree)
{
        for (size_t i = 0; i < COUNT(tables) * COUNT(sizes) * 2; i++) {
                struct subject s;
                subject_open(&s, sizes[i / 2 / COUNT(tables)], tables[i % COUNT(tables)].sql);
                subject_begin(&s);
                struct treewalk walk = {.diff = &s.diff,
                        .side = (int)(i / 2 % 2),
                        .tree = 2,
                        .is_index = tables[i % COUNT(tables)].is_index,
                        .is_whole = true};
                cr_assert_eq(treewalk_begin(&walk, s.root, false), 0);
                cr_expect_eq(count_rows(&walk), 2000, "%zu", i);
                subject_release(&s);
        }
}

Test(treewalk, a_walk_over_nothing_written_meets_nothing)
{
        for (size_t i = 0; i < COUNT(tables); i++) {
                struct subject s;
                subject_open(&s, 512, tables[i].sql);
                subject_begin(&s);
                s.image.reads = 0;
                struct treewalk walk = {.diff = &s.diff,
                        .side = TREEWALK_NEW,
                        .tree = 2,
                        .is_index = tables[i].is_index};
                cr_assert_eq(treewalk_begin(&walk, s.root, false), 0);
                cr_expect_eq(count_rows(&walk), 0);
                cr_expect_eq(s.image.reads, 1, "the root alone is read");
                subject_release(&s);
        }
}

/* Each page of the tree in turn is the one that was written. */
Test(treewalk, a_walk_meets_the_rows_of_a_written_page_and_reads_little_more)
{
        for (size_t i = 0; i < COUNT(tables); i++) {
                struct subject s;
                unsigned rows = 0;
                subject_open(&s, 512, tables[i].sql);
                for (uint32_t pgno = 1; pgno <= s.image.pages; pgno++) {
                        enum pagemap_kind kind = pagemap_get(&s.map, pgno).kind;
                        if (kind != PAGEMAP_LEAF &&
                                (kind != PAGEMAP_INTERIOR || !tables[i].is_index))
                                continue;
                        frames_clear(&s.changed);
                        cr_assert_eq(frames_put(&s.changed, pgno, 1), 0);
                        subject_begin(&s);
                        cr_assert_eq(treewalk_flag_kids(&s.diff, s.root, tables[i].is_index), 0);
                        s.image.reads = 0;
                        struct treewalk walk = {.diff = &s.diff,
                                .side = TREEWALK_NEW,
                                .tree = 2,
                                .is_index = tables[i].is_index};
                        cr_assert_eq(treewalk_begin(&walk, s.root, false), 0);
                        unsigned count = count_rows(&walk);
                        rows += count;
                        cr_expect_lt(s.image.reads, 6 + 8 * count, "page %u", pgno);
                }
                cr_expect_eq(rows, 2000, "each row stands on one page: %u", rows);
                subject_release(&s);
        }
}

Test(treewalk, the_holder_of_a_written_chain_is_met)
{
        for (size_t i = 0; i < COUNT(tables); i++) {
                struct subject s;
                unsigned chains = 0;
                subject_open(&s, 512, tables[i].sql);
                for (uint32_t pgno = 1; pgno <= s.image.pages; pgno++) {
                        if (pagemap_get(&s.map, pgno).kind != PAGEMAP_OVERFLOW_LATER)
                                continue;
                        frames_clear(&s.changed);
                        cr_assert_eq(frames_put(&s.changed, pgno, 1), 0);
                        subject_begin(&s);
                        cr_expect(treediff_touches(&s.diff, 2));
                        struct treewalk walk = {.diff = &s.diff,
                                .side = TREEWALK_OLD,
                                .tree = 2,
                                .is_index = tables[i].is_index};
                        cr_assert_eq(treewalk_begin(&walk, s.root, false), 0);
                        uint32_t first = pagemap_get(&s.map, pgno).parent;
                        bool is_met = false;
                        while (treewalk_next(&walk) == 0 && walk.has_row)
                                is_met |= walk.cell.overflow == first;
                        cr_assert(is_met, "page %u", pgno);
                        chains++;
                }
                cr_expect_gt(chains, 100);
                subject_release(&s);
        }
}

Test(treewalk, a_tree_of_the_other_kind_is_refused)
{
        for (size_t i = 0; i < COUNT(tables); i++) {
                struct subject s;
                bool is_old = true;
                subject_open(&s, 512, tables[i].sql);
                subject_begin(&s);
                struct treewalk walk = {.diff = &s.diff,
                        .side = TREEWALK_NEW,
                        .tree = 2,
                        .is_index = !tables[i].is_index,
                        .is_whole = true};
                cr_expect_eq(treewalk_begin(&walk, s.root, false), -EBADMSG);
                cr_expect_eq(treediff_bad_page(&s.diff, &is_old), s.root);
                cr_expect(!is_old);
                walk = (struct treewalk){.diff = &s.diff, .side = TREEWALK_NEW, .tree = 2};
                cr_expect_eq(treewalk_begin(&walk, s.image.pages + 1, false), -EBADMSG);
                cr_expect_eq(treewalk_begin(&walk, 0, false), -EBADMSG);
                subject_release(&s);
        }
}
