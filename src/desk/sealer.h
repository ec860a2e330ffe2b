/* SPDX-License-Identifier: MIT
 *
 * sealer: the sealing thread. It renders and measures closed files on a read connection of its
 * own, so that capture never waits for that, and leaves the results in a mailbox; the capture
 * thread takes them and lists the files. It writes nothing.
 *
 * Files of all changes come first, since `live/` waits for them; large ones are measured ahead.
 */
#ifndef CDC_SEALER_H
#define CDC_SEALER_H

#include "desk/capture.h"

struct sealer;

/* Starts the thread, with all signals blocked in it. `wake` is called from it, holding no lock,
 * when results wait. 0, or negative errno. */
int sealer_start(const char *store, const struct log *log, void (*wake)(void *context),
        void *context, struct sealer **ret_sealer);
/* Ends the thread; a rendering in work is given up. NULL is allowed. */
void sealer_stop(struct sealer *sealer);
/* Files were closed: look. From any thread. */
void sealer_poke(struct sealer *sealer);
/* An open file has grown much, and everything up to the change `end` is in the store: what is
 * measured now need not be when the file is closed. From any thread. */
void sealer_grown(struct sealer *sealer, int64_t object_id, uint64_t end);
/* Takes all results, which are borrowed until sealer_listed. Returns how many. Until then nothing
 * more is measured, since what was taken still looks unlisted in the store. */
size_t sealer_take(struct sealer *sealer, const struct capture_measure **ret_measures);
void sealer_listed(struct sealer *sealer);

#endif
