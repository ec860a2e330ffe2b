/* SPDX-License-Identifier: MIT
 *
 * shelf: pieces of bytes put aside in a spool; the least recently used go first, up to a budget.
 *
 * One spool serves all pieces, so that they take no descriptor each. A place in it is never given
 * out twice: what is still being read or thrown away never meets what comes new. It knows nothing
 * of the bytes, and does not make a piece again that it has thrown away.
 *
 * It has no lock: functions marked L want the one of its owner, all others want none held.
 *
 *      if (shelf_wants_spool(shelf))                   L
 *              shelf_open_spool(shelf, &spool) … shelf_give_spool(shelf, spool) L
 *      shelf_place(shelf, piece, size);                L
 *      shelf_write(piece, bytes);
 *      shelf_add(piece);                               L
 *      surplus = shelf_take_surplus(shelf);            L, then forget those pieces
 *      shelf_free_pieces(surplus);
 */
#ifndef CDC_SHELF_H
#define CDC_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shelf_spool;

struct shelf_piece {
        struct shelf *shelf;
        struct shelf_spool *spool; /* owns a reference */
        uint64_t position;         /* in the spool */
        uint64_t size;
        void *owner;  /* whoever must forget it when it goes, */
        size_t index; /* and where he has it */
        /* L */
        unsigned users; /* who read it now: it stays */
        bool is_kept;   /* it stays, and counts in no budget */
        struct shelf_piece *newer, *older;
};

struct shelf {
        const char *directory; /* borrowed; NULL: in memory */
        uint64_t budget;
        /* L */
        struct shelf_spool *spool;
        struct shelf_piece *newest, *oldest; /* but for kept ones */
        uint64_t bytes;                      /* of the pieces in the list */
        uint64_t kept_bytes;
};

/* A new spool, the caller's until it is given. 0 or negative errno. */
int shelf_open_spool(const struct shelf *shelf, struct shelf_spool **ret_spool);
/* L. Is there none, or one that has been written to the end of its usefulness? */
bool shelf_wants_spool(const struct shelf *shelf);
/* L. Takes the spool over; one that another thread gave first goes when its pieces are gone. */
void shelf_give_spool(struct shelf *shelf, struct shelf_spool *spool);
void shelf_unref_spool(struct shelf_spool *spool); /* NULL is allowed */

/* L. Finds a place for a zeroed piece. */
void shelf_place(struct shelf *shelf, struct shelf_piece *piece, uint64_t size);
/* All its bytes. 0 or negative errno. */
int shelf_write(const struct shelf_piece *piece, const void *bytes);
/* `size` bytes at an offset of the piece, which has a user. */
int shelf_read(const struct shelf_piece *piece, uint64_t offset, void *buffer, size_t size);

/* L. It is there, as the newest. */
void shelf_add(struct shelf_piece *piece);
/* L. It was used. */
void shelf_touch(struct shelf_piece *piece);
/* L. From now on it stays, or no longer. */
void shelf_keep(struct shelf_piece *piece, bool is_kept);
/* L. Takes it out. */
void shelf_remove(struct shelf_piece *piece);
/* L. Takes out what is over the budget, oldest first, but never the newest: a list by `older`. */
struct shelf_piece *shelf_take_surplus(struct shelf *shelf);
/* Gives the room of a list of pieces back that nobody can find any more. */
void shelf_free_pieces(struct shelf_piece *pieces);

#endif
