/* SPDX-License-Identifier: MIT
 *
 * frames: open addressing with linear probing, at most half full, no deletion.
 */
#include "source/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 64, KEPT = 4096 };

void frames_release(struct frames *frames)
{
        free(frames->entries);
        *frames = (struct frames){0};
}

void frames_clear(struct frames *frames)
{
        if (frames->capacity > KEPT)
                frames_release(frames);
        else if (frames->count > 0)
                memset(frames->entries, 0, frames->capacity * sizeof(frames->entries[0]));
        frames->count = 0;
}

static struct frames_entry *find_slot(struct frames_entry *entries, size_t capacity, uint32_t pgno)
{
        size_t i = (pgno * 2654435761u) & (capacity - 1);
        while (entries[i].pgno != 0 && entries[i].pgno != pgno)
                i = (i + 1) & (capacity - 1);
        return &entries[i];
}

uint32_t frames_find(const struct frames *frames, uint32_t pgno)
{
        if (frames->count == 0)
                return 0;
        return find_slot(frames->entries, frames->capacity, pgno)->frame;
}

static int grow(struct frames *frames)
{
        size_t capacity = frames->capacity ? frames->capacity * 2 : SMALLEST;
        struct frames_entry *entries = calloc(capacity, sizeof(*entries));
        if (!entries)
                return -ENOMEM;
        for (size_t i = 0; i < frames->capacity; i++)
                if (frames->entries[i].pgno != 0)
                        *find_slot(entries, capacity, frames->entries[i].pgno) = frames->entries[i];
        free(frames->entries);
        frames->entries = entries;
        frames->capacity = capacity;
        return 0;
}

int frames_put(struct frames *frames, uint32_t pgno, uint32_t frame)
{
        if ((frames->count + 1) * 2 > frames->capacity && grow(frames) < 0)
                return -ENOMEM;
        struct frames_entry *slot = find_slot(frames->entries, frames->capacity, pgno);
        frames->count += slot->pgno == 0;
        *slot = (struct frames_entry){.pgno = pgno, .frame = frame};
        return 0;
}

int frames_merge(struct frames *frames, const struct frames *from)
{
        for (size_t i = 0; i < from->capacity; i++) {
                const struct frames_entry *e = &from->entries[i];
                if (e->pgno != 0 && frames_put(frames, e->pgno, e->frame) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int compare_pages(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
        return x < y ? -1 : x > y;
}

int frames_pages(const struct frames *frames, uint32_t **ret_pages)
{
        size_t count = 0;
        uint32_t *pages = malloc((frames->count + 1) * sizeof(*pages));
        if (!pages)
                return -ENOMEM;
        for (size_t i = 0; i < frames->capacity; i++)
                if (frames->entries[i].pgno != 0)
                        pages[count++] = frames->entries[i].pgno;
        qsort(pages, count, sizeof(*pages), compare_pages);
        *ret_pages = pages;
        return 0;
}
