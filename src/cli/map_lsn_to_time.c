/* SPDX-License-Identifier: MIT
 *
 * map_lsn_to_time: cdcctl map-lsn-to-time, sys.fn_cdc_map_lsn_to_time.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        char text[28];
        int r = cdc_map_lsn_to_time(&invocation->database, invocation->arguments[1], text, &error);
        return r < 0 ? output_error(r, &error) : output_scalar(text);
}

const struct command command_map_lsn_to_time = {
        .name = "map-lsn-to-time",
        .summary = "Print the commit time of an LSN",
        .arguments = {"DATABASE", "LSN"},
        .help = "An empty line where no transaction has exactly this LSN.\n",
        .run = run,
};
