/* SPDX-License-Identifier: MIT
 *
 * get_net_changes: cdcctl get-net-changes, cdc.fn_cdc_get_net_changes_<instance>.
 */
#include "range.h"

static enum exit_code run(const struct invocation *invocation)
{
        return range_run(invocation, cdc_get_net_changes, cdc_get_net_changes_by_time);
}

static const struct option_row options[] = {
        {"--row-filter", "FILTER",
                "'all', 'all with mask' to tell which columns\nwere changed, the default, or "
                "'all with merge'\nfor operation 5 in the place of 2 and 4",
                "all|all with mask|all with merge"},
        RANGE_OPTIONS,
        {0},
};

const struct command command_get_net_changes = {
        .name = "get-net-changes",
        .summary = "Print what a range of changes comes to",
        .arguments = {"DATABASE", "INSTANCE", "[FROM]", "[TO]"},
        .options = options,
        .has_rows = true,
        .help = "One row for each key that is different at the end of the range. FROM, TO, times\n"
                "and the exit status are as with get-all-changes. The instance must support net\n"
                "changes: its table had a key when it was enabled.\n",
        .run = run,
};
