/* SPDX-License-Identifier: MIT
 *
 * readers: a queue of requests and a few threads. How one is answered it does not know.
 */
#include "readers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct job {
        struct readers_job job; /* first, so that a pointer to it leads back here */
        struct readers *readers;
        /* When the interrupt was seen; 0 = not. Of whoever has the job: the queue, then a thread.
         */
        time_t interrupted_s;
        struct job *next;
};

struct readers {
        unsigned thread_count; /* the main thread's, as the next */
        pthread_t threads[READERS_MAX];
        pthread_mutex_t lock; /* guards the queue and is_stopping; a leaf */
        pthread_cond_t posted;
        struct job *first;
        struct job **last;
        bool is_stopping;
};

static void job_free(struct job *job)
{
        free(job->job.context);
        free(job);
}

/* ---- what is given up ---- */

static bool is_over(struct job *job)
{
        struct timespec now;
        if (!fuse_req_interrupted(job->job.request))
                return false;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (job->interrupted_s == 0)
                job->interrupted_s = now.tv_sec;
        return now.tv_sec - job->interrupted_s > READERS_GRACE_S;
}

/* Takes those out of the queue whose time is over, as a list. With the lock. */
static struct job *take_over(struct readers *readers)
{
        struct job *over = NULL;
        struct job **next = &readers->first;
        while (*next) {
                struct job *job = *next;
                if (is_over(job)) {
                        *next = job->next;
                        job->next = over;
                        over = job;
                } else {
                        next = &job->next;
                }
        }
        readers->last = next;
        return over;
}

static void give_up(struct job *over)
{
        while (over) {
                struct job *next = over->next;
                fuse_reply_err(over->job.request, EINTR);
                job_free(over);
                over = next;
        }
}

/* Those in the queue wait for the threads at work, which look after them meanwhile. */
bool readers_should_stop(const struct readers_job *job)
{
        struct job *asking = (struct job *)job;
        struct readers *readers = asking->readers;
        pthread_mutex_lock(&readers->lock);
        bool is_stopping = readers->is_stopping;
        struct job *over = take_over(readers);
        pthread_mutex_unlock(&readers->lock);
        give_up(over);
        return is_stopping || is_over(asking);
}

/* ---- the threads ---- */

/* Waits for the next job; NULL: the end. */
static struct job *take(struct readers *readers, bool *ret_is_stopping)
{
        pthread_mutex_lock(&readers->lock);
        while (!readers->first && !readers->is_stopping)
                pthread_cond_wait(&readers->posted, &readers->lock);
        struct job *over = readers->is_stopping ? NULL : take_over(readers);
        struct job *job = readers->first;
        if (job && !(readers->first = job->next))
                readers->last = &readers->first;
        *ret_is_stopping = readers->is_stopping;
        pthread_mutex_unlock(&readers->lock);
        give_up(over);
        return job;
}

static void *run(void *context)
{
        struct readers *readers = context;
        for (;;) {
                bool is_stopping;
                struct job *job = take(readers, &is_stopping);
                if (!job && is_stopping)
                        return NULL;
                if (!job)
                        continue; /* all were over */
                if (is_stopping)
                        fuse_reply_err(job->job.request, EIO);
                else
                        job->job.answer(&job->job);
                job_free(job);
        }
}

static int start_threads(struct readers *readers, unsigned count)
{
        int r = 0;
        while (r == 0 && readers->thread_count < count) {
                r = -pthread_create(&readers->threads[readers->thread_count], NULL, run, readers);
                readers->thread_count += r == 0;
        }
        return r;
}

int readers_start(unsigned count, struct readers **ret_readers)
{
        struct readers *readers = calloc(1, sizeof *readers);
        if (!readers)
                return -ENOMEM;
        readers->last = &readers->first;
        pthread_mutex_init(&readers->lock, NULL);
        pthread_cond_init(&readers->posted, NULL);
        int r = start_threads(readers, count);
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
        *job = (struct job){.job = *request, .readers = readers};
        pthread_mutex_lock(&readers->lock);
        *readers->last = job;
        readers->last = &job->next;
        pthread_cond_signal(&readers->posted);
        pthread_mutex_unlock(&readers->lock);
        return 0;
}
