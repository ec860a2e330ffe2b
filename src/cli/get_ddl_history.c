/* SPDX-License-Identifier: MIT
 *
 * get_ddl_history: cdcctl get-ddl-history, sys.sp_cdc_get_ddl_history.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        struct cdc_rows *rows;
        int r = cdc_get_ddl_history(&invocation->database, invocation->arguments[1], &rows, &error);
        return r < 0 ? output_error(r, &error) : output_rows(invocation, rows);
}

const struct command command_get_ddl_history = {
        .name = "get-ddl-history",
        .summary = "Print the changes of the table itself",
        .arguments = {"DATABASE", "INSTANCE"},
        .has_rows = true,
        .help = "One row for each statement, derived from the schemas before and after it.\n",
        .run = run,
};
