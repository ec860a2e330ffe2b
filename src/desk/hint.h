/* SPDX-License-Identifier: MIT
 *
 * hint: the commands that messages tell to run, as one types them into a shell: with the database,
 * and with the store where it is not in its place.
 */
#ifndef CDC_HINT_H
#define CDC_HINT_H

#include "desk/call.h"
#include "ground/buf.h"

/* Appends `cdcctl COMMAND DATABASE`, and `--store STORE` where the store is elsewhere. */
void hint_command(struct buf *buf, const struct call_paths *paths, const char *command);
/* Appends what runs the jobs: `cdcctl agent DATABASE, or cdcfs`, each with the store where it is
 * elsewhere. */
void hint_agents(struct buf *buf, const struct call_paths *paths);
/* The refusal 22901, with what enables the database. Returns -ENOENT. */
int hint_refuse_disabled(const struct call_paths *paths, struct problem *problem);
/* The refusal of a source that is not in WAL mode, with what sets it. Returns -ENOTSUP. */
int hint_refuse_journal(const struct call_paths *paths, struct problem *problem);

#endif
