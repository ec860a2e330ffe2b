/* SPDX-License-Identifier: MIT
 *
 * main: finds the command, lets it run, ends with its exit code.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "output.h"

static enum exit_code run(const struct command *command, int argc, char **argv)
{
        struct invocation invocation;
        bool is_help;
        enum exit_code code = invocation_parse(command, argc, argv, &invocation, &is_help);
        if (code != EXIT_OK)
                return code;
        if (is_help) {
                help_print_command(command);
                return EXIT_OK;
        }
        return command->run(&invocation);
}

static enum exit_code dispatch(int argc, char **argv)
{
        const char *word = argc > 1 ? argv[1] : NULL;
        if (!word) {
                fprintf(stderr, "cdcctl: a command is missing; see cdcctl --help\n");
                return EXIT_USAGE;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
                help_print();
                return EXIT_OK;
        }
        if (strcmp(word, "--version") == 0) {
                printf("cdcctl %s\n", CDC_VERSION);
                return EXIT_OK;
        }
        const struct command *command = command_find(word);
        if (!command) {
                fprintf(stderr, "cdcctl: there is no %s '%s'; see cdcctl --help\n",
                        word[0] == '-' ? "option" : "command", word);
                return EXIT_USAGE;
        }
        return run(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
        return output_finish(dispatch(argc, argv));
}
