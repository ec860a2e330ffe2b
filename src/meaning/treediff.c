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
#include "meaning/treewalk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"

enum { OLD = TREEWALK_OLD, NEW = TREEWALK_NEW };

enum tree_flags {
        TREE_TOUCHED = 1 << 0,
        TREE_RESHAPED = 1 << 1, /* an interior page was written: pages may have left */
};

bool treediff_is_written(const struct treediff *diff, uint32_t pgno)
{
        return frames_find(diff->changed, pgno) != 0;
}

bool treediff_has_flag(const struct treediff *diff, uint32_t pgno, uint32_t flag)
{
        return frames_find(&diff->flags, pgno) & flag;
}

/* Most children of a page on the path do not matter; the sieve says so faster than the maps. */
static void sieve_add(struct treediff *diff, uint32_t pgno)
{
        diff->sieve[pgno / 64 % 16] |= UINT64_C(1) << pgno % 64;
}

bool treediff_in_sieve(const struct treediff *diff, uint32_t pgno)
{
        return diff->sieve[pgno / 64 % 16] >> pgno % 64 & 1;
}

int treediff_add_flag(struct treediff *diff, uint32_t pgno, uint32_t flag)
{
        sieve_add(diff, pgno);
        return frames_put(&diff->flags, pgno, frames_find(&diff->flags, pgno) | flag);
}

int treediff_note(struct treediff *diff, uint32_t pgno, struct pagemap_owner owner)
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
        while (parent != 0 && !treediff_has_flag(diff, parent, FLAG_PATH)) {
                if (treediff_add_flag(diff, parent, FLAG_PATH) < 0)
                        return -ENOMEM;
                parent = pagemap_get(diff->map, parent).parent;
        }
        return 0;
}

static int flag_chain(struct treediff *diff, uint32_t first)
{
        uint32_t leaf = pagemap_get(diff->map, first).parent;
        if (treediff_add_flag(diff, first, FLAG_CHAIN) < 0 ||
                treediff_add_flag(diff, leaf, FLAG_HOLDER) < 0)
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

/* ---- rows ---- */

static bool is_same_cell(
        const struct treediff *diff, const struct btcell *a, const struct btcell *b)
{
        if (a->payload_size != b->payload_size || a->local_size != b->local_size ||
                a->overflow != b->overflow)
                return false;
        if (a->local_size > 0 && memcmp(a->local, b->local, a->local_size) != 0)
                return false;
        return a->overflow == 0 || (!treediff_is_written(diff, a->overflow) &&
                                           !treediff_has_flag(diff, a->overflow, FLAG_CHAIN));
}

static int compare_row(struct treewalk *old, struct treewalk *new, treediff_row row, void *context)
{
        struct treediff *diff = old->diff;
        /* Where another tree took the place of the old one, its columns may be others too, and the
         * same bytes other values. */
        if (!new->is_whole && is_same_cell(diff, &old->cell, &new->cell))
                return treewalk_keep(new);
        int r = treewalk_payload(old);
        if (r == 0)
                r = treewalk_payload(new);
        const struct buf *a = &diff->payloads[OLD], *b = &diff->payloads[NEW];
        if (r < 0)
                return r;
        if (!new->is_whole && a->size == b->size &&
                (a->size == 0 || memcmp(a->data, b->data, a->size) == 0))
                return 0;
        return row(context, old->cell.rowid, a, b);
}

static int merge_step(struct treewalk *old, struct treewalk *new, treediff_row row, void *context)
{
        struct treediff *diff = old->diff;
        bool has_old = old->has_row && (!new->has_row || old->cell.rowid <= new->cell.rowid);
        bool has_new = new->has_row && (!old->has_row || new->cell.rowid <= old->cell.rowid);
        int r = 0;
        if (has_old && has_new)
                r = compare_row(old, new, row, context);
        else if ((r = treewalk_payload(has_old ? old : new)) == 0)
                r = row(context, has_old ? old->cell.rowid : new->cell.rowid,
                        has_old ? &diff->payloads[OLD] : NULL,
                        has_old ? NULL : &diff->payloads[NEW]);
        if (r == 0 && has_old)
                r = treewalk_next(old);
        if (r == 0 && has_new)
                r = treewalk_next(new);
        return r;
}

static int merge(struct treewalk *old, struct treewalk *new, treediff_row row, void *context)
{
        int r = treewalk_next(old);
        if (r == 0)
                r = treewalk_next(new);
        while (r == 0 && (old->has_row || new->has_row))
                r = merge_step(old, new, row, context);
        return r;
}

static int tell_side(struct treewalk *walk, treediff_row row, void *context)
{
        const struct buf *payload = &walk->diff->payloads[walk->side];
        int r = treewalk_next(walk);
        while (r == 0 && walk->has_row) {
                int64_t rowid = walk->is_index ? 0 : walk->cell.rowid;
                r = treewalk_payload(walk);
                if (r == 0)
                        r = row(context, rowid, walk->side == OLD ? payload : NULL,
                                walk->side == OLD ? NULL : payload);
                if (r == 0)
                        r = treewalk_next(walk);
        }
        return r;
}

int treediff_compare(
        struct treediff *diff, const struct treediff_pair *pair, treediff_row row, void *context)
{
        _cleanup_free_ struct treewalk *walks = calloc(2, sizeof(*walks));
        if (!walks)
                return -ENOMEM;
        struct treewalk *old = &walks[OLD], *new = &walks[NEW];
        bool has_moved = pair->old_root != pair->new_root;
        *old = (struct treewalk){.diff = diff,
                .side = OLD,
                .tree = pair->tree,
                .is_index = pair->old_is_index,
                .is_whole = pair->is_whole};
        *new = (struct treewalk){.diff = diff,
                .side = NEW,
                .tree = pair->tree,
                .is_index = pair->new_is_index,
                .is_whole = pair->is_whole};
        int r = 0;
        if (!pair->is_whole && (has_moved || frames_find(&diff->trees, pair->tree) & TREE_RESHAPED))
                r = treewalk_flag_kids(diff, pair->new_root, pair->new_is_index);
        if (r == 0)
                r = treewalk_begin(old, pair->old_root, has_moved || pair->is_whole);
        if (r == 0)
                r = treewalk_begin(new, pair->new_root, false);
        if (r < 0)
                return r;
        if (!pair->old_is_index && !pair->new_is_index)
                return merge(old, new, row, context);
        r = tell_side(old, row, context);
        return r < 0 ? r : tell_side(new, row, context);
}

int treediff_run(
        struct treediff *diff, uint16_t tree, uint32_t root, treediff_row row, void *context)
{
        struct treediff_pair pair = {.tree = tree, .old_root = root, .new_root = root};
        return treediff_compare(diff, &pair, row, context);
}

uint32_t treediff_bad_page(const struct treediff *diff, bool *ret_is_old)
{
        *ret_is_old = diff->entered_side == OLD;
        return diff->entered;
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
        for (unsigned i = 0; i < TREEWALK_DEPTH; i++) {
                free(diff->pages[OLD][i]);
                free(diff->pages[NEW][i]);
        }
        free(diff->scratch[OLD]);
        free(diff->scratch[NEW]);
        buf_release(&diff->payloads[OLD]);
        buf_release(&diff->payloads[NEW]);
        *diff = (struct treediff){0};
}
