/* SPDX-License-Identifier: MIT
 *
 * hold: cdcctl hold: a consumer keeps cleanup below its position.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        const char *const *arguments = invocation->arguments;
        const char *expires = invocation_option(invocation, "--expires");
        bool is_removed = invocation_option(invocation, "--remove") != NULL;
        if (is_removed && (arguments[3] || expires))
                return invocation_refuse(
                        invocation->command, "--remove takes no LSN and no --expires");
        if (!is_removed && !arguments[3])
                return invocation_refuse(invocation->command, "LSN is missing");
        int r = is_removed
                        ? cdc_remove_hold(&invocation->database, arguments[1], arguments[2], &error)
                        : cdc_hold(&invocation->database, arguments[1], arguments[2], arguments[3],
                                  expires, &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

static const struct option_row options[] = {
        {"--expires", "TIME", "when it ends, as 2026-11-30T10:00:00Z"},
        {"--remove", NULL, "remove it"},
        {0},
};

const struct command command_hold = {
        .name = "hold",
        .summary = "Keep changes that a consumer still needs",
        .arguments = {"DATABASE", "NAME", "INSTANCE", "[LSN]"},
        .options = options,
        .help = "Cleanup keeps what the instance has from LSN on, until the hold NAME is set\n"
                "anew, expires or is removed. Over the limit max_store of the agent the hold\n"
                "that is lowest yields; status shows it.\n",
        .run = run,
};
