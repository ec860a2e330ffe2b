/* SPDX-License-Identifier: MIT
 *
 * shelf: places in spools, and a list by last use.
 */
#include "faces/shelf.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "faces/spool.h"

/* Places are not used again, so a spool has an end: file systems allow some TiB. */
#define SPOOL_END (UINT64_C(1) << 40)
enum { PLACE = 4096 }; /* pieces begin at pages, so that their room can be given back whole */

struct shelf_spool {
        atomic_uint references; /* the shelf's, and one a piece */
        int fd;
        atomic_bool is_stiff; /* its file system gives no room back before it is closed */
        uint64_t end;         /* L */
};

int shelf_open_spool(const struct shelf *shelf, struct shelf_spool **ret_spool)
{
        struct shelf_spool *spool = calloc(1, sizeof *spool);
        if (!spool)
                return -ENOMEM;
        int r = spool_open(shelf->directory ? shelf->directory : "/",
                shelf->directory ? SPOOL_MEMORY_SIZE : 0, &spool->fd);
        if (r < 0) {
                free(spool);
                return r;
        }
        atomic_init(&spool->references, 1);
        *ret_spool = spool;
        return 0;
}

bool shelf_wants_spool(const struct shelf *shelf)
{
        const struct shelf_spool *spool = shelf->spool;
        return !spool || spool->end > (atomic_load(&spool->is_stiff) ? shelf->budget : SPOOL_END);
}

void shelf_give_spool(struct shelf *shelf, struct shelf_spool *spool)
{
        struct shelf_spool *former = shelf->spool;
        shelf->spool = spool;
        shelf_unref_spool(former);
}

void shelf_unref_spool(struct shelf_spool *spool)
{
        if (!spool || atomic_fetch_sub(&spool->references, 1) != 1)
                return;
        close(spool->fd);
        free(spool);
}

void shelf_place(struct shelf *shelf, struct shelf_piece *piece, uint64_t size)
{
        piece->shelf = shelf;
        piece->spool = shelf->spool;
        atomic_fetch_add(&piece->spool->references, 1);
        piece->position = piece->spool->end;
        piece->size = size;
        piece->spool->end += (size + PLACE - 1) / PLACE * PLACE;
}

int shelf_write(const struct shelf_piece *piece, const void *bytes)
{
        return spool_write(piece->spool->fd, bytes, piece->size, piece->position);
}

int shelf_read(const struct shelf_piece *piece, uint64_t offset, void *buffer, size_t size)
{
        return spool_read(piece->spool->fd, buffer, size, piece->position + offset);
}

/* ---- the list ---- */

static void unlink_piece(struct shelf *shelf, struct shelf_piece *piece)
{
        if (piece->newer)
                piece->newer->older = piece->older;
        else
                shelf->newest = piece->older;
        if (piece->older)
                piece->older->newer = piece->newer;
        else
                shelf->oldest = piece->newer;
        piece->newer = piece->older = NULL;
}

static void link_newest(struct shelf *shelf, struct shelf_piece *piece)
{
        piece->older = shelf->newest;
        if (shelf->newest)
                shelf->newest->newer = piece;
        else
                shelf->oldest = piece;
        shelf->newest = piece;
}

void shelf_add(struct shelf_piece *piece)
{
        struct shelf *shelf = piece->shelf;
        link_newest(shelf, piece);
        shelf->bytes += piece->size;
}

void shelf_touch(struct shelf_piece *piece)
{
        struct shelf *shelf = piece->shelf;
        if (piece->is_kept || piece == shelf->newest)
                return;
        unlink_piece(shelf, piece);
        link_newest(shelf, piece);
}

void shelf_keep(struct shelf_piece *piece, bool is_kept)
{
        if (piece->is_kept == is_kept)
                return;
        shelf_remove(piece);
        piece->is_kept = is_kept;
        if (is_kept)
                piece->shelf->kept_bytes += piece->size;
        else
                shelf_add(piece);
}

void shelf_remove(struct shelf_piece *piece)
{
        struct shelf *shelf = piece->shelf;
        if (piece->is_kept) {
                shelf->kept_bytes -= piece->size;
                return;
        }
        unlink_piece(shelf, piece);
        shelf->bytes -= piece->size;
}

struct shelf_piece *shelf_take_surplus(struct shelf *shelf)
{
        struct shelf_piece *surplus = NULL;
        struct shelf_piece *piece = shelf->oldest;
        while (piece && piece != shelf->newest && shelf->bytes > shelf->budget) {
                struct shelf_piece *newer = piece->newer;
                if (piece->users == 0) {
                        shelf_remove(piece);
                        piece->older = surplus;
                        surplus = piece;
                }
                piece = newer;
        }
        return surplus;
}

void shelf_free_pieces(struct shelf_piece *pieces)
{
        while (pieces) {
                struct shelf_piece *next = pieces->older;
                struct shelf_spool *spool = pieces->spool;
                if (spool_discard(spool->fd, pieces->position, pieces->size) < 0)
                        atomic_store(&spool->is_stiff, true);
                shelf_unref_spool(spool);
                free(pieces);
                pieces = next;
        }
}
