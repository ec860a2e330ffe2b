/* SPDX-License-Identifier: MIT
 *
 * help_change_data_capture: cdcctl help-change-data-capture, sys.sp_cdc_help_change_data_capture.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        struct cdc_rows *rows;
        int r = cdc_help_change_data_capture(
                &invocation->database, invocation->arguments[1], &rows, &error);
        return r < 0 ? output_error(r, &error) : output_rows(invocation, rows);
}

const struct command command_help_change_data_capture = {
        .name = "help-change-data-capture",
        .summary = "Report the capture instances",
        .arguments = {"DATABASE", "[TABLE]"},
        .has_rows = true,
        .help = "One row for each instance of TABLE, or of all tables.\n",
        .run = run,
};
