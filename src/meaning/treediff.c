/* SPDX-License-Identifier: MIT
 *
 * treediff: see the header. What makes it right:
 *
 * - A page counts only if it can be reached from the root in that state. Images of freed pages
 *   stand in the log and look alive.
 * - A page that left the tree is found through its parent: an old child of a written interior page
 *   that no written interior page of the new tree has as a child. Its rows come from the old state.
 * - A page that was not written has the same content before and after, so a new child that was not
 *   written must have been in the tree before.
 */
#include "meaning/treediff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"

enum { DEPTH_LIMIT = 20, PAYLOAD_KEPT = 1 << 22, OLD = 0, NEW = 1 };

enum page_flags {
        FLAG_PATH = 1 << 0,  /* something below it was written */
        FLAG_LEAF = 1 << 1,  /* a leaf of which an overflow chain was written */
        FLAG_CHAIN = 1 << 2, /* first page of a chain of which a page was written */
        FLAG_KID = 1 << 3,   /* child of a written interior page of the new tree */
};

enum tree_flags {
        TREE_TOUCHED = 1 << 0,
        TREE_RESHAPED = 1 << 1, /* an interior page was written: pages may have left */
};

static bool is_written(const struct treediff *diff, uint32_t pgno)
{
        return frames_find(diff->changed, pgno) != 0;
}

static bool has_flag(const struct treediff *diff, uint32_t pgno, uint32_t flag)
{
        return frames_find(&diff->flags, pgno) & flag;
}

/* Most children of a page on the path do not matter; the sieve says so faster than the maps. */
static void sieve_add(struct treediff *diff, uint32_t pgno)
{
        diff->sieve[pgno / 64 % 16] |= UINT64_C(1) << pgno % 64;
}

static bool sieve_has(const struct treediff *diff, uint32_t pgno)
{
        return diff->sieve[pgno / 64 % 16] >> pgno % 64 & 1;
}

static int add_flag(struct treediff *diff, uint32_t pgno, uint32_t flag)
{
        sieve_add(diff, pgno);
        return frames_put(&diff->flags, pgno, frames_find(&diff->flags, pgno) | flag);
}

static int note(struct treediff *diff, uint32_t pgno, struct pagemap_owner owner)
{
        if (diff->note_count == diff->note_capacity) {
                size_t capacity = diff->note_capacity ? diff->note_capacity * 2 : 256;
                struct treediff_note *notes = realloc(diff->notes, capacity * sizeof(*notes));
                if (!notes)
                        return -ENOMEM;
                diff->notes = notes;
                diff->note_capacity = capacity;
        }
        diff->notes[diff->note_count++] = (struct treediff_note){.pgno = pgno, .owner = owner};
        return 0;
}

/* ---- which trees are touched, and where ---- */

static int flag_path(struct treediff *diff, uint32_t pgno)
{
        uint32_t parent = pagemap_get(diff->map, pgno).parent;
        while (parent != 0 && !has_flag(diff, parent, FLAG_PATH)) {
                if (add_flag(diff, parent, FLAG_PATH) < 0)
                        return -ENOMEM;
                parent = pagemap_get(diff->map, parent).parent;
        }
        return 0;
}

static int flag_chain(struct treediff *diff, uint32_t first)
{
        uint32_t leaf = pagemap_get(diff->map, first).parent;
        if (add_flag(diff, first, FLAG_CHAIN) < 0 || add_flag(diff, leaf, FLAG_LEAF) < 0)
                return -ENOMEM;
        return flag_path(diff, leaf);
}

static int flag_page(struct treediff *diff, uint32_t pgno)
{
        struct pagemap_owner owner = pagemap_get(diff->map, pgno);
        if (owner.tree == 0)
                return 0;
        uint32_t tree = frames_find(&diff->trees, owner.tree) | TREE_TOUCHED;
        if (owner.kind == PAGEMAP_INTERIOR)
                tree |= TREE_RESHAPED;
        if (frames_put(&diff->trees, owner.tree, tree) < 0)
                return -ENOMEM;
        switch (owner.kind) {
        case PAGEMAP_OVERFLOW_FIRST:
                return flag_chain(diff, pgno);
        case PAGEMAP_OVERFLOW_LATER:
                return flag_chain(diff, owner.parent);
        default:
                return flag_path(diff, pgno);
        }
}

static int own_scratch(struct treediff *diff, int side, const struct btpage_source *source)
{
        if (!diff->scratch[side])
                diff->scratch[side] = malloc(source->page_size);
        return diff->scratch[side] ? 0 : -ENOMEM;
}

int treediff_begin(struct treediff *diff, struct pagemap *map, const struct frames *changed,
        const struct btpage_source *old_source, const struct btpage_source *new_source)
{
        if (own_scratch(diff, OLD, old_source) < 0 || own_scratch(diff, NEW, new_source) < 0)
                return -ENOMEM;
        diff->map = map;
        diff->changed = changed;
        diff->old_source = *old_source;
        diff->new_source = *new_source;
        diff->old_source.scratch = diff->scratch[OLD];
        diff->new_source.scratch = diff->scratch[NEW];
        diff->note_count = 0;
        frames_clear(&diff->flags);
        frames_clear(&diff->trees);
        memset(diff->sieve, 0, sizeof(diff->sieve));
        for (size_t i = 0; i < changed->capacity; i++) {
                uint32_t pgno = changed->entries[i].pgno;
                if (pgno == 0)
                        continue;
                sieve_add(diff, pgno);
                if (flag_page(diff, pgno) < 0)
                        return -ENOMEM;
        }
        return 0;
}

bool treediff_touches(const struct treediff *diff, uint16_t tree)
{
        return frames_find(&diff->trees, tree) != 0;
}

/* ---- reading pages ---- */

static int read_page(
        struct treediff *diff, int side, unsigned depth, uint32_t pgno, struct btpage *ret_page)
{
        struct btpage_source *source = side == OLD ? &diff->old_source : &diff->new_source;
        if (depth >= DEPTH_LIMIT || pgno < 1 || pgno > source->pages)
                return -EBADMSG;
        uint8_t **buffer = &diff->pages[side][depth];
        if (!*buffer && !(*buffer = malloc(source->page_size)))
                return -ENOMEM;
        int r = source->read(source->context, pgno, *buffer);
        if (r == 0)
                r = btpage_open(*buffer, source->usable, pgno, ret_page);
        if (r == 0 && ret_page->type != BTPAGE_TABLE_LEAF &&
                ret_page->type != BTPAGE_TABLE_INTERIOR)
                r = -EBADMSG;
        return r;
}

/* ---- children of the new tree's written interior pages ---- */

/* All children of a page are of one kind, so the first tells. */
static int children_are_leaves(struct treediff *diff, const struct btpage *page, unsigned depth)
{
        struct btpage first;
        uint32_t child;
        int r = btpage_child(page, 0, &child);
        if (r < 0)
                return r;
        if (!is_written(diff, child))
                return pagemap_get(diff->map, child).kind != PAGEMAP_INTERIOR;
        r = read_page(diff, NEW, depth + 1, child, &first);
        return r < 0 ? r : btpage_is_leaf(&first);
}

static int flag_kids(struct treediff *diff, uint32_t pgno, unsigned depth, uint64_t *entered)
{
        struct btpage page;
        /* In a tree no page comes twice; bytes that lead round and round end here. */
        if ((*entered)++ > diff->new_source.pages)
                return -EBADMSG;
        int r = read_page(diff, NEW, depth, pgno, &page);
        if (r < 0 || btpage_is_leaf(&page))
                return r;
        int above_leaves = children_are_leaves(diff, &page, depth);
        if (above_leaves < 0)
                return above_leaves;
        for (unsigned i = 0; r == 0 && i <= page.cells; i++) {
                uint32_t child;
                r = btpage_child(&page, i, &child);
                if (r == 0 && is_written(diff, pgno))
                        r = add_flag(diff, child, FLAG_KID);
                bool is_on_path = is_written(diff, child) || has_flag(diff, child, FLAG_PATH);
                if (r == 0 && !above_leaves && is_on_path)
                        r = flag_kids(diff, child, depth + 1, entered);
        }
        return r;
}

/* ---- a walk over the touched part of one state ---- */

struct walk {
        struct treediff *diff;
        int side;
        uint16_t tree;
        unsigned depth; /* levels entered; 0 = at the end */
        struct walk_level {
                struct btpage page;
                uint32_t pgno;
                unsigned next;   /* cell or child to look at next */
                bool is_written; /* by the transaction */
                bool is_removed; /* old: the page left the tree without being written */
        } levels[DEPTH_LIMIT];
        struct btcell cell; /* the row it stands at */
        bool has_row;
        bool has_last;
        int64_t last;
        uint64_t entered;
};

/* Enters a page into the books: what is written or gone is no longer owned as before, and what is
 * written and reachable is owned anew. */
static int account(struct walk *walk, uint32_t pgno, bool is_removed, bool is_leaf)
{
        bool written = is_written(walk->diff, pgno);
        if (walk->side == OLD) {
                if (written || is_removed)
                        pagemap_clear(walk->diff->map, walk->tree, pgno);
                return 0;
        }
        if (!written)
                return 0;
        struct pagemap_owner owner = {
                .parent = walk->depth > 0 ? walk->levels[walk->depth - 1].pgno : 0,
                .tree = walk->tree,
                .kind = is_leaf ? PAGEMAP_LEAF : PAGEMAP_INTERIOR,
        };
        return note(walk->diff, pgno, owner);
}

static int walk_enter(struct walk *walk, uint32_t pgno, bool is_removed)
{
        struct walk_level level = {.pgno = pgno, .is_removed = is_removed};
        level.is_written = is_written(walk->diff, pgno);
        const struct btpage_source *source =
                walk->side == OLD ? &walk->diff->old_source : &walk->diff->new_source;
        if (walk->entered++ > source->pages)
                return -EBADMSG;
        int r = read_page(walk->diff, walk->side, walk->depth, pgno, &level.page);
        if (r == 0)
                r = account(walk, pgno, is_removed, btpage_is_leaf(&level.page));
        if (r == 0)
                walk->levels[walk->depth++] = level;
        return r;
}

/* A child that was not written keeps its content, and may hang under another parent now. */
static int adopt(struct walk *walk, uint32_t parent, uint32_t child)
{
        struct pagemap_owner owner = pagemap_get(walk->diff->map, child);
        bool is_page = owner.kind == PAGEMAP_LEAF || owner.kind == PAGEMAP_INTERIOR;
        if (owner.tree != walk->tree || !is_page)
                return -EBADMSG;
        if (owner.parent == parent)
                return 0;
        owner.parent = parent;
        return note(walk->diff, child, owner);
}

/* Under a page that stayed as it was, only a written or flagged child matters. */
static int next_child(struct walk *walk, struct walk_level *level, uint32_t *ret_child)
{
        bool is_any = level->is_written || level->is_removed;
        int r;
        do {
                r = btpage_child(&level->page, level->next++, ret_child);
        } while (r == 0 && !is_any && !sieve_has(walk->diff, *ret_child) &&
                 level->next <= level->page.cells);
        return r;
}

static int walk_child(struct walk *walk, struct walk_level *level)
{
        struct treediff *diff = walk->diff;
        uint32_t child;
        int r = next_child(walk, level, &child);
        if (r < 0)
                return r;
        bool written = is_written(diff, child);
        bool parent_written = level->is_written;
        bool is_removed = false;
        if (walk->side == OLD && (parent_written || level->is_removed))
                is_removed = !has_flag(diff, child, FLAG_KID);
        if (walk->side == NEW && parent_written && !written)
                r = adopt(walk, level->pgno, child);
        if (r == 0 && (written || is_removed || has_flag(diff, child, FLAG_PATH | FLAG_LEAF)))
                r = walk_enter(walk, child, is_removed);
        return r;
}

static int walk_cell(struct walk *walk, struct walk_level *level)
{
        int r = btpage_cell(&level->page, level->next++, &walk->cell);
        if (r < 0)
                return r;
        if (walk->has_last && walk->cell.rowid <= walk->last)
                return -EBADMSG;
        walk->has_last = true;
        walk->last = walk->cell.rowid;
        walk->has_row = true;
        return 0;
}

/* Moves to the next row; has_row is false at the end. */
static int walk_next(struct walk *walk)
{
        int r = 0;
        walk->has_row = false;
        while (r == 0 && walk->depth > 0 && !walk->has_row) {
                struct walk_level *level = &walk->levels[walk->depth - 1];
                bool is_leaf = btpage_is_leaf(&level->page);
                if (level->next >= level->page.cells + (is_leaf ? 0u : 1u))
                        walk->depth--;
                else
                        r = is_leaf ? walk_cell(walk, level) : walk_child(walk, level);
        }
        return r;
}

static uint32_t walk_leaf(const struct walk *walk)
{
        return walk->levels[walk->depth - 1].pgno;
}

/* ---- rows ---- */

struct chain {
        struct walk *walk;
        uint32_t first;
};

static int clear_chain(void *context, uint32_t pgno, unsigned position)
{
        struct walk *walk = ((struct chain *)context)->walk;
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
        owner.parent = position == 0 ? walk_leaf(chain->walk) : chain->first;
        return note(chain->walk->diff, pgno, owner);
}

/* Reads the row's whole payload and keeps the books on its overflow chain. */
static int read_payload(struct walk *walk)
{
        struct chain chain = {.walk = walk};
        struct treediff *diff = walk->diff;
        struct buf *buf = &diff->payloads[walk->side];
        if (buf->capacity > PAYLOAD_KEPT)
                buf_release(buf);
        buf_reset(buf);
        if (walk->side == OLD)
                return btpage_payload(&walk->cell, &diff->old_source, clear_chain, &chain, buf);
        return btpage_payload(&walk->cell, &diff->new_source, note_chain, &chain, buf);
}

static bool is_same_cell(
        const struct treediff *diff, const struct btcell *a, const struct btcell *b)
{
        if (a->payload_size != b->payload_size || a->overflow != b->overflow)
                return false;
        if (a->local_size > 0 && memcmp(a->local, b->local, a->local_size) != 0)
                return false;
        return a->overflow == 0 ||
               (!is_written(diff, a->overflow) && !has_flag(diff, a->overflow, FLAG_CHAIN));
}

/* The row stands as it stood; its chain, if any, hangs on the leaf where the row is now. */
static int keep_row(struct walk *walk)
{
        uint32_t first = walk->cell.overflow;
        if (first == 0 || pagemap_get(walk->diff->map, first).parent == walk_leaf(walk))
                return 0;
        struct chain chain = {.walk = walk};
        return note_chain(&chain, first, 0);
}

static int compare_row(struct walk *old, struct walk *new, treediff_row row, void *context)
{
        struct treediff *diff = old->diff;
        if (is_same_cell(diff, &old->cell, &new->cell))
                return keep_row(new);
        int r = read_payload(old);
        if (r == 0)
                r = read_payload(new);
        const struct buf *a = &diff->payloads[OLD], *b = &diff->payloads[NEW];
        if (r < 0)
                return r;
        if (a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0))
                return 0;
        return row(context, old->cell.rowid, a, b);
}

static int merge_step(struct walk *old, struct walk *new, treediff_row row, void *context)
{
        struct treediff *diff = old->diff;
        bool has_old = old->has_row && (!new->has_row || old->cell.rowid <= new->cell.rowid);
        bool has_new = new->has_row && (!old->has_row || new->cell.rowid <= old->cell.rowid);
        int r = 0;
        if (has_old && has_new)
                r = compare_row(old, new, row, context);
        else if ((r = read_payload(has_old ? old : new)) == 0)
                r = row(context, has_old ? old->cell.rowid : new->cell.rowid,
                        has_old ? &diff->payloads[OLD] : NULL,
                        has_old ? NULL : &diff->payloads[NEW]);
        if (r == 0 && has_old)
                r = walk_next(old);
        if (r == 0 && has_new)
                r = walk_next(new);
        return r;
}

int treediff_run(
        struct treediff *diff, uint16_t tree, uint32_t root, treediff_row row, void *context)
{
        _cleanup_free_ struct walk *walks = calloc(2, sizeof(*walks));
        if (!walks)
                return -ENOMEM;
        struct walk *old = &walks[OLD], *new = &walks[NEW];
        *old = (struct walk){.diff = diff, .side = OLD, .tree = tree};
        *new = (struct walk){.diff = diff, .side = NEW, .tree = tree};
        uint64_t entered = 0;
        int r = 0;
        if (frames_find(&diff->trees, tree) & TREE_RESHAPED)
                r = flag_kids(diff, root, 0, &entered);
        if (r == 0)
                r = walk_enter(old, root, false);
        if (r == 0)
                r = walk_enter(new, root, false);
        if (r == 0)
                r = walk_next(old);
        if (r == 0)
                r = walk_next(new);
        while (r == 0 && (old->has_row || new->has_row))
                r = merge_step(old, new, row, context);
        return r;
}

void treediff_forget(struct treediff *diff, uint16_t tree)
{
        size_t kept = 0;
        for (size_t i = 0; i < diff->note_count; i++)
                if (diff->notes[i].owner.tree != tree)
                        diff->notes[kept++] = diff->notes[i];
        diff->note_count = kept;
}

int treediff_finish(struct treediff *diff)
{
        for (size_t i = 0; i < diff->note_count; i++)
                if (pagemap_set(diff->map, diff->notes[i].pgno, diff->notes[i].owner) < 0)
                        return -ENOMEM;
        diff->note_count = 0;
        return 0;
}

void treediff_release(struct treediff *diff)
{
        frames_release(&diff->flags);
        frames_release(&diff->trees);
        free(diff->notes);
        for (unsigned i = 0; i < DEPTH_LIMIT; i++) {
                free(diff->pages[OLD][i]);
                free(diff->pages[NEW][i]);
        }
        free(diff->scratch[OLD]);
        free(diff->scratch[NEW]);
        buf_release(&diff->payloads[OLD]);
        buf_release(&diff->payloads[NEW]);
        *diff = (struct treediff){0};
}
