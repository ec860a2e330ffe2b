/* SPDX-License-Identifier: MIT
 *
 * get_column_ordinal: cdcctl get-column-ordinal, sys.fn_cdc_get_column_ordinal.
 */
#include <stdio.h>

#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        char text[16] = "";
        unsigned ordinal;
        int r = cdc_get_column_ordinal(&invocation->database, invocation->arguments[1],
                invocation->arguments[2], &ordinal, &error);
        if (r < 0)
                return output_error(r, &error);
        if (ordinal > 0)
                snprintf(text, sizeof(text), "%u", ordinal);
        return output_scalar(text);
}

const struct command command_get_column_ordinal = {
        .name = "get-column-ordinal",
        .summary = "Print the place of a captured column",
        .arguments = {"DATABASE", "INSTANCE", "COLUMN"},
        .help = "From 1; its bit in update masks. An empty line for a column that is not\n"
                "captured.\n",
        .run = run,
};
