/* SPDX-License-Identifier: MIT
 *
 * command: what a command of cdcctl is, and one invocation of it.
 *
 * Each command is one file that defines a `const struct command` and one row in table.c. The
 * description drives everything: dispatch, the check of arguments and options, and --help.
 */
#ifndef CDCCTL_COMMAND_H
#define CDCCTL_COMMAND_H

#include <cdc.h>
#include <stdbool.h>
#include <stddef.h>

enum exit_code {
        EXIT_OK = 0,
        EXIT_FAILED = 1,      /* refused or failed */
        EXIT_USAGE = 2,       /* the command line is wrong */
        EXIT_NOTHING_NEW = 3, /* from is the LSN after max_lsn */
};

enum { COMMAND_ARGUMENTS = 4, COMMAND_OPTIONS = 16 };

struct option_row {
        const char *name;     /* "--role" */
        const char *argument; /* "GROUP"; NULL for a switch */
        const char *help;     /* a line, or several with '\n' between them */
        const char *values;   /* what the argument can be, with '|' between them; NULL: as its name
                               * says (completion.h) */
};

struct invocation;

struct command {
        const char *name;
        const char *summary; /* one line, at most 50 columns */
        /* Names of what must be given, in order. The first is DATABASE for all that have one; one
         * in brackets may be left out. */
        const char *arguments[COMMAND_ARGUMENTS + 1];
        const struct option_row *options; /* its own; ends with a row of zeros. May be NULL */
        bool has_rows;                    /* takes --format */
        const char *help;                 /* more lines for --help, or NULL */
        enum exit_code (*run)(const struct invocation *invocation);
};

/* What the user wrote, checked against the description. */
struct invocation {
        const struct command *command;
        const char *arguments[COMMAND_ARGUMENTS]; /* NULL where left out */
        const char *options[COMMAND_OPTIONS];     /* by row; "" for a switch that is set */
        struct cdc_database database;
        const char *format; /* "table", "csv" or "jsonl" */
};

/* argv[0] is the command's name. EXIT_OK, or EXIT_USAGE with a line on stderr. *ret_is_help: the
 * user asked for --help, and nothing else was checked. */
enum exit_code invocation_parse(const struct command *command, int argc, char **argv,
        struct invocation *ret_invocation, bool *ret_is_help);
/* The value of an option of the command's own table; NULL if it was not given. */
const char *invocation_option(const struct invocation *invocation, const char *name);
/* A number from the option's value; *ret_value stays where it was not given. EXIT_USAGE with a
 * line on stderr if it is no number from 0 to max. K, M and G multiply by 1024 and so on. */
enum exit_code invocation_number(const struct invocation *invocation, const char *name,
        unsigned long long max, unsigned long long *ret_value);
/* Writes one line to stderr that says what is wrong and where help is. Gives EXIT_USAGE. */
enum exit_code invocation_refuse(const struct command *command, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* The table: all commands, NULL at the end. */
const struct command *const *command_table(void);
const struct command *command_find(const char *name);
/* The options that a command takes: its own, then those of many. NULL at the end. */
const struct option_row *command_option(const struct command *command, unsigned index);

/* --help of one command and of the program, at most 80 columns, to stdout. */
void help_print_command(const struct command *command);
void help_print(void);

#endif
