/* SPDX-License-Identifier: MIT
 *
 * range: chooses between LSNs and times. It knows neither function.
 */
#include "range.h"

#include <errno.h>

#include "output.h"

enum exit_code range_run(
        const struct invocation *invocation, range_function by_lsn, range_function by_time)
{
        const char *const *arguments = invocation->arguments;
        const char *from = invocation_option(invocation, "--from-time");
        const char *to = invocation_option(invocation, "--to-time");
        bool is_by_time = from || to;
        struct cdc_error error = {0};
        struct cdc_rows *rows;
        if (is_by_time && arguments[2])
                return invocation_refuse(
                        invocation->command, "a window of time takes no FROM and TO");
        if (!is_by_time && !arguments[3])
                return invocation_refuse(invocation->command,
                        "%s is missing (or --from-time and --to-time)",
                        arguments[2] ? "TO" : "FROM");
        range_function function = is_by_time ? by_time : by_lsn;
        int r = function(&invocation->database, arguments[1], is_by_time ? from : arguments[2],
                is_by_time ? to : arguments[3], invocation_option(invocation, "--row-filter"),
                &rows, &error);
        if (r == -EAGAIN) {
                output_line("notice", error.message);
                return EXIT_NOTHING_NEW;
        }
        return r < 0 ? output_error(r, &error) : output_rows(invocation, rows);
}
