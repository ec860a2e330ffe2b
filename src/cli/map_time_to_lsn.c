/* SPDX-License-Identifier: MIT
 *
 * map_time_to_lsn: cdcctl map-time-to-lsn, sys.fn_cdc_map_time_to_lsn.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        char text[24];
        int r = cdc_map_time_to_lsn(&invocation->database, invocation->arguments[1],
                invocation->arguments[2], text, &error);
        return r < 0 ? output_error(r, &error) : output_scalar(text);
}

const struct command command_map_time_to_lsn = {
        .name = "map-time-to-lsn",
        .summary = "Print the LSN of a commit time",
        .arguments = {"DATABASE", "OPERATOR", "TIME"},
        .help = "OPERATOR is one of 'largest less than', 'largest less than or equal', 'smallest\n"
                "greater than' and 'smallest greater than or equal'; TIME as\n"
                "2026-11-30T10:00:00Z. An empty line where no transaction is such.\n",
        .run = run,
};
