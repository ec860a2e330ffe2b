/* SPDX-License-Identifier: MIT
 *
 * btpage: finds the cells of a b-tree page, and gathers a payload from its overflow chain.
 *
 * Every number on a page may have been chosen by an enemy; each is checked against the usable
 * size or the number of pages before it leads anywhere. It knows one page at a time: which
 * tree a page belongs to, and whether its children are sane, is asked above.
 */
#include "bytes/btpage.h"

#include <errno.h>

#include "ground/bytes.h"

enum {
        FILE_HEADER = 100, /* before the b-tree header of page 1 */
        LEAF_HEADER = 8,
        INTERIOR_HEADER = 12,
        USABLE_MIN = 480,
        USABLE_MAX = 65536,
        PAYLOAD_MAX = INT32_MAX, /* no SQLite can be built to hold more */
        NEXT_SIZE = 4,           /* the next page's number, at the start of an overflow page */
};

bool btpage_is_leaf(const struct btpage *page)
{
        return page->type == BTPAGE_INDEX_LEAF || page->type == BTPAGE_TABLE_LEAF;
}

static bool is_type(uint8_t type)
{
        return type == BTPAGE_INDEX_INTERIOR || type == BTPAGE_TABLE_INTERIOR ||
               type == BTPAGE_INDEX_LEAF || type == BTPAGE_TABLE_LEAF;
}

int btpage_open(const uint8_t *bytes, uint32_t usable, uint32_t pgno, struct btpage *ret_page)
{
        if (usable < USABLE_MIN || usable > USABLE_MAX)
                return -EBADMSG;
        unsigned header = pgno == 1 ? FILE_HEADER : 0;
        struct btpage page = {
                .bytes = bytes,
                .usable = usable,
                .type = bytes[header],
                .cells = be16(bytes + header + 3),
        };
        if (!is_type(page.type))
                return -EBADMSG;
        bool leaf = btpage_is_leaf(&page);
        page.pointers = (uint16_t)(header + (leaf ? LEAF_HEADER : INTERIOR_HEADER));
        if (page.pointers + 2u * page.cells > usable)
                return -EBADMSG;
        if (!leaf)
                page.right = be32(bytes + header + 8);
        *ret_page = page;
        return 0;
}

/* Where cell `index` begins, or NULL: beside the page, or over the header or pointers. */
static const uint8_t *find_cell(const struct btpage *page, unsigned index)
{
        if (index >= page->cells)
                return NULL;
        uint32_t offset = be16(page->bytes + page->pointers + 2 * index);
        if (offset < page->pointers + 2u * page->cells || offset >= page->usable)
                return NULL;
        return page->bytes + offset;
}

/* How much of a payload stands in the cell (file format §1.6, "local payload"). */
static uint32_t local_size(const struct btpage *page, uint64_t payload)
{
        uint32_t usable = page->usable;
        uint32_t most =
                page->type == BTPAGE_TABLE_LEAF ? usable - 35 : (usable - 12) * 64 / 255 - 23;
        uint32_t least = (usable - 12) * 32 / 255 - 23;
        if (payload <= most)
                return (uint32_t)payload;
        uint32_t fitting = least + (uint32_t)((payload - least) % (usable - NEXT_SIZE));
        return fitting <= most ? fitting : least;
}

static int place_payload(
        const struct btpage *page, const uint8_t *p, const uint8_t *end, struct btcell *cell)
{
        if (cell->payload_size > PAYLOAD_MAX)
                return -EBADMSG;
        cell->local_size = local_size(page, cell->payload_size);
        if (cell->local_size > (size_t)(end - p))
                return -EBADMSG;
        cell->local = p;
        if (cell->local_size == cell->payload_size)
                return 0;
        p += cell->local_size;
        if (end - p < NEXT_SIZE)
                return -EBADMSG;
        cell->overflow = be32(p);
        return cell->overflow == 0 ? -EBADMSG : 0;
}

static int read_number(const uint8_t **cursor, const uint8_t *end, uint64_t *ret_number)
{
        unsigned taken = varint_get(*cursor, end, ret_number);
        *cursor += taken;
        return taken == 0 ? -EBADMSG : 0;
}

int btpage_cell(const struct btpage *page, unsigned index, struct btcell *ret_cell)
{
        const uint8_t *end = page->bytes + page->usable;
        const uint8_t *p = find_cell(page, index);
        struct btcell cell = {0};
        uint64_t rowid = 0;
        if (!p)
                return -EBADMSG;
        if (!btpage_is_leaf(page)) {
                if (end - p < 4 || be32(p) == 0)
                        return -EBADMSG;
                cell.child = be32(p);
                p += 4;
        }
        bool table = page->type == BTPAGE_TABLE_LEAF || page->type == BTPAGE_TABLE_INTERIOR;
        if (page->type != BTPAGE_TABLE_INTERIOR && read_number(&p, end, &cell.payload_size) < 0)
                return -EBADMSG;
        if (table && read_number(&p, end, &rowid) < 0)
                return -EBADMSG;
        cell.rowid = (int64_t)rowid;
        if (page->type != BTPAGE_TABLE_INTERIOR && place_payload(page, p, end, &cell) < 0)
                return -EBADMSG;
        *ret_cell = cell;
        return 0;
}

int btpage_child(const struct btpage *page, unsigned index, uint32_t *ret_pgno)
{
        if (btpage_is_leaf(page))
                return -EBADMSG;
        uint32_t pgno = page->right;
        if (index != page->cells) {
                const uint8_t *p = find_cell(page, index);
                if (!p || page->bytes + page->usable - p < 4)
                        return -EBADMSG;
                pgno = be32(p);
        }
        if (pgno == 0)
                return -EBADMSG;
        *ret_pgno = pgno;
        return 0;
}

/* Follows the chain; with a buf all pages are read and their content appended. */
static int follow(const struct btcell *cell, const struct btpage_source *source,
        btpage_visitor visit, void *visit_context, struct buf *buf)
{
        uint32_t room = source->usable - NEXT_SIZE;
        uint64_t left = cell->payload_size - cell->local_size;
        uint32_t pgno = cell->overflow;
        /* A chain longer than the database could only go in circles. */
        if (left > (uint64_t)room * source->pages)
                return -EBADMSG;
        for (unsigned position = 0; left > 0; position++) {
                uint32_t part = left < room ? (uint32_t)left : room;
                if (pgno < 2 || pgno > source->pages)
                        return -EBADMSG;
                int result = visit ? visit(visit_context, pgno, position) : 0;
                if (result == 0 && (buf || part < left))
                        result = source->read(source->context, pgno, source->scratch);
                if (result != 0)
                        return result;
                if (buf)
                        buf_append(buf, source->scratch + NEXT_SIZE, part);
                left -= part;
                if (left > 0)
                        pgno = be32(source->scratch);
        }
        return 0;
}

int btpage_payload(const struct btcell *cell, const struct btpage_source *source,
        btpage_visitor visit, void *visit_context, struct buf *buf)
{
        buf_append(buf, cell->local, cell->local_size);
        int result = follow(cell, source, visit, visit_context, buf);
        return result != 0 ? result : buf_error(buf);
}

int btpage_chain(const struct btcell *cell, const struct btpage_source *source,
        btpage_visitor visit, void *visit_context)
{
        return follow(cell, source, visit, visit_context, NULL);
}
