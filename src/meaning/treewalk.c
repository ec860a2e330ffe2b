/* SPDX-License-Identifier: MIT
 *
 * treewalk: see the header. What is written or gone is no longer owned as before: cleared at once.
 * What is written and reachable is owned anew: noted, and entered when all trees were looked at.
 */
#include "meaning/treewalk.h"

#include <errno.h>
#include <stdlib.h>

enum { PAYLOAD_KEPT = 1 << 22 };

/* ---- reading pages ---- */

static int read_page(struct treediff *diff, int side, bool is_index, unsigned depth, uint32_t pgno,
        struct btpage *ret_page)
{
        struct btpage_source *source = side == TREEWALK_OLD ? &diff->old_source : &diff->new_source;
        diff->entered = pgno;
        diff->entered_side = side;
        if (depth >= TREEWALK_DEPTH || pgno < 1 || pgno > source->pages)
                return -EBADMSG;
        uint8_t **buffer = &diff->pages[side][depth];
        if (!*buffer && !(*buffer = malloc(source->page_size)))
                return -ENOMEM;
        int r = source->read(source->context, pgno, *buffer);
        if (r == 0)
                r = btpage_open(*buffer, source->usable, pgno, ret_page);
        if (r < 0)
                return r;
        uint8_t leaf = is_index ? BTPAGE_INDEX_LEAF : BTPAGE_TABLE_LEAF;
        uint8_t interior = is_index ? BTPAGE_INDEX_INTERIOR : BTPAGE_TABLE_INTERIOR;
        return ret_page->type == leaf || ret_page->type == interior ? 0 : -EBADMSG;
}

/* ---- children of the new tree's written interior pages ---- */

struct kids {
        struct treediff *diff;
        bool is_index;
        uint64_t entered;
};

/* All children of a page are of one kind, so the first tells. */
static int children_are_leaves(struct kids *kids, const struct btpage *page, unsigned depth)
{
        struct btpage first;
        uint32_t child;
        int r = btpage_child(page, 0, &child);
        if (r < 0)
                return r;
        if (!treediff_is_written(kids->diff, child))
                return pagemap_get(kids->diff->map, child).kind != PAGEMAP_INTERIOR;
        r = read_page(kids->diff, TREEWALK_NEW, kids->is_index, depth + 1, child, &first);
        return r < 0 ? r : btpage_is_leaf(&first);
}

static int flag_kids(struct kids *kids, uint32_t pgno, unsigned depth)
{
        struct treediff *diff = kids->diff;
        struct btpage page;
        /* In a tree no page comes twice; bytes that lead round and round end here. */
        if (kids->entered++ > diff->new_source.pages)
                return -EBADMSG;
        int r = read_page(diff, TREEWALK_NEW, kids->is_index, depth, pgno, &page);
        if (r < 0 || btpage_is_leaf(&page))
                return r;
        int above_leaves = children_are_leaves(kids, &page, depth);
        if (above_leaves < 0)
                return above_leaves;
        for (unsigned i = 0; r == 0 && i <= page.cells; i++) {
                uint32_t child;
                r = btpage_child(&page, i, &child);
                if (r == 0 && treediff_is_written(diff, pgno))
                        r = treediff_add_flag(diff, child, FLAG_KID);
                if (r == 0 && !above_leaves &&
                        (treediff_is_written(diff, child) ||
                                treediff_has_flag(diff, child, FLAG_PATH)))
                        r = flag_kids(kids, child, depth + 1);
        }
        return r;
}

int treewalk_flag_kids(struct treediff *diff, uint32_t root, bool is_index)
{
        struct kids kids = {.diff = diff, .is_index = is_index};
        return flag_kids(&kids, root, 0);
}

/* ---- the walk ---- */

static int account(struct treewalk *walk, const struct treewalk_level *level)
{
        if (walk->side == TREEWALK_OLD) {
                if (level->is_written || level->is_removed)
                        pagemap_clear(walk->diff->map, walk->tree, level->pgno);
                return 0;
        }
        if (!level->is_written && !walk->is_whole)
                return 0;
        struct pagemap_owner owner = {
                .parent = walk->depth > 0 ? walk->levels[walk->depth - 1].pgno : 0,
                .tree = walk->tree,
                .kind = btpage_is_leaf(&level->page) ? PAGEMAP_LEAF : PAGEMAP_INTERIOR,
        };
        return treediff_note(walk->diff, level->pgno, owner);
}

static int enter(struct treewalk *walk, uint32_t pgno, bool is_removed)
{
        struct treewalk_level level = {.pgno = pgno, .is_removed = is_removed};
        struct treediff *diff = walk->diff;
        const struct btpage_source *source =
                walk->side == TREEWALK_OLD ? &diff->old_source : &diff->new_source;
        if (walk->entered++ > source->pages)
                return -EBADMSG;
        level.is_written = treediff_is_written(diff, pgno);
        level.is_told = level.is_written || is_removed || walk->is_whole ||
                        treediff_has_flag(diff, pgno, FLAG_HOLDER);
        int r = read_page(diff, walk->side, walk->is_index, walk->depth, pgno, &level.page);
        if (r == 0)
                r = account(walk, &level);
        if (r == 0)
                walk->levels[walk->depth++] = level;
        return r;
}

int treewalk_begin(struct treewalk *walk, uint32_t root, bool is_removed)
{
        return enter(walk, root, is_removed);
}

/* A child that was not written keeps its content, and may hang under another parent now. */
static int adopt(struct treewalk *walk, uint32_t parent, uint32_t child)
{
        struct pagemap_owner owner = pagemap_get(walk->diff->map, child);
        bool is_page = owner.kind == PAGEMAP_LEAF || owner.kind == PAGEMAP_INTERIOR;
        if (owner.tree != walk->tree || !is_page)
                return -EBADMSG;
        if (owner.parent == parent)
                return 0;
        owner.parent = parent;
        return treediff_note(walk->diff, child, owner);
}

/* Step `step` of an interior page is which child? In an index children and cells take turns. */
static unsigned child_of(const struct treewalk *walk, unsigned step)
{
        return walk->is_index ? step / 2 : step;
}

static unsigned steps_of(const struct treewalk *walk, const struct treewalk_level *level)
{
        if (btpage_is_leaf(&level->page))
                return level->page.cells;
        return walk->is_index ? 2u * level->page.cells + 1 : level->page.cells + 1u;
}

/* Under a page that stayed as it was, only a written or flagged child matters. */
static int next_child(struct treewalk *walk, struct treewalk_level *level, uint32_t *ret_child)
{
        unsigned stride = walk->is_index && !level->is_told ? 2 : 1;
        bool is_any = level->is_written || level->is_removed || walk->is_whole ||
                      (walk->is_index && level->is_told);
        int r;
        do {
                r = btpage_child(&level->page, child_of(walk, level->next), ret_child);
                level->next += stride;
        } while (r == 0 && !is_any && !treediff_in_sieve(walk->diff, *ret_child) &&
                 level->next < steps_of(walk, level));
        return r;
}

static int step_child(struct treewalk *walk, struct treewalk_level *level)
{
        struct treediff *diff = walk->diff;
        uint32_t child;
        int r = next_child(walk, level, &child);
        if (r < 0)
                return r;
        if (walk->is_whole)
                return enter(walk, child, walk->side == TREEWALK_OLD);
        bool is_written = treediff_is_written(diff, child), is_removed = false;
        if (walk->side == TREEWALK_OLD && (level->is_written || level->is_removed))
                is_removed = !treediff_has_flag(diff, child, FLAG_KID);
        if (walk->side == TREEWALK_NEW && level->is_written && !is_written)
                r = adopt(walk, level->pgno, child);
        bool is_flagged = treediff_has_flag(diff, child, FLAG_PATH | FLAG_HOLDER);
        if (r == 0 && (is_written || is_removed || is_flagged))
                r = enter(walk, child, is_removed);
        return r;
}

static int step_cell(struct treewalk *walk, struct treewalk_level *level)
{
        bool is_leaf = btpage_is_leaf(&level->page);
        unsigned index = is_leaf ? level->next : level->next / 2;
        level->next++;
        if (!level->is_told)
                return 0;
        int r = btpage_cell(&level->page, index, &walk->cell);
        if (r < 0)
                return r;
        if (!walk->is_index && walk->has_last && walk->cell.rowid <= walk->last)
                return -EBADMSG;
        walk->has_last = true;
        walk->last = walk->cell.rowid;
        walk->has_row = true;
        return 0;
}

int treewalk_next(struct treewalk *walk)
{
        int r = 0;
        walk->has_row = false;
        while (r == 0 && walk->depth > 0 && !walk->has_row) {
                struct treewalk_level *level = &walk->levels[walk->depth - 1];
                walk->diff->entered = level->pgno;
                walk->diff->entered_side = walk->side;
                bool is_cell =
                        btpage_is_leaf(&level->page) || (walk->is_index && level->next % 2 == 1);
                if (level->next >= steps_of(walk, level))
                        walk->depth--;
                else
                        r = is_cell ? step_cell(walk, level) : step_child(walk, level);
        }
        return r;
}

uint32_t treewalk_page(const struct treewalk *walk)
{
        return walk->levels[walk->depth - 1].pgno;
}

/* ---- payloads and overflow chains ---- */

struct chain {
        struct treewalk *walk;
        uint32_t first;
};

static int clear_chain(void *context, uint32_t pgno, unsigned position)
{
        struct treewalk *walk = ((struct chain *)context)->walk;
        pagemap_clear(walk->diff->map, walk->tree, pgno);
        return 0;
}

static int note_chain(void *context, uint32_t pgno, unsigned position)
{
        struct chain *chain = context;
        struct pagemap_owner owner = {.tree = chain->walk->tree};
        if (position == 0)
                chain->first = pgno;
        owner.kind = position == 0 ? PAGEMAP_OVERFLOW_FIRST : PAGEMAP_OVERFLOW_LATER;
        owner.parent = position == 0 ? treewalk_page(chain->walk) : chain->first;
        return treediff_note(chain->walk->diff, pgno, owner);
}

int treewalk_payload(struct treewalk *walk)
{
        struct chain chain = {.walk = walk};
        struct treediff *diff = walk->diff;
        struct buf *buf = &diff->payloads[walk->side];
        if (buf->capacity > PAYLOAD_KEPT)
                buf_release(buf);
        buf_reset(buf);
        diff->entered = treewalk_page(walk);
        diff->entered_side = walk->side;
        if (walk->side == TREEWALK_OLD)
                return btpage_payload(&walk->cell, &diff->old_source, clear_chain, &chain, buf);
        return btpage_payload(&walk->cell, &diff->new_source, note_chain, &chain, buf);
}

int treewalk_keep(struct treewalk *walk)
{
        uint32_t first = walk->cell.overflow;
        if (first == 0 || pagemap_get(walk->diff->map, first).parent == treewalk_page(walk))
                return 0;
        struct chain chain = {.walk = walk};
        return note_chain(&chain, first, 0);
}
