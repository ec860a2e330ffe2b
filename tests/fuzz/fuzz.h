/* SPDX-License-Identifier: MIT
 *
 * fuzz: what the fuzzers share: hostile bytes are taken apart, and a claim that does not hold ends
 * the program, as a sanitizer does.
 */
#ifndef CDC_TESTS_FUZZ_H
#define CDC_TESTS_FUZZ_H

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ground/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(claim) fuzz_check(claim, #claim, __LINE__)

static inline void fuzz_check(bool is_true, const char *claim, int line)
{
        if (is_true)
                return;
        fprintf(stderr, "line %d: does not hold: %s\n", line, claim);
        abort();
}

/* The rest of an input. */
struct fuzz {
        const uint8_t *bytes;
        size_t size;
};

/* Zero at the end. */
static inline uint8_t fuzz_u8(struct fuzz *fuzz)
{
        if (fuzz->size == 0)
                return 0;
        fuzz->size--;
        return *fuzz->bytes++;
}

static inline uint32_t fuzz_u24(struct fuzz *fuzz)
{
        uint32_t high = fuzz_u8(fuzz), middle = fuzz_u8(fuzz);
        return high << 16 | middle << 8 | fuzz_u8(fuzz);
}

/* The bytes up to a separator, which is passed over, as a string; the caller frees it. */
static inline char *fuzz_string(struct fuzz *fuzz, uint8_t separator)
{
        const uint8_t *end = fuzz->size > 0 ? memchr(fuzz->bytes, separator, fuzz->size) : NULL;
        size_t size = end ? (size_t)(end - fuzz->bytes) : fuzz->size;
        char *string = malloc(size + 1);
        FUZZ_CHECK(string != NULL);
        if (size > 0)
                memcpy(string, fuzz->bytes, size);
        string[size] = '\0';
        fuzz->bytes += size + (end != NULL);
        fuzz->size -= size + (end != NULL);
        return string;
}

/* SQLite takes its pages from here: each by itself from the sanitizer's allocator takes long. */
static inline void fuzz_prepare_sqlite(void)
{
        enum { PAGE_AND_HEADER = 1024, PAGE_COUNT = 16384 };
        static bool is_done;
        if (!is_done)
                sqlite3_config(SQLITE_CONFIG_PAGECACHE,
                        malloc((size_t)PAGE_AND_HEADER * PAGE_COUNT), PAGE_AND_HEADER, PAGE_COUNT);
        is_done = true;
}

/* Pages of one size, as a btpage_reader gives them. */
struct fuzz_pages {
        const uint8_t *bytes;
        uint32_t pages, page_size;
};

static inline int fuzz_read_page(void *context, uint32_t pgno, uint8_t *ret_page)
{
        const struct fuzz_pages *pages = context;
        FUZZ_CHECK(pgno >= 1);
        if (pgno > pages->pages)
                return -EBADMSG;
        memcpy(ret_page, pages->bytes + (size_t)(pgno - 1) * pages->page_size, pages->page_size);
        return 0;
}

/* ---- a file that is changed in place ---- */

struct fuzz_patch {
        uint8_t phase;  /* 0 to 3: when */
        bool is_second; /* of two files */
        uint32_t at;
        uint8_t size;
        uint8_t bytes[4];
};

/* False at the end of the input. A patch is 6 bytes: what, where (3), value (2). */
static inline bool fuzz_next_patch(struct fuzz *fuzz, struct fuzz_patch *ret_patch)
{
        if (fuzz->size < 6)
                return false;
        uint8_t what = fuzz_u8(fuzz);
        *ret_patch =
                (struct fuzz_patch){.phase = what & 3, .is_second = what & 4, .at = fuzz_u24(fuzz)};
        uint8_t a = fuzz_u8(fuzz), b = fuzz_u8(fuzz);
        switch (what >> 3 & 3) {
        case 0:
                ret_patch->size = 1;
                ret_patch->bytes[0] = b;
                break;
        case 1:
                ret_patch->size = 2;
                ret_patch->bytes[0] = a;
                ret_patch->bytes[1] = b;
                break;
        default:
                ret_patch->size = 4;
                ret_patch->bytes[2] = a;
                ret_patch->bytes[3] = b;
        }
        return true;
}

#endif
