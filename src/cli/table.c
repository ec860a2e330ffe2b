/* SPDX-License-Identifier: MIT
 *
 * table: the commands of cdcctl in the order of --help: one row each, and the options that many of
 * them have. It knows nothing more of them than that they exist.
 */
#include <stdbool.h>
#include <string.h>

#include "command.h"

/* clang-format off */
#define EACH_COMMAND(row) \
        row(command_enable_db) \
        row(command_disable_db) \
        row(command_enable_table) \
        row(command_disable_table) \
        row(command_help_change_data_capture) \
        row(command_get_captured_columns) \
        row(command_get_ddl_history) \
        row(command_get_all_changes) \
        row(command_get_net_changes) \
        row(command_get_min_lsn) \
        row(command_get_max_lsn) \
        row(command_increment_lsn) \
        row(command_decrement_lsn) \
        row(command_map_time_to_lsn) \
        row(command_map_lsn_to_time) \
        row(command_get_column_ordinal) \
        row(command_has_column_changed) \
        row(command_is_bit_set) \
        row(command_status) \
        row(command_add_job) \
        row(command_drop_job) \
        row(command_change_job) \
        row(command_help_jobs) \
        row(command_start_job) \
        row(command_stop_job) \
        row(command_scan) \
        row(command_hold) \
        row(command_cleanup_change_table) \
        row(command_rotate) \
        row(command_agent) \
        row(command_completion)
/* clang-format on */

#define DECLARE(name) extern const struct command name;
#define LIST(name) &name,

EACH_COMMAND(DECLARE)

static const struct command *const commands[] = {EACH_COMMAND(LIST) NULL};

const struct command *const *command_table(void)
{
        return commands;
}

const struct command *command_find(const char *name)
{
        for (const struct command *const *command = commands; *command; command++) {
                if (strcmp((*command)->name, name) == 0)
                        return *command;
        }
        return NULL;
}

static const struct option_row of_rows = {"--format", "FORMAT",
        "table, csv or jsonl; the default is table on\na terminal and csv elsewhere"};
static const struct option_row of_databases = {
        "--store", "PATH", "the store, if it is not DATABASE-cdc"};
static const struct option_row of_all = {"--help", NULL, "print this help"};

const struct option_row *command_option(const struct command *command, unsigned index)
{
        const struct option_row *row = command->options;
        bool has_database = command->arguments[0] && strcmp(command->arguments[0], "DATABASE") == 0;
        for (; row && row->name; row++) {
                if (index-- == 0)
                        return row;
        }
        if (command->has_rows && index-- == 0)
                return &of_rows;
        if (has_database && index-- == 0)
                return &of_databases;
        return index == 0 ? &of_all : NULL;
}
