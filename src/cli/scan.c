/* SPDX-License-Identifier: MIT
 *
 * scan: cdcctl scan, sys.sp_cdc_scan.
 */
#include <time.h>

#include "job_options.h"
#include "output.h"

static enum exit_code read_options(const struct invocation *invocation, struct cdc_scan *ret_scan)
{
        enum exit_code code = job_options_number(invocation, "--maxtrans", &ret_scan->maxtrans);
        if (code == EXIT_OK)
                code = job_options_number(invocation, "--maxscans", &ret_scan->maxscans);
        if (code == EXIT_OK)
                code = job_options_number(invocation, "--continuous", &ret_scan->continuous);
        if (code == EXIT_OK)
                code = job_options_number(
                        invocation, "--pollinginterval", &ret_scan->pollinginterval);
        return code;
}

/* Without a pause of its own one pass after another would keep a core busy for nothing. */
static void pause_between(const struct cdc_scan *scan)
{
        struct timespec pause = {.tv_nsec = 100000000};
        if (scan->pollinginterval > 0)
                pause = (struct timespec){.tv_sec = scan->pollinginterval};
        nanosleep(&pause, NULL);
}

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        struct cdc_scan scan;
        enum exit_code code = read_options(invocation, &scan);
        if (code != EXIT_OK)
                return code;
        int r = cdc_scan(&invocation->database, &scan, output_notice, NULL, &error);
        while (r == 0 && scan.continuous == 1) {
                pause_between(&scan);
                r = cdc_scan(&invocation->database, &scan, output_notice, NULL, &error);
        }
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

static const struct option_row options[] = {JOB_OPTIONS_CAPTURE, {0}};

const struct command command_scan = {
        .name = "scan",
        .summary = "Capture what was committed, in one pass",
        .arguments = {"DATABASE"},
        .options = options,
        .help = "The agent makes the pass, also while its capture job is stopped; without\n"
                "one the command does. The defaults are maxtrans 500, maxscans 10, continuous 0\n"
                "and pollinginterval 0; with continuous 1 passes go on until it is ended.\n"
                "Between two passes without an agent nobody keeps the log: where SQLite has\n"
                "started it anew meanwhile, the next pass records a gap, and says so.\n",
        .run = run,
};
