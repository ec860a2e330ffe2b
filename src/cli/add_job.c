/* SPDX-License-Identifier: MIT
 *
 * add_job: cdcctl add-job, sys.sp_cdc_add_job.
 */
#include <string.h>

#include "job_options.h"
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        struct cdc_job job;
        const char *start = invocation_option(invocation, "--start-job");
        enum exit_code code = job_options_read(invocation, invocation->arguments[1], &job);
        if (code != EXIT_OK)
                return code;
        if (start && strcmp(start, "0") != 0 && strcmp(start, "1") != 0)
                return invocation_refuse(invocation->command, "--start-job takes 0 or 1");
        bool is_started = !start || start[0] == '1';
        int r = cdc_add_job(&invocation->database, &job, is_started, &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

static const struct option_row options[] = {
        JOB_OPTIONS_CAPTURE,
        JOB_OPTIONS_CLEANUP,
        {"--start-job", "0|1", "start it at once; the default is 1"},
        {0},
};

const struct command command_add_job = {
        .name = "add-job",
        .summary = "Make the capture or the cleanup job",
        .arguments = {"DATABASE", "TYPE"},
        .options = options,
        .help = "TYPE is capture or cleanup. The first enable-table makes both, with their\n"
                "defaults: maxtrans 1000, maxscans 10, continuous 1, pollinginterval 5; retention\n"
                "4320, threshold 5000.\n",
        .run = run,
};
