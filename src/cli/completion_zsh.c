/* SPDX-License-Identifier: MIT
 *
 * completion_zsh: the script for zsh: a call of its function _arguments for each command, which
 * shows the help of options beside them.
 */
#include <stdio.h>
#include <string.h>

#include "completion.h"

/* Inside single quotes, and with a backslash before what _arguments takes for an end. Lines become
 * one. */
static void print_text(const char *text)
{
        for (; *text; text++) {
                if (*text == '\'')
                        fputs("'\\''", stdout);
                else if (strchr("[]:\\", *text))
                        printf("\\%c", *text);
                else
                        putchar(*text == '\n' ? ' ' : *text);
        }
}

static void print_words(const char *words)
{
        printf("(");
        for (; *words; words++) {
                if (*words == ' ')
                        putchar('\\');
                putchar(*words == '|' ? ' ' : *words);
        }
        printf(")");
}

static void print_completion(struct completion completion)
{
        static const char *const actions[] = {
                [COMPLETION_NONE] = " ",
                [COMPLETION_FILES] = "_files",
                [COMPLETION_GROUPS] = "_groups",
                [COMPLETION_INSTANCES] = "_cdcctl_instances",
        };
        if (completion.kind == COMPLETION_WORDS)
                print_words(completion.words);
        else
                printf("%s", actions[completion.kind]);
}

static void print_command(const struct command *command)
{
        const struct option_row *option;
        printf("        %s)\n                _arguments", command->name);
        for (unsigned i = 0; (option = command_option(command, i)); i++) {
                printf(" \\\n                        '%s%s[", option->name,
                        option->argument ? "=" : "");
                print_text(option->help);
                printf("]");
                if (option->argument) {
                        printf(":%s:", option->argument);
                        print_completion(completion_of_option(option));
                }
                printf("'");
        }
        for (unsigned i = 0; i < COMMAND_ARGUMENTS && command->arguments[i]; i++) {
                const char *name = command->arguments[i];
                bool is_optional = name[0] == '[';
                printf(" \\\n                        '%u:%s%.*s:", i + 1, is_optional ? ":" : "",
                        (int)(strlen(name) - 2 * is_optional), name + is_optional);
                print_completion(completion_of_argument(name));
                printf("'");
        }
        printf("\n                ;;\n");
}

void completion_print_zsh(void)
{
        const struct command *const *command;
        printf("#compdef cdcctl\n# zsh completion of cdcctl, made by: cdcctl completion zsh\n\n"
               "_cdcctl_instances() {\n"
               "        local -a names\n"
               "        names=(${(f)\"$(cdcctl help-change-data-capture \"$database\" "
               "--format jsonl 2>/dev/null |\n"
               "                sed -nE "
               "'s/.*\"capture_instance\":\"([^\"\\\\]*)\".*/\\1/p')\"})\n"
               "        compadd -a names\n"
               "}\n\n"
               "_cdcctl() {\n"
               "        local -a commands\n"
               "        commands=(\n");
        for (command = command_table(); *command; command++) {
                printf("                '%s:", (*command)->name);
                print_text((*command)->summary);
                printf("'\n");
        }
        printf("        )\n"
               "        if ((CURRENT == 2)); then\n"
               "                _describe -t commands command commands\n"
               "                compadd -- --help --version\n"
               "                return\n"
               "        fi\n"
               "        shift words\n"
               "        ((CURRENT--))\n"
               "        local database=$words[2]\n"
               "        case $words[1] in\n");
        for (command = command_table(); *command; command++)
                print_command(*command);
        printf("        esac\n}\n\n_cdcctl \"$@\"\n");
}
