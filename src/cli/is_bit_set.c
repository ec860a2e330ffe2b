/* SPDX-License-Identifier: MIT
 *
 * is_bit_set: cdcctl is-bit-set, sys.fn_cdc_is_bit_set.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        const char *text = invocation->arguments[0];
        struct cdc_error error = {0};
        char *end;
        bool bit;
        errno = 0;
        unsigned long position = strtoul(text, &end, 10);
        if (text[0] < '0' || text[0] > '9' || *end || errno || position > UINT_MAX)
                return invocation_refuse(
                        invocation->command, "POSITION is a number, not '%s'", text);
        int r = cdc_is_bit_set((unsigned)position, invocation->arguments[1], &bit, &error);
        return r < 0 ? output_error(r, &error) : output_scalar(bit ? "1" : "0");
}

const struct command command_is_bit_set = {
        .name = "is-bit-set",
        .summary = "Print a bit of an update mask",
        .arguments = {"POSITION", "MASK"},
        .help = "POSITION is a column's ordinal, from 1; MASK as \\x1f, 0x1f or 1f.\n",
        .run = run,
};
