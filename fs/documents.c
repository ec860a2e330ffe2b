/* SPDX-License-Identifier: MIT
 *
 * documents: versions by node id, and the newest by document. It renders nothing.
 */
#include "documents.h"

#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "node.h"

struct newest {
        uint64_t ino;
        struct document *document; /* with a hold */
};

struct documents {
        pthread_mutex_t lock; /* guards all below, and lookups and holds of every version */
        void *versions;       /* tree of struct document by id */
        void *newest;         /* tree of struct newest by ino */
        uint64_t next_id;
        size_t count;
};

static int order_id(const void *a, const void *b)
{
        const struct document *x = a, *y = b;
        return (x->id > y->id) - (x->id < y->id);
}

static int order_ino(const void *a, const void *b)
{
        const struct newest *x = a, *y = b;
        return (x->ino > y->ino) - (x->ino < y->ino);
}

struct documents *documents_new(void)
{
        struct documents *documents = calloc(1, sizeof *documents);
        if (!documents)
                return NULL;
        pthread_mutex_init(&documents->lock, NULL);
        documents->next_id = NODE_FIRST_VERSION;
        return documents;
}

static void document_free(void *value)
{
        struct document *document = value;
        free(document->bytes);
        free(document);
}

void documents_free(struct documents *documents)
{
        if (!documents)
                return;
        tdestroy(documents->newest, free);
        tdestroy(documents->versions, document_free);
        pthread_mutex_destroy(&documents->lock);
        free(documents);
}

/* The functions below want the lock. */
static void drop_if_unused(struct documents *documents, struct document *document)
{
        if (document->lookups > 0 || document->holds > 0)
                return;
        tdelete(document, &documents->versions, order_id);
        documents->count--;
        document_free(document);
}

static struct document *find(struct documents *documents, uint64_t id)
{
        const struct document key = {.id = id};
        struct document **found = tfind(&key, &documents->versions, order_id);
        return found ? *found : NULL;
}

static struct newest *newest_of(struct documents *documents, uint64_t ino)
{
        const struct newest key = {.ino = ino};
        struct newest **found = tfind(&key, &documents->newest, order_ino);
        if (found)
                return *found;
        struct newest *newest = calloc(1, sizeof *newest);
        if (!newest)
                return NULL;
        newest->ino = ino;
        if (!tsearch(newest, &documents->newest, order_ino)) {
                free(newest);
                return NULL;
        }
        return newest;
}

static int64_t now(void)
{
        struct timespec time;
        clock_gettime(CLOCK_REALTIME, &time);
        return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t version_time(const struct document *former, int64_t told_ns)
{
        if (!former)
                return told_ns ? told_ns : now();
        if (told_ns > former->mtime_ns)
                return told_ns;
        int64_t at = now();
        return at > former->mtime_ns ? at : former->mtime_ns + 1;
}

/* A version for bytes that none has yet; it takes the place of the newest. The bytes stay the
 * caller's on failure. */
static int add_version(struct documents *documents, struct newest *newest, char *bytes, size_t size,
        int64_t told_ns)
{
        struct document *document = calloc(1, sizeof *document);
        if (!document)
                return -ENOMEM;
        *document = (struct document){
                .id = documents->next_id,
                .ino = newest->ino,
                .mtime_ns = version_time(newest->document, told_ns),
                .size = size,
                .holds = 1,
        };
        if (!tsearch(document, &documents->versions, order_id)) {
                free(document);
                return -ENOMEM;
        }
        document->bytes = bytes;
        documents->next_id++;
        documents->count++;
        struct document *former = newest->document;
        newest->document = document;
        if (former) {
                former->holds--;
                drop_if_unused(documents, former);
        }
        return 0;
}

static int take(struct documents *documents, uint64_t ino, char **bytes, size_t size,
        int64_t told_ns, struct document **ret_document)
{
        struct newest *newest = newest_of(documents, ino);
        if (!newest)
                return -ENOMEM;
        struct document *same = newest->document;
        if (!same || same->size != size || memcmp(same->bytes, *bytes, size) != 0) {
                int r = add_version(documents, newest, *bytes, size, told_ns);
                if (r < 0)
                        return r;
                *bytes = NULL;
        }
        newest->document->lookups++;
        newest->document->holds++;
        *ret_document = newest->document;
        return 0;
}

int documents_take(struct documents *documents, uint64_t ino, char *bytes, size_t size,
        int64_t told_ns, struct document **ret_document)
{
        pthread_mutex_lock(&documents->lock);
        int r = take(documents, ino, &bytes, size, told_ns, ret_document);
        pthread_mutex_unlock(&documents->lock);
        free(bytes);
        return r;
}

struct document *documents_get(struct documents *documents, uint64_t id)
{
        pthread_mutex_lock(&documents->lock);
        struct document *document = find(documents, id);
        if (document)
                document->holds++;
        pthread_mutex_unlock(&documents->lock);
        return document;
}

void documents_put(struct documents *documents, struct document *document)
{
        pthread_mutex_lock(&documents->lock);
        document->holds--;
        drop_if_unused(documents, document);
        pthread_mutex_unlock(&documents->lock);
}

void documents_forget(struct documents *documents, uint64_t id, uint64_t lookups)
{
        pthread_mutex_lock(&documents->lock);
        struct document *document = find(documents, id);
        if (document) {
                document->lookups -= lookups < document->lookups ? lookups : document->lookups;
                drop_if_unused(documents, document);
        }
        pthread_mutex_unlock(&documents->lock);
}

size_t documents_count(struct documents *documents)
{
        pthread_mutex_lock(&documents->lock);
        size_t count = documents->count;
        pthread_mutex_unlock(&documents->lock);
        return count;
}
