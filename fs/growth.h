/* SPDX-License-Identifier: MIT
 *
 * growth: which live files the kernel has been told the size of, and must be told to ask again
 * when they may have grown.
 *
 *      before a size is looked up   growth_note(growth, ino)
 *      after a commit               growth_tell(growth, session)
 *
 * In that order a size that is older than the commit is always forgotten: either it was noted
 * before the commit was told of, or it was looked up after it. What the kernel has forgotten is
 * noted again with the next question; whatever nobody asks about costs nothing. A note that finds
 * no room is no harm, for the kernel asks again after a second by itself.
 *
 * Thread-safe; its lock is a leaf, and not held while the kernel is told.
 */
#ifndef CDCFS_GROWTH_H
#define CDCFS_GROWTH_H

#include <stddef.h>
#include <stdint.h>

struct fuse_session;
struct growth;

enum { GROWTH_COUNT = 4096 };

/* NULL: no memory. */
struct growth *growth_new(void);
void growth_free(struct growth *growth); /* NULL is allowed */
void growth_note(struct growth *growth, uint64_t ino);
/* Takes what is noted: at most GROWTH_COUNT numbers. */
size_t growth_take(struct growth *growth, uint64_t *ret_inos);
/* Makes the kernel forget the attributes of what is noted; the pages stay until it asks. */
void growth_tell(struct growth *growth, struct fuse_session *session);

#endif
