/* SPDX-License-Identifier: MIT
 *
 * treewalk: one walk over the touched part of a tree, in one of the two states of a treediff.
 * Private to treediff; it reads the flags that treediff_begin set and keeps its books.
 */
#ifndef CDC_TREEWALK_H
#define CDC_TREEWALK_H

#include "meaning/treediff.h"

enum { TREEWALK_DEPTH = 20, TREEWALK_OLD = 0, TREEWALK_NEW = 1 };

/* What a page means to the transaction (treediff.flags). */
enum treewalk_flags {
        FLAG_PATH = 1 << 0,   /* something below it was written */
        FLAG_HOLDER = 1 << 1, /* an overflow chain of one of its cells was written */
        FLAG_CHAIN = 1 << 2,  /* first page of a chain of which a page was written */
        FLAG_KID = 1 << 3,    /* child of a written interior page of the new tree */
};

struct treewalk {
        struct treediff *diff;
        int side; /* TREEWALK_OLD or TREEWALK_NEW */
        uint16_t tree;
        bool is_index;
        bool is_whole;
        unsigned depth; /* levels entered; 0 = at the end */
        struct treewalk_level {
                struct btpage page;
                uint32_t pgno;
                unsigned next; /* step to take next: cells of a leaf, children of an interior page,
                                * in an index both in turn */
                bool is_written; /* by the transaction */
                bool is_removed; /* old: the page left the tree without being written */
                bool is_told;    /* its own cells are rows to compare */
        } levels[TREEWALK_DEPTH];
        struct btcell cell; /* the row it stands at */
        bool has_row;
        bool has_last;
        int64_t last;
        uint64_t entered;
};

/* Books that treediff.c keeps. */
bool treediff_is_written(const struct treediff *diff, uint32_t pgno);
bool treediff_has_flag(const struct treediff *diff, uint32_t pgno, uint32_t flag);
int treediff_add_flag(struct treediff *diff, uint32_t pgno, uint32_t flag);
bool treediff_in_sieve(const struct treediff *diff, uint32_t pgno);
int treediff_note(struct treediff *diff, uint32_t pgno, struct pagemap_owner owner);

/* Flags the children of the new tree's written interior pages. */
int treewalk_flag_kids(struct treediff *diff, uint32_t root, bool is_index);
/* Enters the root. is_removed: an old root that is no part of the new tree. */
int treewalk_begin(struct treewalk *walk, uint32_t root, bool is_removed);
/* Moves to the next row; has_row is false at the end. */
int treewalk_next(struct treewalk *walk);
/* Page of the row. */
uint32_t treewalk_page(const struct treewalk *walk);
/* Reads the row's whole payload into diff->payloads[side] and keeps the books on its chain. */
int treewalk_payload(struct treewalk *walk);
/* The row stands as it stood: its chain, if any, hangs on the page where the row is now. */
int treewalk_keep(struct treewalk *walk);

#endif
