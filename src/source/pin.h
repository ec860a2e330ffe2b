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
void pin_close(struct pin *pin);

#endif
