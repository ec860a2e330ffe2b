/* SPDX-License-Identifier: MIT
 *
 * walframe: reads the headers of a WAL file and runs its checksum.
 *
 * It says what the bytes hold. Frames with a wrong checksum can be committed, and frames with
 * a right one need not be: what counts is what the wal-index publishes, and that is asked
 * elsewhere.
 */
#include "bytes/walframe.h"

#include <errno.h>
#include <string.h>

#include "ground/bytes.h"

enum {
        MAGIC = 0x377f0682, /* + 1 where the checksum's words are big-endian */
        VERSION = 3007000,
        CHECKED_HEADER = 24, /* bytes of the file header that its checksum covers */
        PAGE_SIZE_MIN = 512,
        PAGE_SIZE_MAX = 65536,
};

static bool is_page_size(uint32_t size)
{
        return size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX && (size & (size - 1)) == 0;
}

int walframe_parse_file(const uint8_t bytes[WALFRAME_FILE_HEADER], struct walframe_file *ret_file)
{
        uint32_t magic = be32(bytes);
        if ((magic & ~1u) != MAGIC || be32(bytes + 4) != VERSION)
                return -EBADMSG;
        struct walframe_file file = {
                .big_endian = magic & 1,
                .page_size = be32(bytes + 8),
                .sequence = be32(bytes + 12),
                .checksum = {be32(bytes + 24), be32(bytes + 28)},
        };
        memcpy(file.salt, bytes + 16, sizeof(file.salt));
        uint32_t sum[2] = {0, 0};
        walframe_checksum(file.big_endian, bytes, CHECKED_HEADER, sum);
        if (!is_page_size(file.page_size) || sum[0] != file.checksum[0] ||
                sum[1] != file.checksum[1])
                return -EBADMSG;
        *ret_file = file;
        return 0;
}

void walframe_parse(const uint8_t bytes[WALFRAME_HEADER], struct walframe *ret_frame)
{
        *ret_frame = (struct walframe){
                .pgno = be32(bytes),
                .pages = be32(bytes + 4),
                .checksum = {be32(bytes + 16), be32(bytes + 20)},
        };
        memcpy(ret_frame->salt, bytes + 8, sizeof(ret_frame->salt));
}

uint64_t walframe_offset(uint32_t number, uint32_t page_size)
{
        return WALFRAME_FILE_HEADER + ((uint64_t)number - 1) * (WALFRAME_HEADER + page_size);
}

static uint32_t word(bool big_endian, const uint8_t *p)
{
        uint32_t v = be32(p);
        return big_endian ? v : __builtin_bswap32(v);
}

void walframe_checksum(bool big_endian, const uint8_t *bytes, uint32_t size, uint32_t sum[2])
{
        uint32_t first = sum[0], second = sum[1];
        for (uint32_t at = 0; at < size; at += 8) {
                first += word(big_endian, bytes + at) + second;
                second += word(big_endian, bytes + at + 4) + first;
        }
        sum[0] = first;
        sum[1] = second;
}
