/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "bytes/walframe.h"
#include "ground/bytes.h"
#include "ground/cleanup.h"
#include "sample.h"

static void sign_header(bool big_endian, uint8_t header[WALFRAME_FILE_HEADER])
{
        uint32_t sum[2] = {0, 0};
        walframe_checksum(big_endian, header, 24, sum);
        put_be32(header + 24, sum[0]);
        put_be32(header + 28, sum[1]);
}

/* A file header that is right in all respects. */
static void make_header(bool big_endian, uint32_t page_size, uint8_t header[WALFRAME_FILE_HEADER])
{
        put_be32(header, 0x377f0682 + big_endian);
        put_be32(header + 4, 3007000);
        put_be32(header + 8, page_size);
        put_be32(header + 12, 7);
        memcpy(header + 16, "saltSALT", 8);
        sign_header(big_endian, header);
}

Test(walframe, the_checksum_is_that_of_the_file_format)
{
        static const struct {
                const char *name;
                bool big_endian;
                uint32_t seed[2];
                uint8_t bytes[16];
                uint32_t size;
                uint32_t sum[2];
        } cases[] = {
                {"nothing", true, {5, 6}, {0}, 0, {5, 6}},
                {"big-endian words", true, {0, 0}, {0, 0, 0, 1, 0, 0, 0, 2}, 8, {1, 3}},
                {"little-endian words", false, {0, 0}, {0, 0, 0, 1, 0, 0, 0, 2}, 8,
                        {0x01000000, 0x03000000}},
                {"seeded", true, {10, 20}, {0, 0, 0, 1, 0, 0, 0, 2}, 8, {31, 53}},
                {"two pairs", true, {0, 0}, {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4}, 16,
                        {7, 14}},
                {"wrapping", true, {1, 0xffffffff}, {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1}, 8,
                        {0xffffffff, 0xffffffff}},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                uint32_t sum[2] = {cases[i].seed[0], cases[i].seed[1]};
                walframe_checksum(cases[i].big_endian, cases[i].bytes, cases[i].size, sum);
                cr_expect_eq(sum[0], cases[i].sum[0], "%s: %u", cases[i].name, sum[0]);
                cr_expect_eq(sum[1], cases[i].sum[1], "%s: %u", cases[i].name, sum[1]);
        }
}

Test(walframe, a_file_header_is_read_in_either_byte_order_and_every_page_size)
{
        for (uint32_t page_size = 512; page_size <= 65536; page_size *= 2) {
                for (int big_endian = 0; big_endian <= 1; big_endian++) {
                        uint8_t header[WALFRAME_FILE_HEADER];
                        struct walframe_file file;
                        make_header(big_endian, page_size, header);
                        cr_assert_eq(walframe_parse_file(header, &file), 0, "%u", page_size);
                        cr_expect_eq(file.page_size, page_size);
                        cr_expect_eq(file.big_endian, big_endian);
                        cr_expect_eq(file.sequence, 7);
                        cr_expect_eq(memcmp(file.salt, "saltSALT", 8), 0);
                        cr_expect_eq(file.checksum[0], be32(header + 24));
                        cr_expect_eq(file.checksum[1], be32(header + 28));
                }
        }
}

Test(walframe, impossible_page_sizes_are_refused)
{
        static const uint32_t sizes[] = {0, 1, 256, 511, 513, 768, 4095, 65535, 131072, 0x80000000};
        for (size_t i = 0; i < COUNT(sizes); i++) {
                uint8_t header[WALFRAME_FILE_HEADER];
                struct walframe_file file;
                make_header(false, sizes[i], header);
                cr_expect_eq(walframe_parse_file(header, &file), -EBADMSG, "%u", sizes[i]);
        }
}

Test(walframe, another_magic_or_version_is_refused_even_if_the_checksum_is_right)
{
        static const struct {
                const char *name;
                uint32_t magic, version;
        } cases[] = {
                {"magic below", 0x377f0681, 3007000},
                {"magic above", 0x377f0684, 3007000},
                {"version below", 0x377f0682, 3006999},
                {"version above", 0x377f0682, 3007001},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                uint8_t header[WALFRAME_FILE_HEADER];
                struct walframe_file file;
                make_header(false, 4096, header);
                put_be32(header, cases[i].magic);
                put_be32(header + 4, cases[i].version);
                for (int big_endian = 0; big_endian <= 1; big_endian++) {
                        sign_header(big_endian, header);
                        cr_expect_eq(
                                walframe_parse_file(header, &file), -EBADMSG, "%s", cases[i].name);
                }
        }
}

Test(walframe, a_file_header_with_any_bit_flipped_is_refused)
{
        for (unsigned bit = 0; bit < 8 * WALFRAME_FILE_HEADER; bit++) {
                uint8_t header[WALFRAME_FILE_HEADER];
                struct walframe_file file;
                make_header(bit % 2, 4096, header);
                header[bit / 8] ^= (uint8_t)(1u << bit % 8);
                cr_expect_eq(walframe_parse_file(header, &file), -EBADMSG, "%u", bit);
        }
}

Test(walframe, frames_stand_one_after_the_other)
{
        cr_expect_eq(walframe_offset(1, 4096), 32);
        cr_expect_eq(walframe_offset(2, 4096), 32 + 4120);
        cr_expect_eq(walframe_offset(3, 512), 32 + 2 * 536);
        cr_expect_eq(walframe_offset(UINT32_MAX, 65536), 32 + UINT64_C(4294967294) * 65560);
}

struct wal {
        uint8_t *bytes; /* owned */
        size_t size;
        struct walframe_file file;
        uint32_t frames;
};

static void write_wal(struct sample *sample, uint32_t page_size, struct wal *ret_wal)
{
        sample_create(sample, page_size, 0, "UTF-8");
        sample_run(sample, "PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0;"
                           "CREATE TABLE t(a, b);"
                           "INSERT INTO t VALUES(1, zeroblob(100000));"
                           "INSERT INTO t VALUES(2, randomblob(3000));"
                           "BEGIN; UPDATE t SET a = a + 1; DELETE FROM t WHERE a = 2; COMMIT");
        ret_wal->bytes = sample_read_file(sample, "test.db-wal", &ret_wal->size);
        cr_assert_eq(walframe_parse_file(ret_wal->bytes, &ret_wal->file), 0);
        cr_assert_eq(ret_wal->file.page_size, page_size);
        size_t step = WALFRAME_HEADER + page_size;
        cr_assert_eq((ret_wal->size - WALFRAME_FILE_HEADER) % step, 0);
        ret_wal->frames = (uint32_t)((ret_wal->size - WALFRAME_FILE_HEADER) / step);
}

/* Frames from the first on whose checksum continues the chain. */
static uint32_t count_chained(const struct wal *wal)
{
        uint32_t sum[2] = {wal->file.checksum[0], wal->file.checksum[1]};
        for (uint32_t i = 1; i <= wal->frames; i++) {
                const uint8_t *header = wal->bytes + walframe_offset(i, wal->file.page_size);
                struct walframe frame;
                walframe_parse(header, &frame);
                walframe_checksum(wal->file.big_endian, header, 8, sum);
                walframe_checksum(
                        wal->file.big_endian, header + WALFRAME_HEADER, wal->file.page_size, sum);
                if (sum[0] != frame.checksum[0] || sum[1] != frame.checksum[1])
                        return i - 1;
        }
        return wal->frames;
}

Test(walframe, the_chain_of_a_real_wal_holds_to_its_last_frame)
{
        static const uint32_t sizes[] = {512, 4096, 65536};
        for (size_t i = 0; i < COUNT(sizes); i++) {
                struct sample sample;
                struct wal wal;
                unsigned commits = 0;
                struct walframe frame = {0};
                write_wal(&sample, sizes[i], &wal);
                cr_expect_eq(count_chained(&wal), wal.frames, "%u", sizes[i]);
                for (uint32_t number = 1; number <= wal.frames; number++) {
                        walframe_parse(wal.bytes + walframe_offset(number, sizes[i]), &frame);
                        cr_expect_eq(memcmp(frame.salt, wal.file.salt, 8), 0, "%u", number);
                        cr_expect_gt(frame.pgno, 0, "%u", number);
                        commits += frame.pages != 0;
                }
                cr_expect_eq(commits, 4, "%u: four transactions, %u commits", sizes[i], commits);
                cr_expect_eq(frame.pages, sample_number(&sample, "PRAGMA page_count"));
                free(wal.bytes);
                sample_release(&sample);
        }
}

Test(walframe, a_flipped_bit_breaks_the_chain_at_its_frame)
{
        struct sample sample;
        struct wal wal;
        write_wal(&sample, 512, &wal);
        for (uint32_t number = 1; number <= wal.frames; number += 7) {
                uint8_t *frame = wal.bytes + walframe_offset(number, 512);
                const unsigned places[] = {3, 7, 16, 23, WALFRAME_HEADER, WALFRAME_HEADER + 511};
                for (size_t i = 0; i < COUNT(places); i++) {
                        frame[places[i]] ^= 0x10;
                        cr_expect_eq(
                                count_chained(&wal), number - 1, "%u at %u", number, places[i]);
                        frame[places[i]] ^= 0x10;
                }
        }
        free(wal.bytes);
        sample_release(&sample);
}
