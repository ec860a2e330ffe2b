/* SPDX-License-Identifier: MIT
 *
 * pin: holds a read transaction on the source, so that no checkpoint can copy into the database
 * file, and no writer overwrite in the WAL, what has not been captured yet.
 *
 * Moving on is hand over hand: take_next opens the new read transaction while the old one is
 * held; the caller captures everything that the wal-index header then names, makes it durable, and
 * only then lets the old one go. A pin never knows which commit it stands at, and need not: the
 * header is read after take_next, so everything captured up to it is at or beyond the new pin.
 *
 * The interface is this narrow so that another process can stand behind it.
 */
#ifndef CDC_PIN_H
#define CDC_PIN_H

#include "source/database.h"

struct pin;

/* Opens the first read transaction. 0, or as problem_errno (-EAGAIN: locked). */
int pin_open(const struct database *database, struct pin **ret_pin);
/* Opens the next one beside it. A next one that was taken already and not made the only one is
 * kept. 0, or as problem_errno; the old one holds all the same. */
int pin_take_next(struct pin *pin);
/* Ends the old read transaction; the next one is the pin from now on. Does nothing if there is no
 * next one. */
void pin_release_previous(struct pin *pin);
/* Stands on another read mark, for a checkpoint of another process that waits for the one that the
 * pin stands on: it would wait as long as its caller bears, with the write lock in its hand, while
 * every next pin came to the same mark again. Called now and then (not twice in 100 ms, for so long
 * a waiting checkpoint sleeps) where nothing is new, but the log is not all copied. `captured` is
 * the last header; everything up to it is durable. 0, also where there is no need; -EAGAIN if
 * something is new, or no other mark is free; else as problem_errno. The pin holds in any case. */
int pin_step_aside(struct pin *pin, const struct database_header *captured);
/* Stands on a read mark at an older commit, `frame` of the WAL that the header names, where capture
 * left off: a new read transaction would let checkpoints copy all that is committed now.
 * *ret_header: as of then; no checkpoint runs at that moment, and none will copy what lies behind
 * the frame. 0, -EAGAIN if a checkpoint runs or no mark is free (the pin holds as before), else as
 * problem_errno. */
int pin_step_back(struct pin *pin, uint32_t frame, struct database_header *ret_header);
void pin_close(struct pin *pin);

#endif
