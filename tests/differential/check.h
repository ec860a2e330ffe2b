/* SPDX-License-Identifier: MIT
 *
 * check: compares what the programs delivered with the history that SQLite gave.
 */
#ifndef DIFFERENTIAL_CHECK_H
#define DIFFERENTIAL_CHECK_H

#include "instance.h"
#include "report.h"
#include "stream.h"

struct check {
        const struct settings *settings;
        const struct programs *programs;
        const struct shared *shared;
        const struct instances *instances;
        struct report *report;
        struct random *random;
        uint64_t rows; /* compared, counted on */
        unsigned gaps; /* that are recorded now */
};

/* After everything is captured and no writer runs: reads every instance and compares. Differences
 * go to the report; 0, or negative errno if the test itself failed. */
int check_batch(struct check *check);

#endif
