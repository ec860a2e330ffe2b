/* SPDX-License-Identifier: MIT
 *
 * gaps: the losses of continuity that `cdcctl status` tells of, and steps between LSNs.
 */
#include "stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void gaps_release(struct gaps *gaps)
{
        free(gaps->items);
        *gaps = (struct gaps){0};
}

static int by_from(const void *a, const void *b)
{
        return strcmp(((const struct gap *)a)->from, ((const struct gap *)b)->from);
}

/* The line that tells of a gap without end: capture of an instance stopped. */
static void note_stopped(struct gaps *gaps, const char *text, const char *at)
{
        while (at > text && at[-1] != '\n')
                at--;
        snprintf(gaps->stopped, sizeof(gaps->stopped), "%.*s", (int)strcspn(at, "\n"), at);
}

/* Wherever it says "from LSN to LSN". */
static void parse_gaps(struct gaps *gaps, const char *text)
{
        enum { WIDTH = LSN_SIZE - 1, FROM = sizeof("from ") - 1, TO = FROM + WIDTH + 4 };
        for (const char *at = text; (at = strstr(at, "from ")); at += FROM) {
                struct gap gap = {{0}, {0}};
                if (strlen(at) < TO + WIDTH || !delivered_is_lsn(at + FROM, WIDTH))
                        continue;
                if (strncmp(at + TO - 4, " to ", 4) != 0 || !delivered_is_lsn(at + TO, WIDTH)) {
                        note_stopped(gaps, text, at);
                        continue;
                }
                memcpy(gap.from, at + FROM, WIDTH);
                memcpy(gap.to, at + TO, WIDTH);
                gaps->items = memory_grow(gaps->items, (gaps->count + 1) * sizeof(*gaps->items));
                gaps->items[gaps->count++] = gap;
        }
        if (gaps->count)
                qsort(gaps->items, gaps->count, sizeof(*gaps->items), by_from);
}

int gaps_read(struct gaps *gaps, const struct programs *programs, const struct settings *settings)
{
        char path[PATH_SIZE + 16];
        _cleanup_bytes_ struct bytes text = {0};
        const char *arguments[] = {"status", settings->database, "--format", "csv", NULL};
        snprintf(path, sizeof(path), "%s/status.csv", settings->directory);
        int result = cdcctl_run(programs, settings, arguments, path, NULL);
        if (result == 0)
                result = bytes_read_file(&text, path);
        if (result == 0)
                parse_gaps(gaps, bytes_string(&text));
        return result > 0 ? -EIO : result;
}

void lsn_step(const char *lsn, int by, char *ret_lsn)
{
        static const char digits[] = "0123456789abcdef";
        const char *edge = by > 0 ? "f" : "0";
        memcpy(ret_lsn, lsn, LSN_SIZE);
        for (int i = LSN_SIZE - 2; i >= 0; i--) {
                if (ret_lsn[i] == ':')
                        continue;
                bool is_carried = ret_lsn[i] == *edge;
                long value = strchr(digits, ret_lsn[i]) - digits;
                ret_lsn[i] = digits[(value + by + 16) % 16];
                if (!is_carried)
                        return;
        }
}
