/* SPDX-License-Identifier: MIT
 *
 * output: how results, notices and errors leave cdcctl.
 *
 * Results go to stdout, all else to stderr, one line each and without control bytes: names come
 * from other people's databases.
 */
#ifndef CDCCTL_OUTPUT_H
#define CDCCTL_OUTPUT_H

#include "command.h"

/* `cdcctl: error 22962: …` for a negative result. Gives EXIT_FAILED. */
enum exit_code output_error(int result, const struct cdc_error *error);
/* A cdc_notice: `cdcctl: notice 22905: …`. */
void output_notice(void *context, int number, const char *line);
/* `cdcctl: <word>: …`. */
void output_line(const char *word, const char *line);
/* Prints and closes the rows in the invocation's format. */
enum exit_code output_rows(const struct invocation *invocation, struct cdc_rows *rows);
/* A bare value and LF. */
enum exit_code output_scalar(const char *text);
/* Closes stdout. EXIT_FAILED with a line on stderr if not all could be written. */
enum exit_code output_finish(enum exit_code code);

#endif
