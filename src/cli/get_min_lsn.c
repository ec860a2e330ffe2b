/* SPDX-License-Identifier: MIT
 *
 * get_min_lsn: cdcctl get-min-lsn, sys.fn_cdc_get_min_lsn.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        char text[24];
        int r = cdc_get_min_lsn(&invocation->database, invocation->arguments[1], text, &error);
        return r < 0 ? output_error(r, &error) : output_scalar(text);
}

const struct command command_get_min_lsn = {
        .name = "get-min-lsn",
        .summary = "Print the first LSN of the validity interval",
        .arguments = {"DATABASE", "[INSTANCE]"},
        .help = "Of the instance, or of the database. An empty line while it is pending.\n",
        .run = run,
};
