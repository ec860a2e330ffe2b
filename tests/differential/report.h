/* SPDX-License-Identifier: MIT
 *
 * report: what is printed when the programs deliver something else than SQLite says: enough to
 * find the place again. It counts; it decides nothing.
 */
#ifndef DIFFERENTIAL_REPORT_H
#define DIFFERENTIAL_REPORT_H

#include "change.h"

struct report {
        FILE *file;
        const struct settings *settings;
        unsigned differences;
};

/* One difference; printed up to some dozen of a round. transaction may be NULL. */
void report_difference(struct report *report, const struct transaction *transaction,
        const char *instance, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same with the rows: what stands in one list only. Both lists are sorted. */
void report_changes(struct report *report, const struct transaction *transaction,
        const char *instance, const char *lsn, const struct change *expected, size_t expected_count,
        const struct change *delivered, size_t delivered_count);

#endif
