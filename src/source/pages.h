/* SPDX-License-Identifier: MIT
 *
 * pages: "page P as of a commit": its newest frame up to that commit, else the database file.
 *
 * Two states are on offer at once: old, before the running transaction, and new, after it. It
 * relies on the pin: the database file holds nothing newer than the old state of any page that
 * has no frame in the old map.
 */
#ifndef CDC_PAGES_H
#define CDC_PAGES_H

#include "source/database.h"
#include "source/frames.h"

struct pages {
        const struct database *database; /* borrowed */
        const struct frames *base;       /* borrowed: frames up to the commit before */
        const struct frames *changed;    /* borrowed: frames of the running transaction */
};

/* Read page_size bytes. 0, -EBADMSG if the page lies beyond the file, or -EIO. */
int pages_read_old(const struct pages *pages, uint32_t pgno, uint8_t *ret_page);
int pages_read_new(const struct pages *pages, uint32_t pgno, uint8_t *ret_page);
/* The page as it stands in the database file. */
int pages_read_main(const struct database *database, uint32_t pgno, uint8_t *ret_page);
/* The image of one frame. */
int pages_read_frame(const struct database *database, uint32_t frame, uint8_t *ret_page);

#endif
