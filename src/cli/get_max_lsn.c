/* SPDX-License-Identifier: MIT
 *
 * get_max_lsn: cdcctl get-max-lsn, sys.fn_cdc_get_max_lsn.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        char text[24];
        int r = cdc_get_max_lsn(&invocation->database, text, &error);
        return r < 0 ? output_error(r, &error) : output_scalar(text);
}

const struct command command_get_max_lsn = {
        .name = "get-max-lsn",
        .summary = "Print the last LSN that was captured",
        .arguments = {"DATABASE"},
        .help = "An empty line before anything was captured.\n",
        .run = run,
};
