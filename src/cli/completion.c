/* SPDX-License-Identifier: MIT
 *
 * completion: cdcctl completion, and what completes a word. It knows no shell.
 */
#include "completion.h"

#include <string.h>

static const struct {
        const char *name;
        struct completion completion;
} names[] = {
        {"DATABASE", {COMPLETION_FILES, NULL}},
        {"PATH", {COMPLETION_FILES, NULL}},
        {"GROUP", {COMPLETION_GROUPS, NULL}},
        {"INSTANCE", {COMPLETION_INSTANCES, NULL}},
        {"TYPE", {COMPLETION_WORDS, "capture|cleanup"}},
        {"SHELL", {COMPLETION_WORDS, "bash|zsh"}},
        {"FORMAT", {COMPLETION_WORDS, "table|csv|jsonl"}},
        {"LEVEL", {COMPLETION_WORDS, "error|warning|info|debug"}},
        {"OPERATOR", {COMPLETION_WORDS,
                             "largest less than|largest less than or equal|smallest greater than|"
                             "smallest greater than or equal"}},
};

struct completion completion_of_argument(const char *name)
{
        size_t size = strlen(name), skip = name[0] == '[';
        size -= 2 * skip;
        name += skip;
        for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                if (strlen(names[i].name) == size && strncmp(names[i].name, name, size) == 0)
                        return names[i].completion;
        }
        return (struct completion){COMPLETION_NONE, NULL};
}

struct completion completion_of_option(const struct option_row *option)
{
        if (option->values)
                return (struct completion){COMPLETION_WORDS, option->values};
        if (strchr(option->argument, '|'))
                return (struct completion){COMPLETION_WORDS, option->argument};
        return completion_of_argument(option->argument);
}

static enum exit_code run(const struct invocation *invocation)
{
        const char *shell = invocation->arguments[0];
        if (strcmp(shell, "bash") == 0)
                completion_print_bash();
        else if (strcmp(shell, "zsh") == 0)
                completion_print_zsh();
        else
                return invocation_refuse(invocation->command,
                        "there is no script for '%s', but bash and zsh", shell);
        return EXIT_OK;
}

const struct command command_completion = {
        .name = "completion",
        .summary = "Print the completion script of a shell",
        .arguments = {"SHELL"},
        .help = "SHELL is bash or zsh. Both scripts are installed with the program; where they "
                "are\n"
                "not: source <(cdcctl completion bash).\n",
        .run = run,
};
