/* SPDX-License-Identifier: MIT
 *
 * enable_table: cdcctl enable-table, sys.sp_cdc_enable_table, and ours for many tables.
 */
#include <stdlib.h>
#include <string.h>

#include "output.h"

static const struct option_row options[] = {
        {"--capture-instance", "NAME", "its name; the default is main_TABLE"},
        {"--captured-columns", "LIST",
                "columns to capture, with commas between them,\nquoted with \" or [] where needed; "
                "the default is\nall"},
        {"--supports-net-changes", "0|1", "the default is 1 if there is a key"},
        {"--index", "NAME", "a unique index that identifies rows; the\ndefault is the primary key"},
        {"--role", "GROUP", "who may read the changes"},
        {"--mirror", "0|1", "accepted; mirrors do not exist yet"},
        {"--filegroup", "NAME", "refused: --store says where change tables are"},
        {"--allow-partition-switch", "0|1", "accepted; no table is partitioned"},
        {"--all", NULL, "every ordinary table that has no instance yet"},
        {"--like", "PATTERN", "with --all: tables whose name is LIKE this"},
        {0},
};

/* A bit, or `absent` where the option was not given. */
static enum exit_code parse_bit(
        const struct invocation *invocation, const char *name, int absent, int *ret_bit)
{
        const char *text = invocation_option(invocation, name);
        *ret_bit = absent;
        if (!text)
                return EXIT_OK;
        if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
                return invocation_refuse(invocation->command, "%s takes 0 or 1", name);
        *ret_bit = text[0] - '0';
        return EXIT_OK;
}

static enum exit_code run_all(const struct invocation *invocation)
{
        static const char *const of_one_table[] = {"--capture-instance", "--captured-columns",
                "--supports-net-changes", "--index", "--role", "--filegroup"};
        struct cdc_error error = {0};
        if (invocation->arguments[1])
                return invocation_refuse(invocation->command, "--all takes no TABLE");
        for (unsigned i = 0; i < sizeof(of_one_table) / sizeof(of_one_table[0]); i++) {
                if (invocation_option(invocation, of_one_table[i]))
                        return invocation_refuse(
                                invocation->command, "--all takes no %s", of_one_table[i]);
        }
        int r = cdc_enable_all(&invocation->database, invocation_option(invocation, "--like"),
                output_notice, NULL, &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

struct bits {
        int supports_net;
        int mirror;
        int partition_switch;
};

static enum exit_code run_one(const struct invocation *invocation, const struct bits *bits)
{
        struct cdc_error error = {0};
        struct cdc_table_options table = {
                .table = invocation->arguments[1],
                .capture_instance = invocation_option(invocation, "--capture-instance"),
                .captured_columns = invocation_option(invocation, "--captured-columns"),
                .index = invocation_option(invocation, "--index"),
                .role = invocation_option(invocation, "--role"),
                .supports_net_changes = bits->supports_net,
                .is_mirror_off = bits->mirror == 0,
                .filegroup = invocation_option(invocation, "--filegroup"),
                .is_partition_switch_off = bits->partition_switch == 0,
        };
        if (!table.table)
                return invocation_refuse(invocation->command, "TABLE is missing");
        if (invocation_option(invocation, "--like"))
                return invocation_refuse(invocation->command, "--like is for --all");
        int r = cdc_enable_table(&invocation->database, &table, output_notice, NULL, &error);
        return r < 0 ? output_error(r, &error) : EXIT_OK;
}

static enum exit_code run(const struct invocation *invocation)
{
        struct bits bits;
        enum exit_code code =
                parse_bit(invocation, "--supports-net-changes", -1, &bits.supports_net);
        if (code == EXIT_OK)
                code = parse_bit(invocation, "--mirror", 1, &bits.mirror);
        if (code == EXIT_OK)
                code = parse_bit(invocation, "--allow-partition-switch", 1, &bits.partition_switch);
        if (code != EXIT_OK)
                return code;
        return invocation_option(invocation, "--all") ? run_all(invocation)
                                                      : run_one(invocation, &bits);
}

const struct command command_enable_table = {
        .name = "enable-table",
        .summary = "Capture the changes of a table, or of all",
        .arguments = {"DATABASE", "[TABLE]"},
        .options = options,
        .help = "Makes a capture instance; a table has at most two. With an agent running it\n"
                "returns when the agent captures the table, else the instance is pending until\n"
                "one does. Write -- before a TABLE that begins with a dash.\n",
        .run = run,
};
