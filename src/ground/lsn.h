/* SPDX-License-Identifier: MIT
 *
 * lsn: the 10-byte log sequence number and the update mask.
 *
 * An LSN is generation (4) : frame (4) : slot (2), big-endian, ordered as bytes. Two texts:
 * `0000002d:00000580:0001` (the form of SQL Server's DMVs) and, in file names, the same 20
 * hex digits without colons. Knows nothing of where an LSN comes from.
 */
#ifndef CDC_LSN_H
#define CDC_LSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
        LSN_SIZE = 10,
        LSN_TEXT_SIZE = 23, /* 8:8:4 and the NUL */
        LSN_NAME_SIZE = 21, /* 20 digits and the NUL */
        LSN_SLOT_COMMIT = 1,
        LSN_SLOT_RESYNC = 2,
};

struct lsn {
        uint8_t bytes[LSN_SIZE];
};

struct lsn lsn_make(uint32_t generation, uint32_t frame, uint16_t slot);
uint32_t lsn_generation(struct lsn lsn);
uint32_t lsn_frame(struct lsn lsn);
/* <0, 0, >0 as memcmp. */
int lsn_compare(struct lsn a, struct lsn b);
bool lsn_is_zero(struct lsn lsn);
/* sys.fn_cdc_increment_lsn, sys.fn_cdc_decrement_lsn: the 80-bit neighbour; wraps round. */
struct lsn lsn_increment(struct lsn lsn);
struct lsn lsn_decrement(struct lsn lsn);
/* Takes either text form, in either case, and `0x` + 20 digits. 0 or -EINVAL. */
int lsn_parse(const char *text, struct lsn *ret_lsn);
/* A file name's 20 lower-case digits, exactly, with no terminator demanded. 0 or -EINVAL. */
int lsn_parse_name(const char *name, struct lsn *ret_lsn);
void lsn_format(struct lsn lsn, char ret_text[LSN_TEXT_SIZE]);
void lsn_format_name(struct lsn lsn, char ret_name[LSN_NAME_SIZE]);
/* A change number as the 10 bytes of `__$seqval`. */
struct lsn lsn_from_change(uint64_t change);
uint64_t lsn_to_change(struct lsn seqval);

/* Update mask of `columns` captured columns: mask_size(columns) bytes, big-endian over
 * bytes, ordinal 1 = lowest bit of the last byte (SQL Server, __$update_mask). */
size_t mask_size(unsigned columns);
void mask_set(uint8_t *mask, unsigned columns, unsigned ordinal);
bool mask_is_set(const uint8_t *mask, size_t size, unsigned ordinal);
/* The bits of ordinals 1 to columns, no others. */
void mask_set_all(uint8_t *mask, unsigned columns);

#endif
