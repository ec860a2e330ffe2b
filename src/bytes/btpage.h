/* SPDX-License-Identifier: MIT
 *
 * btpage: the cells of one b-tree page, and a cell's whole payload over its overflow chain
 * (file format §1.6, §2). Only the cell pointer array says what is alive; freeblocks, fragments
 * and the content start are ignored. Every offset and size is checked against the usable size:
 * hostile bytes give -EBADMSG, never a read outside the page.
 */
#ifndef CDC_BTPAGE_H
#define CDC_BTPAGE_H

#include <stdbool.h>
#include <stdint.h>
#include "ground/buf.h"

enum btpage_type {
        BTPAGE_INDEX_INTERIOR = 2,
        BTPAGE_TABLE_INTERIOR = 5,
        BTPAGE_INDEX_LEAF = 10,
        BTPAGE_TABLE_LEAF = 13,
};

struct btpage {
        const uint8_t *bytes; /* borrowed: page_size bytes */
        uint32_t usable;      /* page size minus reserved bytes, >= 480 */
        uint8_t type;         /* enum btpage_type */
        uint16_t cells;       /* number of cells */
        uint16_t pointers;    /* offset of the cell pointer array */
        uint32_t right;       /* right-most child, interior pages */
};

struct btcell {
        uint32_t child;        /* left child, interior pages */
        int64_t rowid;         /* table pages: rowid, or the separator of an interior page */
        uint64_t payload_size; /* whole payload; 0 for table interior cells */
        const uint8_t *local;  /* borrowed: its first local_size bytes */
        uint32_t local_size;
        uint32_t overflow; /* first overflow page, 0 = all of it is local */
};

/* Looks at a page image; the b-tree header of page 1 starts at offset 100.
 * 0, or -EBADMSG if it is no b-tree page. */
int btpage_open(const uint8_t *bytes, uint32_t usable, uint32_t pgno, struct btpage *ret_page);
bool btpage_is_leaf(const struct btpage *page);
/* Cell `index` in key order, 0 <= index < cells. 0 or -EBADMSG. */
int btpage_cell(const struct btpage *page, unsigned index, struct btcell *ret_cell);
/* Child `index` of an interior page, 0 <= index <= cells; the last is the right-most.
 * 0 or -EBADMSG (child 0 included). */
int btpage_child(const struct btpage *page, unsigned index, uint32_t *ret_pgno);

/* Gives page `pgno`: page_size bytes into ret_page. 0 or negative errno. */
typedef int (*btpage_reader)(void *context, uint32_t pgno, uint8_t *ret_page);

/* Told of each overflow page as it is met: position 0 is the chain's first. May be NULL. */
typedef int (*btpage_visitor)(void *context, uint32_t pgno, unsigned position);

struct btpage_source {
        btpage_reader read;
        void *context;
        uint32_t usable;
        uint32_t page_size;
        uint32_t pages;   /* pages of the database: a larger number is corrupt */
        uint8_t *scratch; /* page_size bytes for one overflow page, the caller's */
};

/* Appends the cell's whole payload to buf. The chain is followed by the length that is left, not
 * by its next pointers, and is as long as that length demands at most.
 * 0, -EBADMSG, -ENOMEM, or what the reader or visitor returned. */
int btpage_payload(const struct btcell *cell, const struct btpage_source *source,
        btpage_visitor visit, void *visit_context, struct buf *buf);
/* Follows the chain for its page numbers only (the last page is not read). Errors as above. */
int btpage_chain(const struct btcell *cell, const struct btpage_source *source,
        btpage_visitor visit, void *visit_context);

#endif
