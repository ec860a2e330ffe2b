/* SPDX-License-Identifier: MIT
 *
 * get_captured_columns: cdcctl get-captured-columns, sys.sp_cdc_get_captured_columns.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        struct cdc_rows *rows;
        int r = cdc_get_captured_columns(
                &invocation->database, invocation->arguments[1], &rows, &error);
        return r < 0 ? output_error(r, &error) : output_rows(invocation, rows);
}

const struct command command_get_captured_columns = {
        .name = "get-captured-columns",
        .summary = "Print the columns of a capture instance",
        .arguments = {"DATABASE", "INSTANCE"},
        .has_rows = true,
        .help = "One row for each column, by its ordinal. Lengths and precisions are empty:\n"
                "SQLite enforces none.\n",
        .run = run,
};
