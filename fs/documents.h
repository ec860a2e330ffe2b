/* SPDX-License-Identifier: MIT
 *
 * documents: the small files that change: one immutable version for each content they had.
 *
 * The kernel caches by node id. So a document that changed gets a new node id and keeps its
 * st_ino, and whoever has the former version open or mapped reads on in it, never a mixture:
 *
 *      lookup   documents_take   renders; the version it had before if nothing changed
 *      getattr, read  documents_get … documents_put   by node id
 *      forget   documents_forget
 *
 * A version lives until the kernel has forgotten it; the newest of each document stays.
 * Thread-safe; its lock is a leaf and not held while a document is rendered.
 */
#ifndef CDCFS_DOCUMENTS_H
#define CDCFS_DOCUMENTS_H

#include <stddef.h>
#include <stdint.h>

struct document {
        uint64_t id;  /* node id */
        uint64_t ino; /* st_ino, the same for all versions */
        int64_t mtime_ns;
        size_t size;
        char *bytes; /* owned; all these never change */
        /* guarded by the lock */
        uint64_t lookups; /* that the kernel has not forgotten */
        unsigned holds;   /* in use, or the newest */
};

struct documents;

/* NULL: no memory. */
struct documents *documents_new(void);
void documents_free(struct documents *documents); /* NULL is allowed */

/* The version with these bytes (taken over, on failure too) of the document `ino`; counts one
 * lookup and one hold. told_ns: the time that the content tells of, 0 = none; the version's
 * mtime is that, or now where it would not move on. */
int documents_take(struct documents *documents, uint64_t ino, char *bytes, size_t size,
        int64_t told_ns, struct document **ret_document);
/* By node id, with a hold; NULL: not known (any more). */
struct document *documents_get(struct documents *documents, uint64_t id);
void documents_put(struct documents *documents, struct document *document);
void documents_forget(struct documents *documents, uint64_t id, uint64_t lookups);
/* Versions that are kept now. */
size_t documents_count(struct documents *documents);

#endif
