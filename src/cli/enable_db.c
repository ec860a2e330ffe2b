/* SPDX-License-Identifier: MIT
 *
 * enable_db: cdcctl enable-db, sys.sp_cdc_enable_db.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        bool set_wal = invocation_option(invocation, "--set-wal") != NULL;
        int r = cdc_enable_db(&invocation->database, set_wal, output_notice, NULL, &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

static const struct option_row options[] = {
        {"--set-wal", NULL, "set journal_mode=WAL first, if it is another"},
        {0},
};

const struct command command_enable_db = {
        .name = "enable-db",
        .summary = "Enable change data capture for a database",
        .arguments = {"DATABASE"},
        .options = options,
        .help = "Makes the store, DATABASE-cdc. The database must be in WAL mode, which stays set\n"
                "in its file. Nothing is captured before a table is enabled and an agent runs.\n",
        .run = run,
};
