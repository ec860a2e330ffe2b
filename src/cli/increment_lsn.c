/* SPDX-License-Identifier: MIT
 *
 * increment_lsn: cdcctl increment-lsn, sys.fn_cdc_increment_lsn.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        char text[24];
        int r = cdc_increment_lsn(invocation->arguments[0], text, &error);
        return r < 0 ? output_error(r, &error) : output_scalar(text);
}

const struct command command_increment_lsn = {
        .name = "increment-lsn",
        .summary = "Print the LSN after a given one",
        .arguments = {"LSN"},
        .run = run,
};
