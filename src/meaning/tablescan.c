/* SPDX-License-Identifier: MIT
 *
 * tablescan: see the header. One page buffer a level.
 */
#include "meaning/tablescan.h"

#include <errno.h>
#include <stdlib.h>

#include "ground/cleanup.h"

enum { DEPTH_LIMIT = 20 };

struct scan {
        const struct btpage_source *source;
        tablescan_row row;
        void *context;
        uint32_t entered;
};

static int scan_leaf(struct scan *scan, const struct btpage *page)
{
        _cleanup_(buf_release) struct buf payload = BUF_INIT;
        struct btcell cell;
        int r = 0;
        for (unsigned i = 0; r == 0 && i < page->cells; i++) {
                buf_reset(&payload);
                r = btpage_cell(page, i, &cell);
                if (r == 0)
                        r = btpage_payload(&cell, scan->source, NULL, NULL, &payload);
                if (r == 0)
                        r = scan->row(scan->context, cell.rowid, &payload);
        }
        return r;
}

static int scan_page(struct scan *scan, uint32_t pgno, unsigned depth)
{
        struct btpage page;
        uint32_t child;
        if (depth >= DEPTH_LIMIT || pgno < 1 || pgno > scan->source->pages ||
                scan->entered++ > scan->source->pages)
                return -EBADMSG;
        _cleanup_free_ uint8_t *bytes = malloc(scan->source->page_size);
        if (!bytes)
                return -ENOMEM;
        int r = scan->source->read(scan->source->context, pgno, bytes);
        if (r == 0)
                r = btpage_open(bytes, scan->source->usable, pgno, &page);
        if (r < 0)
                return r;
        if (page.type == BTPAGE_TABLE_LEAF)
                return scan_leaf(scan, &page);
        if (page.type != BTPAGE_TABLE_INTERIOR)
                return -EBADMSG;
        for (unsigned i = 0; r == 0 && i <= page.cells; i++) {
                r = btpage_child(&page, i, &child);
                if (r == 0)
                        r = scan_page(scan, child, depth + 1);
        }
        return r;
}

int tablescan_rows(
        uint32_t root, const struct btpage_source *source, tablescan_row row, void *context)
{
        struct scan scan = {.source = source, .row = row, .context = context};
        return scan_page(&scan, root, 0);
}
