/* SPDX-License-Identifier: MIT
 *
 * report: see report.h.
 */
#include "report.h"

#include <stdarg.h>

enum { MOST_PRINTED = 12, MOST_ROWS = 6, MOST_STATEMENTS = 4000 };

static void print_transaction(FILE *file, const struct transaction *transaction)
{
        fprintf(file, "#   statements of transaction %llu by writer %u:\n",
                (unsigned long long)transaction->number, transaction->writer);
        size_t size = transaction->statements_size;
        size = size > MOST_STATEMENTS ? MOST_STATEMENTS : size;
        bool is_start = true;
        for (size_t i = 0; i < size; i++) {
                if (is_start)
                        fputs("#     ", file);
                fputc(transaction->statements[i], file);
                is_start = transaction->statements[i] == '\n';
        }
        if (!is_start)
                fputs(" …\n", file);
}

static bool print_head(
        struct report *report, const struct transaction *transaction, const char *instance)
{
        const struct settings *settings = report->settings;
        if (report->differences++ >= MOST_PRINTED)
                return false;
        fprintf(report->file,
                "# difference: seed %llu (%s), page size %u - %u, %s, auto_vacuum %s, "
                "secure_delete %s",
                (unsigned long long)settings->seed, settings->kind->name, settings->page_size,
                settings->reserved_bytes, settings->encoding, settings->auto_vacuum,
                settings->secure_delete);
        if (transaction)
                fprintf(report->file, ", transaction %llu",
                        (unsigned long long)transaction->number);
        if (instance)
                fprintf(report->file, ", instance \"%s\"", instance);
        fprintf(report->file, "\n#   kept in %s\n#   ", settings->directory);
        return true;
}

void report_difference(struct report *report, const struct transaction *transaction,
        const char *instance, const char *format, ...)
{
        va_list arguments;
        if (!print_head(report, transaction, instance))
                return;
        va_start(arguments, format);
        vfprintf(report->file, format, arguments);
        va_end(arguments);
        fputc('\n', report->file);
        if (transaction)
                print_transaction(report->file, transaction);
}

static void print_rows(struct report *report, const char *title, const struct change *changes,
        size_t count, const struct change *others, size_t other_count)
{
        unsigned printed = 0;
        size_t skipped = 0;
        for (size_t i = 0, j = 0; i < count; i++) {
                while (j < other_count && change_compare(&others[j], &changes[i]) < 0)
                        j++;
                if (j < other_count && change_compare(&others[j], &changes[i]) == 0) {
                        j++;
                        continue;
                }
                if (printed++ >= MOST_ROWS) {
                        skipped++;
                        continue;
                }
                fprintf(report->file, "#   %s: ", title);
                change_print(report->file, &changes[i]);
        }
        if (skipped)
                fprintf(report->file, "#   … and %zu more\n", skipped);
}

void report_changes(struct report *report, const struct transaction *transaction,
        const char *instance, const char *lsn, const struct change *expected, size_t expected_count,
        const struct change *delivered, size_t delivered_count)
{
        if (!print_head(report, transaction, instance))
                return;
        fprintf(report->file, "at %s: %zu changes expected, %zu delivered\n", lsn ? lsn : "no LSN",
                expected_count, delivered_count);
        print_rows(report, "expected ", expected, expected_count, delivered, delivered_count);
        print_rows(report, "delivered", delivered, delivered_count, expected, expected_count);
        print_transaction(report->file, transaction);
}
