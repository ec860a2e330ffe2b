/* SPDX-License-Identifier: MIT
 *
 * treediff: which rows of one tree a transaction changed, found from page images before and after.
 *
 * Two walks in key order, one over the old tree and one over the new, are restricted to the part
 * that the transaction touched: pages it wrote, pages that left the tree (mostly not written),
 * and leaves whose overflow chains were written. Rows of both walks are merged by rowid, so rows
 * that only moved between pages cancel out. Memory is bounded by the depth of the tree, the
 * transaction's page numbers and one row.
 *
 * It learns from the pagemap what belonged to the tree, and keeps the pagemap up to date: pages
 * that left are cleared at once, pages that came are noted and entered by treediff_finish, after
 * all trees of the transaction have been looked at (a page may leave one and join another).
 */
#ifndef CDC_TREEDIFF_H
#define CDC_TREEDIFF_H

#include "meaning/pagemap.h"
#include "source/frames.h"

/* A row that may have changed: old is NULL for a new row, new is NULL for one that is gone.
 * Payloads are whole records, borrowed. Called in rising order of rowid.
 * 0, or an error, which ends the comparison. */
typedef int (*treediff_row)(
        void *context, int64_t rowid, const struct buf *old_payload, const struct buf *new_payload);

struct treediff_note {
        uint32_t pgno;
        struct pagemap_owner owner;
};

/* One transaction over all trees. Zeroed before the first treediff_begin, then reused. */
struct treediff {
        struct pagemap *map;             /* borrowed */
        const struct frames *changed;    /* borrowed: the transaction's pages */
        struct btpage_source old_source; /* the state before; scratch is treediff's own */
        struct btpage_source new_source; /* the state after */
        struct frames flags;             /* page → what the transaction means to it */
        struct frames trees;             /* tree → what of it was written */
        uint64_t sieve[16]; /* a bit for each page that is written or flagged, by its number */
        struct treediff_note *notes; /* owned */
        size_t note_count, note_capacity;
        uint8_t *pages[2][20];  /* owned: a page buffer for each level, old and new */
        uint8_t *scratch[2];    /* owned: one overflow page, old and new */
        struct buf payloads[2]; /* the row being compared, old and new */
        uint32_t entered;       /* page that was looked at last */
        int entered_side;       /* and in which state */
};

/* Begins a transaction: finds, from the old owners of the changed pages, which trees it touches.
 * `old_read` and `new_read` show a page before and after. 0 or -ENOMEM. */
int treediff_begin(struct treediff *diff, struct pagemap *map, const struct frames *changed,
        const struct btpage_source *old_source, const struct btpage_source *new_source);
/* True if a page of the tree, or of one of its overflow chains, was written. */
bool treediff_touches(const struct treediff *diff, uint16_t tree);
/* A tree before and after. Both roots are the same page unless the tree moved (auto_vacuum, VACUUM)
 * or is another one that takes its place (a table that was rebuilt). */
struct treediff_pair {
        uint16_t tree;
        uint32_t old_root, new_root;
        bool old_is_index, new_is_index; /* index b-trees: tables WITHOUT ROWID */
        bool is_whole; /* compare every row: the new tree's pages were not in the pagemap */
};

/* Compares. Rows of two rowid trees come paired, in rising order of rowid; as soon as one is an
 * index tree all old rows come first, then all new ones, with a rowid of 0 where there is none,
 * and rows that only moved come on both sides. 0, -EBADMSG if a tree is corrupt (the rows told so
 * far are void), -ENOMEM, the reader's or the callback's error. */
int treediff_compare(
        struct treediff *diff, const struct treediff_pair *pair, treediff_row row, void *context);
/* The same for a rowid tree that stands where it stood. */
int treediff_run(
        struct treediff *diff, uint16_t tree, uint32_t root, treediff_row row, void *context);
/* The page that a comparison failed on, 0 if it cannot be told. *ret_is_old: as it was before. */
uint32_t treediff_bad_page(const struct treediff *diff, bool *ret_is_old);
/* Drops what was noted for a tree, after treediff_run failed on it. */
void treediff_forget(struct treediff *diff, uint16_t tree);
/* Enters what was noted into the pagemap. 0 or -ENOMEM. */
int treediff_finish(struct treediff *diff);
void treediff_release(struct treediff *diff);

#endif
