/* SPDX-License-Identifier: MIT
 *
 * output: lines for the human on stderr, results on stdout. It knows no command.
 */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grid.h"

/* Control bytes would let a table's name write on the terminal, and break one line in two. */
static void print_clean(const char *text)
{
        for (const char *c = text; *c; c++) {
                unsigned char byte = (unsigned char)*c;
                if (byte < 0x20 || byte == 0x7f)
                        fprintf(stderr, "\\x%02x", byte);
                else
                        fputc(byte, stderr);
        }
        fputc('\n', stderr);
}

void output_line(const char *word, const char *line)
{
        fprintf(stderr, "cdcctl: %s: ", word);
        print_clean(line);
}

static void print_numbered(const char *word, int number, const char *line)
{
        char head[32];
        snprintf(head, sizeof(head), "%s %d", word, number);
        output_line(number ? head : word, line);
}

enum exit_code output_error(int result, const struct cdc_error *error)
{
        bool has_message = error && error->message[0];
        print_numbered("error", has_message ? error->number : 0,
                has_message ? error->message : strerror(-result));
        return EXIT_FAILED;
}

void output_notice(void *context, int number, const char *line)
{
        (void)context;
        print_numbered("notice", number, line);
}

enum exit_code output_rows(const struct invocation *invocation, struct cdc_rows *rows)
{
        int r = strcmp(invocation->format, "table") == 0
                        ? grid_print(rows, stdout)
                        : cdc_rows_write(rows, invocation->format, STDOUT_FILENO);
        cdc_rows_close(rows);
        if (r == -ESTALE) {
                output_line("error", "the store was written to while it was read, so that rows may "
                                     "be missing: run this again");
                return EXIT_FAILED;
        }
        return r < 0 ? output_error(r, NULL) : EXIT_OK;
}

enum exit_code output_scalar(const char *text)
{
        printf("%s\n", text);
        return EXIT_OK;
}

enum exit_code output_finish(enum exit_code code)
{
        if (fclose(stdout) == 0)
                return code;
        perror("cdcctl: error: standard output");
        return code == EXIT_OK ? EXIT_FAILED : code;
}
