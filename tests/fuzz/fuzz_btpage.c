/* SPDX-License-Identifier: MIT
 *
 * Cells, overflow chains and records of hostile pages: one byte that says how many bytes at the end
 * of a page are reserved, then pages of 512 bytes.
 */
#include "bytes/btpage.h"
#include "bytes/record.h"
#include "fuzz.h"

enum { PAGE = 512, COLUMNS = 64 };

static int visit(void *context, uint32_t pgno, unsigned position)
{
        const struct fuzz_pages *pages = context;
        FUZZ_CHECK(pgno >= 2 && pgno <= pages->pages && position <= pages->pages);
        return 0;
}

static void look_at_record(const struct buf *payload)
{
        struct value values[COLUMNS];
        size_t count = 0;
        int r = record_decode(payload->data, payload->size, values, COLUMNS, &count);
        FUZZ_CHECK((r == 0 && count <= COLUMNS) || r == -EBADMSG);
        for (size_t i = 0; r == 0 && i < count; i++) {
                const struct value *v = &values[i];
                if (v->type == VALUE_TEXT || v->type == VALUE_BLOB)
                        FUZZ_CHECK(v->size == 0 ||
                                   (v->bytes >= payload->data &&
                                           v->bytes + v->size <= payload->data + payload->size));
        }
}

static void look_at_cell(const struct btpage *page, unsigned i, const struct btpage_source *source)
{
        struct btcell cell;
        struct buf payload = BUF_INIT;
        int r = btpage_cell(page, i, &cell);
        FUZZ_CHECK(r == 0 || r == -EBADMSG);
        if (r < 0)
                return;
        if (cell.local_size > 0)
                FUZZ_CHECK(cell.local >= page->bytes &&
                           cell.local + cell.local_size <= page->bytes + source->usable);
        FUZZ_CHECK(cell.local_size <= cell.payload_size);
        FUZZ_CHECK((cell.overflow != 0) == (cell.local_size < cell.payload_size));
        r = btpage_payload(&cell, source, visit, source->context, &payload);
        FUZZ_CHECK(r == 0 || r == -EBADMSG);
        FUZZ_CHECK(r < 0 || payload.size == cell.payload_size);
        if (r == 0)
                look_at_record(&payload);
        FUZZ_CHECK(btpage_chain(&cell, source, visit, source->context) == r);
        buf_release(&payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        uint8_t scratch[PAGE];
        struct fuzz fuzz = {data, size};
        uint32_t usable = PAGE - fuzz_u8(&fuzz) % 33;
        struct fuzz_pages pages = {fuzz.bytes, (uint32_t)(fuzz.size / PAGE), PAGE};
        struct btpage_source source = {.read = fuzz_read_page,
                .context = &pages,
                .usable = usable,
                .page_size = PAGE,
                .pages = pages.pages,
                .scratch = scratch};
        for (uint32_t pgno = 1; pgno <= pages.pages; pgno++) {
                struct btpage page;
                uint32_t child;
                if (btpage_open(pages.bytes + (size_t)(pgno - 1) * PAGE, usable, pgno, &page) < 0)
                        continue;
                for (unsigned i = 0; i < page.cells; i++)
                        look_at_cell(&page, i, &source);
                for (unsigned i = 0; !btpage_is_leaf(&page) && i <= page.cells; i++)
                        FUZZ_CHECK(btpage_child(&page, i, &child) < 0 || child != 0);
        }
        return 0;
}
