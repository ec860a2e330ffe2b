/* SPDX-License-Identifier: MIT
 *
 * disable_table: cdcctl disable-table, sys.sp_cdc_disable_table.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        const char *instance = invocation_option(invocation, "--capture-instance");
        if (!instance)
                return invocation_refuse(invocation->command, "--capture-instance is missing");
        int r = cdc_disable_table(
                &invocation->database, invocation->arguments[1], instance, &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

static const struct option_row options[] = {
        {"--capture-instance", "INSTANCE", "which instance, or all; must be given"},
        {0},
};

const struct command command_disable_table = {
        .name = "disable-table",
        .summary = "Drop a capture instance of a table, or all",
        .arguments = {"DATABASE", "TABLE"},
        .options = options,
        .help = "What the instance has captured is lost.\n",
        .run = run,
};
