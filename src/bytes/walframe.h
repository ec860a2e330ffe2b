/* SPDX-License-Identifier: MIT
 *
 * walframe: the WAL's file header, frame headers and checksum chain (file format §4).
 * Says what the bytes hold; whether a frame is committed is not its business.
 */
#ifndef CDC_WALFRAME_H
#define CDC_WALFRAME_H

#include <stdbool.h>
#include <stdint.h>

enum { WALFRAME_FILE_HEADER = 32, WALFRAME_HEADER = 24 };

struct walframe_file {
        bool big_endian; /* words of the checksum */
        uint32_t page_size;
        uint32_t sequence;
        uint8_t salt[8];
        uint32_t checksum[2];
};

struct walframe {
        uint32_t pgno;
        uint32_t pages; /* database size in pages after this commit; 0 = no commit frame */
        uint8_t salt[8];
        uint32_t checksum[2];
};

/* 0, or -EBADMSG for a wrong magic, version, page size or checksum. */
int walframe_parse_file(const uint8_t bytes[WALFRAME_FILE_HEADER], struct walframe_file *ret_file);
void walframe_parse(const uint8_t bytes[WALFRAME_HEADER], struct walframe *ret_frame);
/* Offset of frame `number` (1, 2, …) in the WAL file; its page image follows the header. */
uint64_t walframe_offset(uint32_t number, uint32_t page_size);
/* Adds `size` bytes (a multiple of 8) to the running checksum. */
void walframe_checksum(bool big_endian, const uint8_t *bytes, uint32_t size, uint32_t sum[2]);

#endif
