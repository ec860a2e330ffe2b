/* SPDX-License-Identifier: MIT
 *
 * ranges: handles of contents by node id, with the lookups that the kernel has not forgotten. It
 * knows neither names nor bytes.
 */
#include "ranges.h"

#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>

struct range {
        struct ranges_status status; /* never changes */
        struct cdc_content *content; /* owned */
        uint64_t lookups;
};

struct ranges {
        pthread_mutex_t lock; /* guards all below and the lookups of every range */
        void *tree;           /* of struct range by number */
        size_t count;
};

static int order(const void *a, const void *b)
{
        const struct range *x = a, *y = b;
        return (x->status.ino > y->status.ino) - (x->status.ino < y->status.ino);
}

struct ranges *ranges_new(void)
{
        struct ranges *ranges = calloc(1, sizeof *ranges);
        if (ranges)
                pthread_mutex_init(&ranges->lock, NULL);
        return ranges;
}

static void range_free(void *value)
{
        struct range *range = value;
        cdc_content_close(range->content);
        free(range);
}

void ranges_free(struct ranges *ranges)
{
        if (!ranges)
                return;
        tdestroy(ranges->tree, range_free);
        pthread_mutex_destroy(&ranges->lock);
        free(ranges);
}

/* With the lock. */
static struct range *find(struct ranges *ranges, uint64_t id)
{
        const struct range key = {.status.ino = id};
        struct range **found = tfind(&key, &ranges->tree, order);
        return found ? *found : NULL;
}

/* Counts the lookup of a range, which is taken over if nobody knows it yet. With the lock. */
static int add(struct ranges *ranges, struct range **range)
{
        struct range *known = find(ranges, (*range)->status.ino);
        if (known) {
                known->lookups++;
                return 0;
        }
        if (!tsearch(*range, &ranges->tree, order))
                return -ENOMEM;
        ranges->count++;
        (*range)->lookups = 1;
        *range = NULL;
        return 0;
}

int ranges_take(struct ranges *ranges, int64_t object_id, struct cdc_content *content,
        struct ranges_status *ret_status)
{
        struct range *range = calloc(1, sizeof *range);
        if (!range) {
                cdc_content_close(content);
                return -ENOMEM;
        }
        struct ranges_status *status = &range->status;
        range->content = content;
        status->object_id = object_id;
        cdc_content_status(content, &status->ino, &status->size, &status->mtime_ns);
        *ret_status = *status;
        pthread_mutex_lock(&ranges->lock);
        int r = add(ranges, &range);
        pthread_mutex_unlock(&ranges->lock);
        if (range)
                range_free(range);
        return r;
}

int ranges_status(struct ranges *ranges, uint64_t id, struct ranges_status *ret_status)
{
        pthread_mutex_lock(&ranges->lock);
        const struct range *range = find(ranges, id);
        if (range)
                *ret_status = range->status;
        pthread_mutex_unlock(&ranges->lock);
        return range ? 0 : -ESTALE;
}

void ranges_forget(struct ranges *ranges, uint64_t id, uint64_t lookups)
{
        struct range *gone = NULL;
        pthread_mutex_lock(&ranges->lock);
        struct range *range = find(ranges, id);
        if (range) {
                range->lookups -= lookups < range->lookups ? lookups : range->lookups;
                if (range->lookups == 0) {
                        tdelete(range, &ranges->tree, order);
                        ranges->count--;
                        gone = range;
                }
        }
        pthread_mutex_unlock(&ranges->lock);
        if (gone)
                range_free(gone);
}

size_t ranges_count(struct ranges *ranges)
{
        pthread_mutex_lock(&ranges->lock);
        size_t count = ranges->count;
        pthread_mutex_unlock(&ranges->lock);
        return count;
}
