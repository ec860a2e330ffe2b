/* SPDX-License-Identifier: MIT
 *
 * get_all_changes: cdcctl get-all-changes, cdc.fn_cdc_get_all_changes_<instance>.
 */
#include "range.h"

static enum exit_code run(const struct invocation *invocation)
{
        return range_run(invocation, cdc_get_all_changes, cdc_get_all_changes_by_time);
}

static const struct option_row options[] = {
        {"--row-filter", "FILTER",
                "'all' for the new rows of updates alone, or\n'all update old' "
                "for both, the default",
                "all|all update old"},
        RANGE_OPTIONS,
        {0},
};

const struct command command_get_all_changes = {
        .name = "get-all-changes",
        .summary = "Print the changes in a range of LSNs",
        .arguments = {"DATABASE", "INSTANCE", "[FROM]", "[TO]"},
        .options = options,
        .has_rows = true,
        .help = "FROM and TO are LSNs, both inclusive: 0000002d:00000580:0001, its 20 digits, or\n"
                "0x and 20 digits. The range must lie in the validity interval. Exit status 3\n"
                "says that FROM is the LSN after the last: nothing new yet.\n"
                "Times are as 2026-11-30T10:00:00Z; the --to-time of one call is the --from-time\n"
                "of the next.\n",
        .run = run,
};
