/* SPDX-License-Identifier: MIT
 *
 * cleanup_change_table: cdcctl cleanup-change-table, sys.sp_cdc_cleanup_change_table.
 */
#include <strings.h>

#include "job_options.h"
#include "output.h"

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_error error = {0};
        int64_t threshold;
        const char *mark = invocation->arguments[2];
        enum exit_code code = job_options_number(invocation, "--threshold", &threshold);
        if (code != EXIT_OK)
                return code;
        if (strcasecmp(mark, "NULL") == 0)
                mark = NULL;
        int r = cdc_cleanup_change_table(&invocation->database, invocation->arguments[1], mark,
                threshold, output_notice, NULL, &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

static const struct option_row options[] = {
        {"--threshold", "ROWS", "rows that one delete takes at most; the\ndefault is 5000"},
        {0},
};

const struct command command_cleanup_change_table = {
        .name = "cleanup-change-table",
        .summary = "Raise an instance's low water mark",
        .arguments = {"DATABASE", "INSTANCE", "LSN"},
        .options = options,
        .help = "LSN must be the start_lsn of a row of lsn_time_mapping, inside the instance's\n"
                "interval; NULL leaves the mark and deletes what is below it. A file that holds\n"
                "the mark is not listed any more, the rest of its range can still be asked for.\n"
                "Files that went can be opened by name for 15 minutes; their rows go then.\n",
        .run = run,
};
