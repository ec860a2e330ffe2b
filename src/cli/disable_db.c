/* SPDX-License-Identifier: MIT
 *
 * disable_db: cdcctl disable-db, sys.sp_cdc_disable_db.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        int r = cdc_disable_db(&invocation->database, &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

const struct command command_disable_db = {
        .name = "disable-db",
        .summary = "Drop all capture instances and the store",
        .arguments = {"DATABASE"},
        .help = "Everything that was captured is lost. The agent must have been stopped.\n",
        .run = run,
};
