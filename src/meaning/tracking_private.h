/* SPDX-License-Identifier: MIT
 *
 * tracking_private: what the two files of the room "tracking" share. Nobody else includes it.
 *
 *   tracking.c        the schema as it was found, instances that are attached and detached
 *   tracking_apply.c  schema changes
 */
#ifndef CDC_TRACKING_PRIVATE_H
#define CDC_TRACKING_PRIVATE_H

#include "meaning/tracking.h"

#define TRACKING_OTHER_ENCODING                                                                    \
        "the database has another text encoding now: run cdcctl disable-db, then enable-db again"

/* An instance whose table has this tree, or NULL. */
struct tracked *tracking_find_tree(const struct tracking *tracking, uint16_t tree);
/* Puts tables behind those that their foreign keys refer to. 0 or -ENOMEM. */
int tracking_order(struct tracking *tracking);

#endif
