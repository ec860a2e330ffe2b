/* SPDX-License-Identifier: MIT
 *
 * decrement_lsn: cdcctl decrement-lsn, sys.fn_cdc_decrement_lsn.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        char text[24];
        int r = cdc_decrement_lsn(invocation->arguments[0], text, &error);
        return r < 0 ? output_error(r, &error) : output_scalar(text);
}

const struct command command_decrement_lsn = {
        .name = "decrement-lsn",
        .summary = "Print the LSN before a given one",
        .arguments = {"LSN"},
        .run = run,
};
