/* SPDX-License-Identifier: MIT
 *
 * hint: quotes for a shell, and knows when a store must be named. It refuses to know what the
 * commands do.
 */
#include "desk/hint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "ground/text.h"

static bool is_elsewhere(const struct call_paths *paths)
{
        _cleanup_free_ char *place = store_default_path(paths->source);
        return place && strcmp(place, paths->store) != 0;
}

void hint_command(struct buf *buf, const struct call_paths *paths, const char *command)
{
        buf_append_format(buf, "cdcctl %s ", command);
        text_append_word(buf, paths->source);
        if (!is_elsewhere(paths))
                return;
        buf_append_string(buf, " --store ");
        text_append_word(buf, paths->store);
}

/* A comma would end the option. */
static void append_store_option(struct buf *buf, const char *store)
{
        _cleanup_(buf_release) struct buf option = BUF_INIT;
        buf_append_string(&option, "store=");
        for (const char *c = store; *c; c++) {
                if (*c == ',')
                        buf_append_byte(&option, '\\');
                buf_append_byte(&option, (uint8_t)*c);
        }
        buf_append_string(buf, " -o ");
        text_append_word(buf, buf_string(&option));
}

void hint_agents(struct buf *buf, const struct call_paths *paths)
{
        hint_command(buf, paths, "agent");
        buf_append_string(buf, ", or cdcfs");
        if (is_elsewhere(paths))
                append_store_option(buf, paths->store);
}

int hint_refuse_disabled(const struct call_paths *paths, struct problem *problem)
{
        _cleanup_(buf_release) struct buf command = BUF_INIT;
        hint_command(&command, paths, "enable-db");
        return problem_set(problem, ENOENT, 22901,
                "the database is not enabled for change data capture: there is no store '%s'; run "
                "%s, or name the store if it is elsewhere",
                paths->store, buf_string(&command));
}

int hint_refuse_journal(const struct call_paths *paths, struct problem *problem)
{
        _cleanup_(buf_release) struct buf command = BUF_INIT;
        hint_command(&command, paths, "enable-db --set-wal");
        return problem_set(problem, ENOTSUP, 0,
                "%s is not in WAL mode, and changes are read from the write-ahead log; run %s (or "
                "PRAGMA journal_mode=WAL in the application)",
                paths->source, buf_string(&command));
}
