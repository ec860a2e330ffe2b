/* SPDX-License-Identifier: MIT
 *
 * pagemap: which captured tree a page belongs to, and by what way it hangs there.
 *
 * Only reachability from a root makes a page part of a tree; what its bytes look like says
 * nothing. Trees that nobody captures have no entries. Eight bytes a page, in chunks of 4096 pages
 * that exist only where a captured tree lives. Not persisted: one scan rebuilds it.
 */
#ifndef CDC_PAGEMAP_H
#define CDC_PAGEMAP_H

#include <stdint.h>
#include "bytes/btpage.h"

enum pagemap_kind {
        PAGEMAP_NONE = 0,
        PAGEMAP_LEAF,
        PAGEMAP_INTERIOR,
        PAGEMAP_OVERFLOW_FIRST, /* parent: the page whose cell points here */
        PAGEMAP_OVERFLOW_LATER, /* parent: the first page of its chain */
};

struct pagemap_owner {
        uint32_t parent; /* 0 for a root */
        uint16_t tree;   /* number of the tree, given by the caller, 0 = nobody's */
        uint8_t kind;    /* enum pagemap_kind */
};

struct pagemap {
        struct pagemap_owner **chunks; /* owned, NULL where no captured page is */
        uint32_t chunk_count;
};

void pagemap_release(struct pagemap *map);
/* The page's owner; tree 0 and PAGEMAP_NONE if nobody's. */
struct pagemap_owner pagemap_get(const struct pagemap *map, uint32_t pgno);
/* 0 or -ENOMEM. */
int pagemap_set(struct pagemap *map, uint32_t pgno, struct pagemap_owner owner);
/* Clears the page if it belongs to the tree. */
void pagemap_clear(struct pagemap *map, uint16_t tree, uint32_t pgno);
void pagemap_forget_tree(struct pagemap *map, uint16_t tree);
/* Enters every page of the tree at `root`, overflow chains included, as `source` shows it.
 * 0, -EBADMSG if it is no tree of one kind (table or index), is deeper than 20 levels, or holds a
 * page twice or one of another captured tree (nothing of it is entered then), -ENOMEM, or the
 * reader's error.
 */
int pagemap_build_tree(
        struct pagemap *map, uint16_t tree, uint32_t root, const struct btpage_source *source);

#endif
