/* SPDX-License-Identifier: MIT
 *
 * pagemap: see the header. The scan reads every page of a tree once, each level with a buffer of
 * its own, so memory is bounded by the depth.
 */
#include "meaning/pagemap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"

enum { CHUNK = 4096, DEPTH_LIMIT = 20 };

void pagemap_release(struct pagemap *map)
{
        for (uint32_t i = 0; i < map->chunk_count; i++)
                free(map->chunks[i]);
        free(map->chunks);
        *map = (struct pagemap){0};
}

struct pagemap_owner pagemap_get(const struct pagemap *map, uint32_t pgno)
{
        uint32_t chunk = pgno / CHUNK;
        if (chunk >= map->chunk_count || !map->chunks[chunk])
                return (struct pagemap_owner){0};
        return map->chunks[chunk][pgno % CHUNK];
}

static int add_chunk(struct pagemap *map, uint32_t chunk)
{
        if (chunk >= map->chunk_count) {
                uint32_t count = chunk + 1 + chunk / 2;
                struct pagemap_owner **chunks = realloc(map->chunks, count * sizeof(*chunks));
                if (!chunks)
                        return -ENOMEM;
                memset(chunks + map->chunk_count, 0, (count - map->chunk_count) * sizeof(*chunks));
                map->chunks = chunks;
                map->chunk_count = count;
        }
        if (!map->chunks[chunk])
                map->chunks[chunk] = calloc(CHUNK, sizeof(struct pagemap_owner));
        return map->chunks[chunk] ? 0 : -ENOMEM;
}

int pagemap_set(struct pagemap *map, uint32_t pgno, struct pagemap_owner owner)
{
        uint32_t chunk = pgno / CHUNK;
        if ((chunk >= map->chunk_count || !map->chunks[chunk]) && add_chunk(map, chunk) < 0)
                return -ENOMEM;
        map->chunks[chunk][pgno % CHUNK] = owner;
        return 0;
}

void pagemap_clear(struct pagemap *map, uint16_t tree, uint32_t pgno)
{
        if (pagemap_get(map, pgno).tree == tree)
                map->chunks[pgno / CHUNK][pgno % CHUNK] = (struct pagemap_owner){0};
}

void pagemap_forget_tree(struct pagemap *map, uint16_t tree)
{
        for (uint32_t i = 0; i < map->chunk_count; i++) {
                struct pagemap_owner *chunk = map->chunks[i];
                for (unsigned k = 0; chunk && k < CHUNK; k++)
                        if (chunk[k].tree == tree)
                                chunk[k] = (struct pagemap_owner){0};
        }
}

/* ---- the scan ---- */

struct scan {
        struct pagemap *map;
        const struct btpage_source *source;
        uint16_t tree;
        bool is_index;
        uint32_t leaf;  /* owner of the chain that is being followed */
        uint32_t first; /* first page of that chain */
};

static int enter(struct scan *scan, uint32_t pgno, uint32_t parent, enum pagemap_kind kind)
{
        if (pgno < 1 || pgno > scan->source->pages || pagemap_get(scan->map, pgno).tree != 0)
                return -EBADMSG;
        return pagemap_set(scan->map, pgno,
                (struct pagemap_owner){.parent = parent, .tree = scan->tree, .kind = kind});
}

static int enter_overflow(void *context, uint32_t pgno, unsigned position)
{
        struct scan *scan = context;
        if (position > 0)
                return enter(scan, pgno, scan->first, PAGEMAP_OVERFLOW_LATER);
        scan->first = pgno;
        return enter(scan, pgno, scan->leaf, PAGEMAP_OVERFLOW_FIRST);
}

/* Enters the overflow chains of a page's own cells. */
static int scan_cells(struct scan *scan, const struct btpage *page, uint32_t pgno)
{
        struct btcell cell;
        int r = 0;
        scan->leaf = pgno;
        for (unsigned i = 0; r == 0 && i < page->cells; i++) {
                r = btpage_cell(page, i, &cell);
                if (r == 0 && cell.overflow != 0)
                        r = btpage_chain(&cell, scan->source, enter_overflow, scan);
        }
        return r;
}

static int scan_page(struct scan *scan, uint32_t pgno, uint32_t parent, unsigned depth)
{
        struct btpage page;
        uint32_t child;
        if (depth >= DEPTH_LIMIT || pgno < 1 || pgno > scan->source->pages)
                return -EBADMSG;
        _cleanup_free_ uint8_t *bytes = malloc(scan->source->page_size);
        if (!bytes)
                return -ENOMEM;
        int r = scan->source->read(scan->source->context, pgno, bytes);
        if (r == 0)
                r = btpage_open(bytes, scan->source->usable, pgno, &page);
        if (r < 0)
                return r;
        bool is_leaf = btpage_is_leaf(&page);
        bool is_index = page.type == BTPAGE_INDEX_LEAF || page.type == BTPAGE_INDEX_INTERIOR;
        if (depth == 0)
                scan->is_index = is_index;
        if (is_index != scan->is_index)
                return -EBADMSG;
        r = enter(scan, pgno, parent, is_leaf ? PAGEMAP_LEAF : PAGEMAP_INTERIOR);
        if (r == 0 && (is_leaf || is_index))
                r = scan_cells(scan, &page, pgno);
        if (r < 0 || is_leaf)
                return r;
        for (unsigned i = 0; r == 0 && i <= page.cells; i++) {
                r = btpage_child(&page, i, &child);
                if (r == 0)
                        r = scan_page(scan, child, pgno, depth + 1);
        }
        return r;
}

int pagemap_build_tree(
        struct pagemap *map, uint16_t tree, uint32_t root, const struct btpage_source *source)
{
        struct scan scan = {.map = map, .source = source, .tree = tree};
        int r = scan_page(&scan, root, 0, 0);
        if (r < 0)
                pagemap_forget_tree(map, tree);
        return r;
}
