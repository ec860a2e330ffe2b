/* SPDX-License-Identifier: MIT
 *
 * completion: what completes each word of a command line, made from the table of commands, and the
 * scripts for two shells.
 *
 * A word is completed by what its place is called: DATABASE and PATH by files, GROUP by groups,
 * INSTANCE by asking cdcctl, TYPE and others by the words that they take, 0|1 by those two.
 */
#ifndef CDCCTL_COMPLETION_H
#define CDCCTL_COMPLETION_H

#include "command.h"

enum completion_kind {
        COMPLETION_NONE,
        COMPLETION_WORDS,
        COMPLETION_FILES,
        COMPLETION_GROUPS,
        COMPLETION_INSTANCES,
};

struct completion {
        enum completion_kind kind;
        const char *words; /* COMPLETION_WORDS: with '|' between them */
};

/* Of an argument, with or without its brackets, or of an option that takes a value. */
struct completion completion_of_argument(const char *name);
struct completion completion_of_option(const struct option_row *option);

/* The scripts, to stdout. */
void completion_print_bash(void);
void completion_print_zsh(void);

#endif
