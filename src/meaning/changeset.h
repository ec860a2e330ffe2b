/* SPDX-License-Identifier: MIT
 *
 * changeset: the row changes of one transaction over all instances, brought into the order in
 * which they are numbered: all deletes (child tables first), all updates, all inserts (parents
 * first), each by key, so that replay never meets a duplicate key (design §3).
 *
 * Instances are added parents first; within an instance changes come in the order of its key. What
 * does not fit into memory waits in files.
 */
#ifndef CDC_CHANGESET_H
#define CDC_CHANGESET_H

#include "meaning/change.h"
#include "meaning/queue.h"

enum { CHANGESET_STREAMS = 3 };

struct changeset {
        struct queue streams[CHANGESET_STREAMS]; /* deletes, updates, inserts */
        struct changeset_part {
                int64_t object_id;
                unsigned columns;
                bool is_void; /* its changes are not told */
                uint64_t begin[CHANGESET_STREAMS], end[CHANGESET_STREAMS];
        } * parts; /* owned; one for each instance that was begun */
        size_t part_count, part_capacity;
        struct buf entry;
        /* reading */
        int stream;
        size_t part;
        uint64_t offset;
        struct value *values; /* owned: before, then after */
        unsigned value_capacity;
};

/* Spilled changes go to unlinked files in `directory` (borrowed). */
void changeset_init(struct changeset *set, const char *directory);
void changeset_release(struct changeset *set);
void changeset_reset(struct changeset *set);
/* Changes that follow belong to this instance. 0 or -ENOMEM. */
int changeset_begin_instance(struct changeset *set, int64_t object_id, unsigned columns);
/* Adds a change of the instance. before or after is NULL as in struct change; the mask is made
 * here. An update that changes no value is left out. 0, -ENOMEM, -ENOSPC, -EIO. */
int changeset_add(struct changeset *set, const struct value *before, const struct value *after);
/* Drops what was added since the last changeset_begin_instance. */
void changeset_void_instance(struct changeset *set);
/* Ends adding; the first changeset_next follows. */
int changeset_seal(struct changeset *set);
/* 1, 0 at the end, or negative errno. */
int changeset_next(struct changeset *set, struct change *ret_change);

#endif
