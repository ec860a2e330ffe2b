/* SPDX-License-Identifier: MIT
 *
 * frames: page number → frame number, the newest frame of each page up to some commit.
 * A hash map of two u32; frame 0 means none. Knows no file.
 */
#ifndef CDC_FRAMES_H
#define CDC_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames {
        struct frames_entry {
                uint32_t pgno; /* 0 = empty slot */
                uint32_t frame;
        } * entries;     /* owned */
        size_t capacity; /* a power of two, or 0 */
        size_t count;
};

void frames_release(struct frames *frames);
/* Forgets all, keeps at most the memory of a small map. */
void frames_clear(struct frames *frames);
/* Frame of the page, or 0. */
uint32_t frames_find(const struct frames *frames, uint32_t pgno);
/* Sets the page's frame. 0 or -ENOMEM. */
int frames_put(struct frames *frames, uint32_t pgno, uint32_t frame);
/* Puts every entry of `from`. 0 or -ENOMEM. */
int frames_merge(struct frames *frames, const struct frames *from);
/* The pages in ascending order; the caller frees. 0 or -ENOMEM. */
int frames_pages(const struct frames *frames, uint32_t **ret_pages);

#endif
