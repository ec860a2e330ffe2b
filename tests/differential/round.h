/* SPDX-License-Identifier: MIT
 *
 * round: one random schema with its instances, its workload in one or two batches, and a
 * comparison after each.
 */
#ifndef DIFFERENTIAL_ROUND_H
#define DIFFERENTIAL_ROUND_H

#include <stdio.h>
#include "program.h"

/* Counted on over all rounds. */
struct totals {
        uint64_t rounds, transactions, accompanied, statements, refused;
        uint64_t rows, instances, late_instances, checkpoints, kills, gaps;
        uint64_t differences;
};

struct round_options {
        const struct programs *programs;
        const char *mode;
        const char *directory; /* where rounds get a directory of their own */
        bool is_kept;          /* also when nothing differs */
        FILE *report;
};

/* At most `most` transactions. 0, or negative errno if the test itself or a program failed.
 * Differences are counted in totals. The directory stays if anything is wrong. */
int round_run(
        const struct round_options *options, uint64_t seed, uint64_t most, struct totals *totals);

#endif
