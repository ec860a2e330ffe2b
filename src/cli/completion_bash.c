/* SPDX-License-Identifier: MIT
 *
 * completion_bash: the script for bash: two functions that are tables, made from the commands, and
 * one that reads the line by them.
 *
 * `=` parts words in bash: --format=csv comes as three of them.
 */
#include <stdio.h>
#include <string.h>

#include "completion.h"

static void print_completion(struct completion completion)
{
        static const char *const kinds[] = {
                [COMPLETION_WORDS] = "words",
                [COMPLETION_FILES] = "files",
                [COMPLETION_GROUPS] = "groups",
                [COMPLETION_INSTANCES] = "instances",
        };
        printf("kind=%s", kinds[completion.kind]);
        if (completion.words)
                printf(" values='%s'", completion.words);
        printf(" ;;\n");
}

/* `enable-table --store) kind=files ;;` and `enable-table 0) …`. */
static void print_values(const struct command *command)
{
        const struct option_row *option;
        for (unsigned i = 0; (option = command_option(command, i)); i++) {
                if (!option->argument || completion_of_option(option).kind == COMPLETION_NONE)
                        continue;
                printf("        '%s %s') ", command->name, option->name);
                print_completion(completion_of_option(option));
        }
        for (unsigned i = 0; i < COMMAND_ARGUMENTS && command->arguments[i]; i++) {
                struct completion completion = completion_of_argument(command->arguments[i]);
                if (completion.kind == COMPLETION_NONE)
                        continue;
                printf("        '%s %u') ", command->name, i);
                print_completion(completion);
        }
}

static void print_options(const struct command *command)
{
        const struct option_row *option;
        printf("        %s) options='", command->name);
        for (unsigned i = 0; (option = command_option(command, i)); i++)
                printf("%s%s", i > 0 ? "|" : "", option->name);
        printf("' valued='");
        for (unsigned i = 0; (option = command_option(command, i)); i++) {
                if (option->argument)
                        printf("|%s", option->name);
        }
        printf("|' ;;\n");
}

static const char begin[] = "# bash completion of cdcctl, made by: cdcctl completion bash\n\n";

static const char reading[] =
        "# Adds what begins as the word does; one that is quoted already stays so.\n"
        "_cdcctl_offer() {\n"
        "        local value begun=${current#[\\'\\\"]}\n"
        "        while IFS= read -r value; do\n"
        "                [[ -n $value && $value == \"$begun\"* ]] || continue\n"
        "                [[ $begun != \"$current\" ]] || value=$(printf %q \"$value\")\n"
        "                COMPREPLY+=(\"$value\")\n"
        "        done\n"
        "}\n\n"
        "_cdcctl_instances() {\n"
        "        cdcctl help-change-data-capture \"$1\" --format jsonl 2>/dev/null |\n"
        "                sed -nE 's/.*\"capture_instance\":\"([^\"\\\\]*)\".*/\\1/p'\n"
        "}\n\n"
        "_cdcctl() {\n"
        "        local command=${COMP_WORDS[1]} current=${COMP_WORDS[COMP_CWORD]}\n"
        "        local previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
        "        local commands options='|' valued='|' kind='' values='' database='' place=0 i\n"
        "        COMPREPLY=()\n"
        "        if [[ $current == = ]]; then\n"
        "                current=\n"
        "        elif [[ $previous == = ]]; then\n"
        "                previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
        "        fi\n"
        "        _cdcctl_options \"$command\"\n"
        "        if ((COMP_CWORD == 1)); then\n"
        "                kind=words values=$commands\n"
        "        elif [[ $valued == *\"|$previous|\"* ]]; then\n"
        "                _cdcctl_values \"$command $previous\"\n"
        "        elif [[ $current == -* ]]; then\n"
        "                kind=words values=$options\n"
        "        fi\n"
        "        for ((i = 2; i < COMP_CWORD; i++)); do\n"
        "                if [[ $valued == *\"|${COMP_WORDS[i]}|\"* ]]; then\n"
        "                        [[ ${COMP_WORDS[i + 1]} != = ]] || ((i++))\n"
        "                        ((i++))\n"
        "                elif [[ ${COMP_WORDS[i]} != -* ]]; then\n"
        "                        [[ -n $database ]] || database=${COMP_WORDS[i]}\n"
        "                        ((place += 1))\n"
        "                fi\n"
        "        done\n"
        "        if [[ -z $kind && $valued != *\"|$previous|\"* ]]; then\n"
        "                _cdcctl_values \"$command $place\"\n"
        "        fi\n"
        "        case $kind in\n"
        "        words) _cdcctl_offer <<<\"${values//|/$'\\n'}\" ;;\n"
        "        groups) _cdcctl_offer < <(compgen -g) ;;\n"
        "        instances) _cdcctl_offer < <(_cdcctl_instances \"$database\") ;;\n"
        "        files)\n"
        "                compopt -o filenames 2>/dev/null\n"
        "                mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
        "                ;;\n"
        "        esac\n"
        "}\n\n"
        "complete -F _cdcctl cdcctl\n";

void completion_print_bash(void)
{
        const struct command *const *command;
        printf("%s_cdcctl_options() {\n        commands='", begin);
        for (command = command_table(); *command; command++)
                printf("%s|", (*command)->name);
        printf("--help|--version'\n        case $1 in\n");
        for (command = command_table(); *command; command++)
                print_options(*command);
        printf("        esac\n}\n\n# Of an option, or of the argument at a place.\n"
               "_cdcctl_values() {\n        case $1 in\n");
        for (command = command_table(); *command; command++)
                print_values(*command);
        printf("        esac\n}\n\n%s", reading);
}
