/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>

#include "ground/cleanup.h"
#include "meaning/queue.h"
#include "prng.h"
#include "tmp.h"

enum { MEGABYTE = 1 << 20 };

/* Entry i of a series: its size and bytes follow from the seed. */
struct series {
        uint64_t seed;
        uint32_t limit; /* of sizes */
        unsigned count;
};

static void make_entry(const struct series *series, unsigned i, struct buf *entry)
{
        struct prng prng = {series->seed + i * 7919 + 1};
        prng_next(&prng);
        uint32_t size = prng_below(&prng, series->limit);
        buf_reset(entry);
        buf_reserve(entry, size);
        for (uint32_t k = 0; k + 8 <= size; k += 8) {
                uint64_t word = prng_next(&prng);
                buf_append(entry, &word, 8);
        }
        while (entry->size < size)
                buf_append_byte(entry, (uint8_t)i);
}

static void append_series(struct queue *queue, const struct series *series)
{
        _cleanup_(buf_release) struct buf entry = BUF_INIT;
        for (unsigned i = 0; i < series->count; i++) {
                make_entry(series, i, &entry);
                cr_assert_eq(queue_append(queue, &entry), 0);
        }
}

/* Reads entry i, which begins at the offset. */
static void expect_entry(
        struct queue *queue, const struct series *series, unsigned i, uint64_t *offset)
{
        _cleanup_(buf_release) struct buf entry = BUF_INIT;
        const uint8_t *bytes;
        uint32_t size;
        make_entry(series, i, &entry);
        cr_assert_eq(queue_read(queue, offset, &bytes, &size), 1, "entry %u", i);
        cr_assert_eq(size, entry.size, "entry %u", i);
        cr_assert(size == 0 || memcmp(bytes, entry.data, size) == 0, "entry %u", i);
}

static void expect_series(struct queue *queue, const struct series *series)
{
        const uint8_t *bytes;
        uint32_t size;
        uint64_t offset = 0;
        for (unsigned i = 0; i < series->count; i++)
                expect_entry(queue, series, i, &offset);
        cr_expect_eq(queue_read(queue, &offset, &bytes, &size), 0);
        cr_expect_eq(queue_read(queue, &offset, &bytes, &size), 0, "the end stays the end");
        cr_expect_eq(offset, queue->size);
}

static const struct {
        const char *name;
        struct series series;
        bool is_spilled;
} cases[] = {
        {"nothing", {1, 1, 0}, false},
        {"one empty entry", {1, 1, 1}, false},
        {"empty entries", {1, 1, 5000}, false},
        {"small entries", {2, 100, 5000}, false},
        {"small entries, spilled", {3, 100, 200000}, true},
        {"entries about the window's size", {4, 2 * MEGABYTE, 40}, true},
        {"large entries", {5, 30 * MEGABYTE, 5}, true},
        {"a little more than memory takes", {6, 1000, 17000}, true},
};

Test(queue, entries_come_back_as_they_went_in)
{
        struct tmp tmp;
        tmp_open(&tmp);
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct queue queue;
                queue_init(&queue, tmp.directory);
                append_series(&queue, &cases[i].series);
                expect_series(&queue, &cases[i].series);
                expect_series(&queue, &cases[i].series);
                cr_expect_eq(queue.fd >= 0, cases[i].is_spilled, "%s", cases[i].name);
                queue_release(&queue);
        }
        tmp_close(&tmp);
}

Test(queue, a_queue_is_reused_after_a_reset)
{
        struct tmp tmp;
        struct queue queue;
        tmp_open(&tmp);
        queue_init(&queue, tmp.directory);
        for (size_t i = 0; i < 2 * COUNT(cases); i++) {
                append_series(&queue, &cases[i % COUNT(cases)].series);
                if (i % 3 != 0)
                        expect_series(&queue, &cases[i % COUNT(cases)].series);
                queue_reset(&queue);
                cr_expect_eq(queue.fd, -1, "the file is given back");
                cr_expect_eq(queue.size, 0);
                cr_expect_leq(queue.memory.capacity, MEGABYTE, "and most of the memory");
        }
        queue_release(&queue);
        tmp_close(&tmp);
}

Test(queue, reading_may_jump_between_entries)
{
        static const struct series series = {9, 5000, 8000};
        struct tmp tmp;
        struct queue queue;
        struct prng prng = {10};
        static uint64_t offsets[8000];
        uint64_t offset = 0;
        tmp_open(&tmp);
        queue_init(&queue, tmp.directory);
        append_series(&queue, &series);
        for (unsigned i = 0; i < series.count; i++) {
                offsets[i] = offset;
                expect_entry(&queue, &series, i, &offset);
        }
        for (unsigned round = 0; round < 3000; round++) {
                unsigned i = prng_below(&prng, series.count);
                offset = offsets[i];
                expect_entry(&queue, &series, i, &offset);
                cr_assert_eq(offset, i + 1 < series.count ? offsets[i + 1] : queue.size);
        }
        queue_release(&queue);
        tmp_close(&tmp);
}

Test(queue, what_is_spilled_has_no_name)
{
        static const struct series series = {11, 1000, 30000};
        struct tmp tmp;
        struct queue queue;
        tmp_open(&tmp);
        queue_init(&queue, tmp.directory);
        append_series(&queue, &series);
        cr_expect_geq(queue.fd, 0);
        struct run_result result = run("ls -A %s", tmp.directory);
        cr_expect_str_eq(result.text, "", "%s", result.text);
        run_release(&result);
        queue_release(&queue);
        tmp_close(&tmp);
}

Test(queue, memory_stays_small_however_much_is_appended)
{
        static const struct series series = {12, 1000, 100000};
        struct tmp tmp;
        struct queue queue;
        tmp_open(&tmp);
        queue_init(&queue, tmp.directory);
        append_series(&queue, &series);
        cr_expect_leq(queue.memory.capacity, 20 * MEGABYTE);
        expect_series(&queue, &series);
        cr_expect_leq(queue.memory.capacity, 20 * MEGABYTE);
        queue_release(&queue);
        tmp_close(&tmp);
}

Test(queue, the_default_directory_works)
{
        static const struct series series = {13, 1000, 20000};
        struct queue queue;
        queue_init(&queue, NULL);
        append_series(&queue, &series);
        expect_series(&queue, &series);
        queue_release(&queue);
}

Test(queue, a_directory_that_is_not_there_is_an_error_once_it_is_needed)
{
        struct queue queue;
        _cleanup_(buf_release) struct buf entry = BUF_INIT;
        int r = 0;
        buf_reserve(&entry, MEGABYTE);
        memset(entry.data, 1, MEGABYTE);
        entry.size = MEGABYTE;
        queue_init(&queue, "/nonexistent");
        for (int i = 0; i < 7; i++)
                cr_assert_eq(queue_append(&queue, &entry), 0);
        for (int i = 0; i < 3 && r == 0; i++)
                r = queue_append(&queue, &entry);
        cr_expect_eq(r, -ENOENT, "%d", r);
        queue_reset(&queue);
        queue_release(&queue);
}

Test(queue, an_entry_that_could_not_be_made_is_refused)
{
        struct queue queue;
        struct buf entry = {.error = -ENOMEM};
        const uint8_t *bytes;
        uint32_t size;
        uint64_t offset = 0;
        queue_init(&queue, NULL);
        cr_expect_eq(queue_append(&queue, &entry), -ENOMEM);
        cr_expect_eq(queue_read(&queue, &offset, &bytes, &size), 0);
        queue_release(&queue);
}
