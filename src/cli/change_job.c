/* SPDX-License-Identifier: MIT
 *
 * change_job: cdcctl change-job, sys.sp_cdc_change_job.
 */
#include "job_options.h"
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        struct cdc_job job;
        enum exit_code code = job_options_read(invocation, invocation->arguments[1], &job);
        if (code != EXIT_OK)
                return code;
        int r = cdc_change_job(&invocation->database, &job, &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

static const struct option_row options[] = {
        JOB_OPTIONS_CAPTURE,
        JOB_OPTIONS_CLEANUP,
        {0},
};

const struct command command_change_job = {
        .name = "change-job",
        .summary = "Change parameters of a job",
        .arguments = {"DATABASE", "[TYPE]"},
        .options = options,
        .help = "TYPE is capture (the default) or cleanup. What is not given stays. A job reads\n"
                "its parameters when it starts: stop-job and start-job make a change effective.\n"
                "continuous 0 sets pollinginterval to 0; pollinginterval alone, above 0, sets\n"
                "continuous to 1.\n",
        .run = run,
};
