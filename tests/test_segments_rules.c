/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <string.h>

#include "ground/cleanup.h"
#include "memory/segments.h"

static const struct segments_limits limits = {.size = 1000, .age_ns = 300, .small = 100};

Test(segments_rules, a_border_is_due_by_size_or_by_age_of_any_open_file)
{
        static const struct {
                struct segments_tally tallies[2];
                int64_t now_ns;
                enum segments_cause cause;
        } cases[] = {
                {{{.rows = 0}, {.rows = 0}}, 1000000, SEGMENTS_NONE},
                {{{.rows = 1, .csv_bytes = 999}, {.rows = 0}}, 299, SEGMENTS_NONE},
                {{{.rows = 1, .csv_bytes = 1000}, {.rows = 0}}, 0, SEGMENTS_SIZE},
                {{{.rows = 0}, {.rows = 1, .csv_bytes = 5000}}, 0, SEGMENTS_SIZE},
                {{{.rows = 1, .csv_bytes = 1}, {.rows = 0}}, 300, SEGMENTS_AGE},
                {{{.rows = 0}, {.rows = 1, .first_seen_ns = 50}}, 349, SEGMENTS_NONE},
                {{{.rows = 0}, {.rows = 1, .first_seen_ns = 50}}, 350, SEGMENTS_AGE},
                {{{.rows = 1}, {.rows = 1, .csv_bytes = 1000}}, 300, SEGMENTS_SIZE},
                {{{.rows = 1, .first_seen_ns = 1000}, {.rows = 0}}, 0, SEGMENTS_NONE},
        };
        for (size_t i = 0; i < COUNT(cases); i++)
                cr_expect_eq(segments_due(&limits, cases[i].tallies, 2, cases[i].now_ns),
                        cases[i].cause, "%zu", i);
        cr_expect_eq(segments_due(&limits, NULL, 0, 1000), SEGMENTS_NONE);
}

Test(segments_rules, files_take_part_if_they_have_rows_and_are_large_or_old_or_must)
{
        static const struct {
                struct segments_tally tally;
                enum segments_cause cause;
                int64_t now_ns;
                bool closes;
        } cases[] = {
                {{.rows = 1, .csv_bytes = 99}, SEGMENTS_SIZE, 299, false},
                {{.rows = 1, .csv_bytes = 100}, SEGMENTS_SIZE, 299, true},
                {{.rows = 1, .csv_bytes = 1}, SEGMENTS_SIZE, 300, true},
                {{.rows = 1, .csv_bytes = 1}, SEGMENTS_AGE, 300, true},
                {{.rows = 1, .csv_bytes = 99, .first_seen_ns = 5}, SEGMENTS_AGE, 300, false},
                {{.rows = 1, .csv_bytes = 100, .first_seen_ns = 5}, SEGMENTS_AGE, 300, true},
                {{.rows = 1}, SEGMENTS_ROTATE, 0, true},
                {{.rows = 1}, SEGMENTS_DDL, 0, true},
                {{.rows = 1}, SEGMENTS_RESYNC, 0, true},
                {{.rows = 1}, SEGMENTS_GAP, 0, true},
                {{.rows = 1}, SEGMENTS_STOP, 0, true},
                {{.rows = 1, .csv_bytes = 5000}, SEGMENTS_NONE, 900, false},
                {{.rows = 0, .csv_bytes = 5000}, SEGMENTS_ROTATE, 900, false},
                {{.rows = 0}, SEGMENTS_GAP, 900, false},
        };
        for (size_t i = 0; i < COUNT(cases); i++)
                cr_expect_eq(segments_should_close(
                                     &limits, &cases[i].tally, cases[i].cause, cases[i].now_ns),
                        cases[i].closes, "%zu", i);
}

Test(segments_rules, the_deadline_is_that_of_the_oldest_change)
{
        static const struct segments_tally tallies[] = {
                {.rows = 1, .first_seen_ns = 50}, {.rows = 0}, {.rows = 3, .first_seen_ns = 20}};
        cr_expect_eq(segments_deadline(&limits, tallies, 3), 320);
        cr_expect_eq(segments_deadline(&limits, tallies, 1), 350);
        cr_expect_eq(segments_deadline(&limits, tallies + 1, 1), INT64_MAX);
}

Test(segments_rules, the_defaults_are_those_of_the_manual)
{
        const struct segments_limits defaults = SEGMENTS_LIMITS_DEFAULT;
        cr_expect_eq(defaults.size, 16777216);
        cr_expect_eq(defaults.age_ns, INT64_C(300000000000));
        cr_expect_eq(defaults.small, 65536);
}

Test(segments_rules, causes_have_names)
{
        static const char *const names[] = {
                "", "size", "age", "ddl", "rotate", "resync", "gap", "stop"};
        for (enum segments_cause cause = SEGMENTS_NONE; cause <= SEGMENTS_STOP; cause++)
                cr_expect_str_eq(segments_cause_name(cause), names[cause]);
}

Test(segments_rules, estimates_are_the_length_of_the_line)
{
        static const uint8_t mask[] = {0x1f};
        const struct value values[] = {
                {.type = VALUE_NULL},
                {.type = VALUE_INTEGER, .integer = -12345},
                {.type = VALUE_INTEGER, .integer = INT64_MIN},
                {.type = VALUE_TEXT, .size = 5, .bytes = (const uint8_t *)"hello"},
                {.type = VALUE_BLOB, .size = 3, .bytes = (const uint8_t *)"abc"},
        };
        const char *line = "0000002d:00000580:0001,00000000:00000000:0007,2,\\x1f,"
                           ",-12345,-9223372036854775808,\"hello\",\\x616263\n";
        struct change change = {
                .operation = CHANGE_INSERT, .columns = 5, .after = values, .mask = mask};
        cr_expect_eq(
                segments_estimate(&change), strlen(line), "%d", (int)segments_estimate(&change));
        change.operation = CHANGE_UPDATE;
        change.before = values;
        cr_expect_eq(segments_estimate(&change), 2 * strlen(line));
        change.operation = CHANGE_DELETE;
        cr_expect_eq(segments_estimate(&change), strlen(line));
}
