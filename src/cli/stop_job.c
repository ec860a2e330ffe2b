/* SPDX-License-Identifier: MIT
 *
 * stop_job: cdcctl stop-job, sys.sp_cdc_stop_job.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        int r = cdc_stop_job(&invocation->database, invocation->arguments[1], &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

const struct command command_stop_job = {
        .name = "stop-job",
        .summary = "Stop the capture job, or a cleanup at work",
        .arguments = {"DATABASE", "[TYPE]"},
        .help = "TYPE is capture (the default) or cleanup. A stopped capture job stays stopped\n"
                "over restarts until start-job. Nothing is lost while the agent runs: it keeps\n"
                "the log, which grows.\n",
        .run = run,
};
