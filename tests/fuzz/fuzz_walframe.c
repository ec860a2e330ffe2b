/* SPDX-License-Identifier: MIT
 *
 * The WAL's headers and checksums.
 */
#include "bytes/walframe.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct walframe_file file;
        struct walframe frame;
        if (size < WALFRAME_FILE_HEADER)
                return 0;
        int r = walframe_parse_file(data, &file);
        FUZZ_CHECK(r == 0 || r == -EBADMSG);
        if (r == 0)
                FUZZ_CHECK(file.page_size >= 512 && file.page_size <= 65536 &&
                           (file.page_size & (file.page_size - 1)) == 0);
        for (size_t at = WALFRAME_FILE_HEADER; at + WALFRAME_HEADER <= size; at += WALFRAME_HEADER)
                walframe_parse(data + at, &frame);
        uint32_t sum[2] = {1, 2};
        walframe_checksum(size % 2, data, (uint32_t)(size & ~(size_t)7), sum);
        return 0;
}
