/* SPDX-License-Identifier: MIT
 *
 * growth: a set of inode numbers, small or empty most of the time.
 */
#include "growth.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fuse_api.h"

struct growth {
        pthread_mutex_t lock; /* guards all below */
        size_t count;
        uint64_t inos[GROWTH_COUNT];
};

struct growth *growth_new(void)
{
        struct growth *growth = calloc(1, sizeof *growth);
        if (growth)
                pthread_mutex_init(&growth->lock, NULL);
        return growth;
}

void growth_free(struct growth *growth)
{
        if (!growth)
                return;
        pthread_mutex_destroy(&growth->lock);
        free(growth);
}

void growth_note(struct growth *growth, uint64_t ino)
{
        pthread_mutex_lock(&growth->lock);
        size_t place = 0;
        while (place < growth->count && growth->inos[place] != ino)
                place++;
        if (place < GROWTH_COUNT)
                growth->inos[place] = ino;
        if (place == growth->count && place < GROWTH_COUNT)
                growth->count++;
        pthread_mutex_unlock(&growth->lock);
}

size_t growth_take(struct growth *growth, uint64_t *ret_inos)
{
        pthread_mutex_lock(&growth->lock);
        size_t count = growth->count;
        memcpy(ret_inos, growth->inos, count * sizeof ret_inos[0]);
        growth->count = 0;
        pthread_mutex_unlock(&growth->lock);
        return count;
}

void growth_tell(struct growth *growth, struct fuse_session *session)
{
        uint64_t inos[GROWTH_COUNT];
        size_t count = growth_take(growth, inos);
        for (size_t i = 0; i < count; i++)
                fuse_lowlevel_notify_inval_inode(session, inos[i], -1, 0);
}
