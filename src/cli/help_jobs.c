/* SPDX-License-Identifier: MIT
 *
 * help_jobs: cdcctl help-jobs, sys.sp_cdc_help_jobs.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        struct cdc_rows *rows;
        int r = cdc_help_jobs(&invocation->database, &rows, &error);
        return r < 0 ? output_error(r, &error) : output_rows(invocation, rows);
}

const struct command command_help_jobs = {
        .name = "help-jobs",
        .summary = "Report the jobs, their parameters and state",
        .arguments = {"DATABASE"},
        .has_rows = true,
        .help = "state is running, stopped or no agent; of the cleanup job scheduled or no "
                "agent.\n",
        .run = run,
};
