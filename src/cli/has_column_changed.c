/* SPDX-License-Identifier: MIT
 *
 * has_column_changed: cdcctl has-column-changed, sys.fn_cdc_has_column_changed.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        const char *const *arguments = invocation->arguments;
        struct cdc_error error = {0};
        bool has_changed;
        int r = cdc_has_column_changed(&invocation->database, arguments[1], arguments[2],
                arguments[3], &has_changed, &error);
        return r < 0 ? output_error(r, &error) : output_scalar(has_changed ? "1" : "0");
}

const struct command command_has_column_changed = {
        .name = "has-column-changed",
        .summary = "Print a column's bit of an update mask",
        .arguments = {"DATABASE", "INSTANCE", "COLUMN", "MASK"},
        .help = "MASK as \\x1f, 0x1f or 1f.\n",
        .run = run,
};
