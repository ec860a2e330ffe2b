/* SPDX-License-Identifier: MIT
 *
 * help: prints --help from the descriptions of the commands, in 80 columns.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"

enum { OPTION_WIDTH = 30 };

static void print_usage(const struct command *command)
{
        printf("Usage: cdcctl %s [OPTIONS]", command->name);
        for (unsigned i = 0; i < COMMAND_ARGUMENTS && command->arguments[i]; i++)
                printf(" %s", command->arguments[i]);
        printf("\n\n%s.\n", command->summary);
}

/* The lines of the help stand beside the option, or below it where it is too long. */
static void print_option(const struct option_row *row)
{
        int width = printf("  %s%s%s", row->name, row->argument ? " " : "",
                row->argument ? row->argument : "");
        if (width >= OPTION_WIDTH) {
                printf("\n");
                width = 0;
        }
        for (const char *line = row->help; line;) {
                size_t size = strcspn(line, "\n");
                printf("%*s%.*s\n", OPTION_WIDTH - width, "", (int)size, line);
                line = line[size] ? line + size + 1 : NULL;
                width = 0;
        }
}

void help_print_command(const struct command *command)
{
        const struct option_row *option;
        print_usage(command);
        if (command->help)
                printf("\n%s", command->help);
        printf("\nOptions:\n");
        for (unsigned i = 0; (option = command_option(command, i)); i++)
                print_option(option);
}

void help_print(void)
{
        printf("Usage: cdcctl COMMAND [OPTIONS] [ARGUMENTS]\n\n"
               "Change data capture for SQLite databases: SQL Server's procedures and functions\n"
               "by their known names.\n\n"
               "Commands:\n");
        for (const struct command *const *command = command_table(); *command; command++)
                printf("  %-26s%s\n", (*command)->name, (*command)->summary);
        printf("\nOptions:\n"
               "  --help                    print this help, or after a command its own\n"
               "  --version                 print the version\n\n"
               "Exit status: 0, 1 refused or failed, 2 usage, 3 nothing new yet.\n");
}
