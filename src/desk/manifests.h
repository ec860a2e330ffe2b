/* SPDX-License-Identifier: MIT
 *
 * manifests: the manifests that a view made last, so that the next one of the same instance goes
 * on from there. It knows how many are worth their memory, and nothing of their lines.
 *
 * Thread-safe; its lock is a leaf. A manifest is taken out while it is brought up to date: who
 * wants the same one meanwhile makes his own.
 */
#ifndef CDC_MANIFESTS_H
#define CDC_MANIFESTS_H

#include <sqlite3.h>
#include <stdint.h>

#include "ground/buf.h"

enum {
        MANIFESTS_COUNT = 16,
        MANIFESTS_BYTES = 32 << 20, /* of one: a larger one is not kept */
};

struct manifests;

int manifests_new(struct manifests **ret_manifests);
void manifests_free(struct manifests *manifests); /* NULL is allowed */
/* Appends files.csv of an instance as the store has it now: of the files in `formats` (bit
 * `format`), the same ones in all calls. -ENOENT: the instance is gone. */
int manifests_append(struct manifests *manifests, sqlite3 *store, int64_t object_id,
        uint32_t formats, struct buf *buf);

#endif
