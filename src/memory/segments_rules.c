/* SPDX-License-Identifier: MIT
 *
 * segments_rules: when a border is due and whom it concerns, as functions of their arguments. They
 * refuse to know a store or a clock.
 */
#include "ground/lsn.h"
#include "memory/segments_private.h"

/* Bytes of a CSV row besides the values: LSN and seqval of 22 bytes, operation, mask, commas. */
enum { ROW_BYTES = 22 + 1 + 22 + 1 + 1 + 1 + 2 + 1, REAL_BYTES = 17 };

static bool is_old(
        const struct segments_limits *limits, const struct segments_tally *tally, int64_t now_ns)
{
        return tally->rows > 0 && now_ns - tally->first_seen_ns >= limits->age_ns;
}

enum segments_cause segments_due(const struct segments_limits *limits,
        const struct segments_tally *open, size_t count, int64_t now_ns)
{
        enum segments_cause cause = SEGMENTS_NONE;
        for (size_t i = 0; i < count; i++) {
                if (open[i].rows > 0 && open[i].csv_bytes >= limits->size)
                        return SEGMENTS_SIZE;
                if (is_old(limits, &open[i], now_ns))
                        cause = SEGMENTS_AGE;
        }
        return cause;
}

bool segments_should_close(const struct segments_limits *limits, const struct segments_tally *open,
        enum segments_cause cause, int64_t now_ns)
{
        if (open->rows == 0 || cause == SEGMENTS_NONE)
                return false;
        if (cause != SEGMENTS_SIZE && cause != SEGMENTS_AGE)
                return true;
        return open->csv_bytes >= limits->small || is_old(limits, open, now_ns);
}

int64_t segments_deadline(
        const struct segments_limits *limits, const struct segments_tally *open, size_t count)
{
        int64_t deadline = INT64_MAX;
        for (size_t i = 0; i < count; i++) {
                int64_t due = open[i].first_seen_ns + limits->age_ns;
                if (open[i].rows > 0 && due < deadline)
                        deadline = due;
        }
        return deadline;
}

const char *segments_cause_name(enum segments_cause cause)
{
        static const char *const names[] = {
                [SEGMENTS_NONE] = "",
                [SEGMENTS_SIZE] = "size",
                [SEGMENTS_AGE] = "age",
                [SEGMENTS_DDL] = "ddl",
                [SEGMENTS_ROTATE] = "rotate",
                [SEGMENTS_RESYNC] = "resync",
                [SEGMENTS_GAP] = "gap",
                [SEGMENTS_STOP] = "stop",
        };
        return names[cause];
}

static uint64_t integer_bytes(int64_t integer)
{
        uint64_t left = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
        uint64_t bytes = integer < 0 ? 2 : 1;
        for (; left >= 10; left /= 10)
                bytes++;
        return bytes;
}

static uint64_t value_bytes(const struct value *value)
{
        switch (value->type) {
        case VALUE_INTEGER:
                return integer_bytes(value->integer);
        case VALUE_REAL:
                return REAL_BYTES;
        case VALUE_TEXT:
                return (uint64_t)value->size + 2; /* quotes */
        case VALUE_BLOB:
                return 2 * (uint64_t)value->size + 2; /* \x and hex */
        default:
                return 0;
        }
}

uint64_t segments_estimate_row(const struct value *values, unsigned columns)
{
        uint64_t bytes = ROW_BYTES + 2 * mask_size(columns);
        for (unsigned i = 0; i < columns; i++)
                bytes += value_bytes(&values[i]) + 1;
        return bytes;
}

uint64_t segments_estimate(const struct change *change)
{
        uint64_t bytes = 0;
        if (change->operation != CHANGE_INSERT)
                bytes += segments_estimate_row(change->before, change->columns);
        if (change->operation != CHANGE_DELETE)
                bytes += segments_estimate_row(change->after, change->columns);
        return bytes;
}
