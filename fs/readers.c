/* SPDX-License-Identifier: MIT
 *
 * readers: a queue of requests and a few threads. How one is answered it does not know.
 */
#include "readers.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct job {
        struct readers_job job;
        struct job *next;
};

struct readers {
        unsigned thread_count; /* the main thread's, as the next */
        pthread_t threads[READERS_COUNT];
        pthread_mutex_t lock; /* guards the queue and is_stopping; a leaf */
        pthread_cond_t posted;
        struct job *first;
        struct job **last;
        bool is_stopping;
};

/* Waits for the next job; NULL: the end. */
static struct job *take(struct readers *readers, bool *ret_is_stopping)
{
        pthread_mutex_lock(&readers->lock);
        while (!readers->first && !readers->is_stopping)
                pthread_cond_wait(&readers->posted, &readers->lock);
        struct job *job = readers->first;
        if (job && !(readers->first = job->next))
                readers->last = &readers->first;
        *ret_is_stopping = readers->is_stopping;
        pthread_mutex_unlock(&readers->lock);
        return job;
}

static void *run(void *context)
{
        struct readers *readers = context;
        bool is_stopping;
        struct job *job;
        while ((job = take(readers, &is_stopping))) {
                if (is_stopping)
                        fuse_reply_err(job->job.request, EIO);
                else
                        job->job.answer(&job->job);
                free(job);
        }
        return NULL;
}

static int start_threads(struct readers *readers)
{
        int r = 0;
        while (r == 0 && readers->thread_count < READERS_COUNT) {
                r = -pthread_create(&readers->threads[readers->thread_count], NULL, run, readers);
                readers->thread_count += r == 0;
        }
        return r;
}

int readers_start(struct readers **ret_readers)
{
        struct readers *readers = calloc(1, sizeof *readers);
        if (!readers)
                return -ENOMEM;
        readers->last = &readers->first;
        pthread_mutex_init(&readers->lock, NULL);
        pthread_cond_init(&readers->posted, NULL);
        int r = start_threads(readers);
        if (r < 0) {
                readers_stop(readers);
                return r;
        }
        *ret_readers = readers;
        return 0;
}

void readers_stop(struct readers *readers)
{
        if (!readers)
                return;
        pthread_mutex_lock(&readers->lock);
        readers->is_stopping = true;
        pthread_cond_broadcast(&readers->posted);
        pthread_mutex_unlock(&readers->lock);
        for (unsigned i = 0; i < readers->thread_count; i++)
                pthread_join(readers->threads[i], NULL);
        pthread_cond_destroy(&readers->posted);
        pthread_mutex_destroy(&readers->lock);
        free(readers);
}

int readers_post(struct readers *readers, const struct readers_job *request)
{
        struct job *job = malloc(sizeof *job);
        if (!job)
                return -ENOMEM;
        *job = (struct job){.job = *request};
        pthread_mutex_lock(&readers->lock);
        *readers->last = job;
        readers->last = &job->next;
        pthread_cond_signal(&readers->posted);
        pthread_mutex_unlock(&readers->lock);
        return 0;
}
