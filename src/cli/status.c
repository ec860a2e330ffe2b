/* SPDX-License-Identifier: MIT
 *
 * status: cdcctl status.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        struct cdc_rows *rows;
        int r = cdc_status(&invocation->database, &rows, &error);
        return r < 0 ? output_error(r, &error) : output_rows(invocation, rows);
}

const struct command command_status = {
        .name = "status",
        .summary = "Report the agent, the position and the gaps",
        .arguments = {"DATABASE"},
        .has_rows = true,
        .help = "One row of name and value for each fact.\n",
        .run = run,
};
