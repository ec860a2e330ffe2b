/* SPDX-License-Identifier: MIT
 *
 * start_job: cdcctl start-job, sys.sp_cdc_start_job.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        int r = cdc_start_job(&invocation->database, invocation->arguments[1], &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

const struct command command_start_job = {
        .name = "start-job",
        .summary = "Start the capture job, or run cleanup now",
        .arguments = {"DATABASE", "[TYPE]"},
        .help = "TYPE is capture (the default) or cleanup. The agent runs it; without one\n"
                "the command fails and says which one to run. The job reads its parameters.\n",
        .run = run,
};
