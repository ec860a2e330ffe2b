/* SPDX-License-Identifier: MIT
 *
 * Trees of two hostile states: the page map, the scan, and the difference, there and back. Input:
 * pages of the old state, flags, the two roots, a bit for each page that says whether to lie about
 * its being written; then pages of 512 bytes, old ones first.
 */
#include "fuzz.h"
#include "meaning/tablescan.h"
#include "meaning/treediff.h"

enum { PAGE = 512, LIES = 16, TREE = 2 };

struct state {
        struct fuzz_pages pages;
        struct btpage_source source;
        uint8_t scratch[PAGE];
        uint32_t root;
        bool is_index;
        uint64_t rows;
};

static void open_state(struct state *s, const uint8_t *bytes, uint32_t pages)
{
        s->pages = (struct fuzz_pages){bytes, pages, PAGE};
        s->source = (struct btpage_source){.read = fuzz_read_page,
                .context = &s->pages,
                .usable = PAGE,
                .page_size = PAGE,
                .pages = pages,
                .scratch = s->scratch};
}

static int count_scanned(void *context, int64_t rowid, const struct buf *payload)
{
        FUZZ_CHECK(payload != NULL);
        (*(uint64_t *)context)++;
        return 0;
}

static int count_changed(void *context, int64_t rowid, const struct buf *old, const struct buf *new)
{
        FUZZ_CHECK(old || new);
        (*(uint64_t *)context)++;
        return 0;
}

static const uint8_t *page_of(const struct state *s, uint32_t pgno)
{
        return s->pages.bytes + (size_t)(pgno - 1) * PAGE;
}

/* What differs was written, but for lies; a lie about what does not differ is a page written as it
 * was. */
static void find_changed(const struct state *old, const struct state *new, const uint8_t *lies,
        struct frames *frames)
{
        for (uint32_t pgno = 1; pgno <= new->pages.pages; pgno++) {
                bool is_lie = pgno < LIES * 8 && (lies[pgno / 8] >> pgno % 8 & 1);
                bool is_equal = pgno <= old->pages.pages &&
                                memcmp(page_of(old, pgno), page_of(new, pgno), PAGE) == 0;
                if (is_equal == is_lie)
                        FUZZ_CHECK(frames_put(frames, pgno, pgno) == 0);
        }
}

static void compare(struct treediff *diff, struct pagemap *map, struct state *old,
        struct state *new, const uint8_t *lies, bool is_whole)
{
        struct frames changed = {0};
        uint64_t rows = 0;
        struct treediff_pair pair = {.tree = TREE,
                .old_root = old->root,
                .new_root = new->root,
                .old_is_index = old->is_index,
                .new_is_index = new->is_index,
                .is_whole = is_whole};
        find_changed(old, new, lies, &changed);
        FUZZ_CHECK(treediff_begin(diff, map, &changed, &old->source, &new->source) == 0);
        int r = treediff_compare(diff, &pair, count_changed, &rows);
        FUZZ_CHECK(r == 0 || r == -EBADMSG);
        if (r < 0)
                treediff_forget(diff, TREE);
        FUZZ_CHECK(treediff_finish(diff) == 0);
        frames_release(&changed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct state old, new;
        struct treediff diff = {0};
        struct pagemap map = {0};
        struct fuzz fuzz = {data, size};
        uint32_t old_pages = fuzz_u8(&fuzz), flags = fuzz_u8(&fuzz);
        old.root = fuzz_u8(&fuzz);
        new.root = fuzz_u8(&fuzz);
        if (fuzz.size < LIES)
                return 0;
        const uint8_t *lies = fuzz.bytes;
        uint32_t pages = (uint32_t)((fuzz.size - LIES) / PAGE);
        old_pages = old_pages < pages ? old_pages : pages;
        open_state(&old, fuzz.bytes + LIES, old_pages);
        open_state(&new, fuzz.bytes + LIES + (size_t)old_pages * PAGE, pages - old_pages);
        old.is_index = flags & 1;
        new.is_index = flags & 2;
        int r = tablescan_rows(old.root, &old.source, count_scanned, &old.rows);
        FUZZ_CHECK(r == 0 || r == -EBADMSG);
        r = pagemap_build_tree(&map, TREE, old.root, &old.source);
        FUZZ_CHECK(r == 0 || r == -EBADMSG);
        compare(&diff, &map, &old, &new, lies, flags & 4);
        compare(&diff, &map, &new, &old, lies, flags & 8);
        treediff_release(&diff);
        pagemap_release(&map);
        return 0;
}
