/* SPDX-License-Identifier: MIT
 *
 * get_all_changes: cdcctl get-all-changes, cdc.fn_cdc_get_all_changes_<instance>.
 */
#include <errno.h>

#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        const char *const *arguments = invocation->arguments;
        struct cdc_error error = {0};
        struct cdc_rows *rows;
        int r = cdc_get_all_changes(&invocation->database, arguments[1], arguments[2], arguments[3],
                invocation_option(invocation, "--row-filter"), &rows, &error);
        if (r == -EAGAIN) {
                output_line("notice", error.message);
                return EXIT_NOTHING_NEW;
        }
        return r < 0 ? output_error(r, &error) : output_rows(invocation, rows);
}

static const struct option_row options[] = {
        {"--row-filter", "FILTER",
                "'all' for the new rows of updates alone, or\n'all update old' "
                "for both, the default"},
        {0},
};

const struct command command_get_all_changes = {
        .name = "get-all-changes",
        .summary = "Print the changes in a range of LSNs",
        .arguments = {"DATABASE", "INSTANCE", "FROM", "TO"},
        .options = options,
        .has_rows = true,
        .help = "FROM and TO are LSNs, both inclusive: 0000002d:00000580:0001, its 20 digits, or\n"
                "0x and 20 digits. The range must lie in the validity interval. Exit status 3\n"
                "says that FROM is the LSN after the last: nothing new yet.\n",
        .run = run,
};
