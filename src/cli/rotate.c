/* SPDX-License-Identifier: MIT
 *
 * rotate: cdcctl rotate.
 */
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        int r = cdc_rotate(&invocation->database, &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

const struct command command_rotate = {
        .name = "rotate",
        .summary = "Capture all there is and close the open files",
        .arguments = {"DATABASE"},
        .help = "Returns when everything committed before the call stands in listed files.\n"
                "Needs an agent. Nothing to close is no error.\n",
        .run = run,
};
