/* SPDX-License-Identifier: MIT
 *
 * pages: see the header. No cache: a page is read once or twice in a transaction, and the kernel
 * has it.
 */
#include "source/pages.h"

#include <errno.h>

#include "bytes/walframe.h"

int pages_read_frame(const struct database *database, uint32_t frame, uint8_t *ret_page)
{
        uint64_t offset = walframe_offset(frame, database->page_size) + WALFRAME_HEADER;
        int r = database_read_wal(database, offset, ret_page, database->page_size);
        return r == -ENODATA ? -EBADMSG : r;
}

int pages_read_main(const struct database *database, uint32_t pgno, uint8_t *ret_page)
{
        uint64_t offset = (uint64_t)(pgno - 1) * database->page_size;
        int r = database_read_main(database, offset, ret_page, database->page_size);
        return r == -ENODATA ? -EBADMSG : r;
}

int pages_read_old(const struct pages *pages, uint32_t pgno, uint8_t *ret_page)
{
        uint32_t frame = frames_find(pages->base, pgno);
        if (frame != 0)
                return pages_read_frame(pages->database, frame, ret_page);
        return pages_read_main(pages->database, pgno, ret_page);
}

int pages_read_new(const struct pages *pages, uint32_t pgno, uint8_t *ret_page)
{
        uint32_t frame = frames_find(pages->changed, pgno);
        if (frame != 0)
                return pages_read_frame(pages->database, frame, ret_page);
        return pages_read_old(pages, pgno, ret_page);
}
