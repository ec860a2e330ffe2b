/* SPDX-License-Identifier: MIT
 *
 * invocation: reads the command line by the command's description.
 *
 * Options may stand anywhere, as `--name value` or `--name=value`; `--` ends them. It refuses to
 * know what an option means.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

/* A word on its way through the command line. */
struct parser {
        struct invocation *invocation;
        int argc;
        char **argv;
        int next;
        unsigned arguments;
        bool is_help;
};

enum exit_code invocation_refuse(const struct command *command, const char *format, ...)
{
        va_list arguments;
        fprintf(stderr, "cdcctl: %s: ", command->name);
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        fprintf(stderr, "; see cdcctl %s --help\n", command->name);
        return EXIT_USAGE;
}

static bool has_database(const struct command *command)
{
        return command->arguments[0] && strcmp(command->arguments[0], "DATABASE") == 0;
}

/* Where the option's value goes, or NULL. *ret_is_switch: it takes none. */
static const char **find_option(
        struct invocation *invocation, const char *name, size_t size, bool *ret_is_switch)
{
        const struct command *command = invocation->command;
        const struct option_row *row = command->options;
        *ret_is_switch = false;
        for (unsigned i = 0; row && row[i].name; i++) {
                if (strlen(row[i].name) != size || strncmp(row[i].name, name, size) != 0)
                        continue;
                *ret_is_switch = !row[i].argument;
                return &invocation->options[i];
        }
        if (size == strlen("--store") && strncmp(name, "--store", size) == 0 &&
                has_database(command))
                return &invocation->database.store;
        if (size == strlen("--format") && strncmp(name, "--format", size) == 0 && command->has_rows)
                return &invocation->format;
        return NULL;
}

static enum exit_code parse_option(struct parser *parser, const char *word)
{
        const struct command *command = parser->invocation->command;
        const char *value = strchr(word, '=');
        size_t size = value ? (size_t)(value - word) : strlen(word);
        bool is_switch;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
                parser->is_help = true;
                return EXIT_OK;
        }
        const char **slot = find_option(parser->invocation, word, size, &is_switch);
        if (!slot)
                return invocation_refuse(command, "unknown option '%.*s'", (int)size, word);
        if (is_switch && value)
                return invocation_refuse(command, "option '%.*s' takes no value", (int)size, word);
        if (is_switch) {
                *slot = "";
                return EXIT_OK;
        }
        if (!value && parser->next == parser->argc)
                return invocation_refuse(command, "option '%s' needs a value", word);
        *slot = value ? value + 1 : parser->argv[parser->next++];
        return EXIT_OK;
}

static enum exit_code parse_argument(struct parser *parser, const char *word)
{
        const struct command *command = parser->invocation->command;
        if (parser->arguments == COMMAND_ARGUMENTS || !command->arguments[parser->arguments])
                return invocation_refuse(command, "there is an argument too many: '%s'", word);
        parser->invocation->arguments[parser->arguments++] = word;
        return EXIT_OK;
}

static enum exit_code parse_words(struct parser *parser)
{
        bool may_be_option = true;
        enum exit_code code = EXIT_OK;
        while (code == EXIT_OK && !parser->is_help && parser->next < parser->argc) {
                const char *word = parser->argv[parser->next++];
                if (may_be_option && strcmp(word, "--") == 0)
                        may_be_option = false;
                else if (may_be_option && word[0] == '-' && word[1])
                        code = parse_option(parser, word);
                else
                        code = parse_argument(parser, word);
        }
        return code;
}

static enum exit_code check_format(struct invocation *invocation)
{
        static const char *const formats[] = {"table", "csv", "jsonl"};
        if (!invocation->format)
                invocation->format = isatty(STDOUT_FILENO) ? "table" : "csv";
        for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
                if (strcmp(invocation->format, formats[i]) == 0)
                        return EXIT_OK;
        }
        return invocation_refuse(invocation->command,
                "there is no format '%s', but table, csv and jsonl", invocation->format);
}

static enum exit_code check_arguments(const struct parser *parser)
{
        const struct command *command = parser->invocation->command;
        const char *missing = command->arguments[parser->arguments];
        if (missing && missing[0] != '[')
                return invocation_refuse(command, "%s is missing", missing);
        return check_format(parser->invocation);
}

enum exit_code invocation_parse(const struct command *command, int argc, char **argv,
        struct invocation *ret_invocation, bool *ret_is_help)
{
        struct invocation invocation = {.command = command};
        struct parser parser = {.invocation = &invocation, .argc = argc, .argv = argv, .next = 1};
        enum exit_code code = parse_words(&parser);
        if (code == EXIT_OK && !parser.is_help)
                code = check_arguments(&parser);
        if (code != EXIT_OK)
                return code;
        if (has_database(command))
                invocation.database.source = invocation.arguments[0];
        *ret_invocation = invocation;
        *ret_is_help = parser.is_help;
        return EXIT_OK;
}

const char *invocation_option(const struct invocation *invocation, const char *name)
{
        const struct option_row *row = invocation->command->options;
        for (unsigned i = 0; row && row[i].name; i++) {
                if (strcmp(row[i].name, name) == 0)
                        return invocation->options[i];
        }
        return NULL;
}

/* How often 1024 is multiplied in; *text moves over the letter. */
static unsigned parse_unit(const char **text)
{
        static const char units[] = "KMG";
        const char *unit = **text ? strchr(units, **text) : NULL;
        if (!unit)
                return 0;
        (*text)++;
        return (unsigned)(unit - units) + 1;
}

enum exit_code invocation_number(const struct invocation *invocation, const char *name,
        unsigned long long max, unsigned long long *ret_value)
{
        const char *text = invocation_option(invocation, name);
        if (!text)
                return EXIT_OK;
        char *end;
        errno = 0;
        unsigned long long value = strtoull(text, &end, 10);
        bool is_number = text[0] >= '0' && text[0] <= '9' && errno == 0;
        const char *rest = end;
        for (unsigned units = parse_unit(&rest); units > 0; units--) {
                is_number = is_number && value <= max / 1024;
                value *= 1024;
        }
        if (!is_number || *rest || value > max)
                return invocation_refuse(invocation->command,
                        "%s takes a number from 0 to %llu, not '%s'", name, max, text);
        *ret_value = value;
        return EXIT_OK;
}
