/* SPDX-License-Identifier: MIT
 *
 * running: time that has certainly passed, for what must not go too early.
 *
 * The wall clock may jump, and a store outlives processes. So the time is counted by the monotonic
 * clock and kept in cdcfs_state with the boot that it was read in: in one boot it goes on between
 * processes, over a restart of the machine it goes on from where it was saved last. It never runs
 * faster than real time and never back.
 */
#ifndef CDC_RUNNING_H
#define CDC_RUNNING_H

#include <sqlite3.h>
#include <stdint.h>
#include "ground/clock.h"
#include "memory/store.h"

/* Nanoseconds, from 0 when the store began to count. clock may be NULL: the system's. 0 or
 * negative errno. */
int running_read(sqlite3 *db, const struct clock *clock, int64_t *ret_running_ns);
/* The same, and keeps it, in the caller's transaction. */
int running_save(struct store *store, const struct clock *clock, int64_t *ret_running_ns);

#endif
