/* SPDX-License-Identifier: MIT
 *
 * drop_job: cdcctl drop-job, sys.sp_cdc_drop_job.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        int r = cdc_drop_job(&invocation->database, invocation->arguments[1], &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

const struct command command_drop_job = {
        .name = "drop-job",
        .summary = "Remove the capture or the cleanup job",
        .arguments = {"DATABASE", "TYPE"},
        .help = "TYPE is capture or cleanup. A capture job is stopped first; while there is none,\n"
                "nothing is captured.\n",
        .run = run,
};
