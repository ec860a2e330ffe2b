/* SPDX-License-Identifier: MIT
 *
 * sealer: see the header. It looks for files only when the mailbox is empty and it was poked, and
 * the capture thread pokes it after it has listed what it took: nothing is measured twice.
 */
#include "desk/sealer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "desk/ahead.h"
#include "desk/closer.h"
#include "faces/render.h"
#include "ground/cleanup.h"

struct results {
        struct capture_measure *items; /* owned */
        size_t count;
};

struct grown {
        int64_t object_id;
        uint64_t end;
};

struct sealer {
        pthread_t thread;
        const char *path;      /* of the store; borrowed, immutable */
        const struct log *log; /* borrowed, immutable */
        void (*wake)(void *context);
        void *context;
        atomic_bool is_stopping;
        atomic_bool is_wanted; /* there is something better to do than to measure ahead */
        struct store *store;   /* the thread's own, as the next */
        struct ahead *ahead;

        pthread_mutex_t lock; /* guards all below */
        pthread_cond_t poked;
        bool has_work;
        struct results waiting; /* to be taken; the thread adds to them meanwhile */
        struct results taken;   /* the capture thread has them and has not listed them yet */
        struct grown grown[AHEAD_COUNT];
        size_t grown_count;
};

static void free_results(struct results *results)
{
        for (size_t i = 0; i < results->count; i++)
                checkpoints_release(&results->items[i].measure.checkpoints);
        free(results->items);
        *results = (struct results){0};
}

static int deliver(struct sealer *sealer, const struct capture_measure *measure)
{
        pthread_mutex_lock(&sealer->lock);
        struct results *waiting = &sealer->waiting;
        struct capture_measure *items =
                realloc(waiting->items, (waiting->count + 1) * sizeof(*items));
        if (items) {
                waiting->items = items;
                items[waiting->count++] = *measure;
        }
        pthread_mutex_unlock(&sealer->lock);
        return items ? 0 : -ENOMEM;
}

static int measure_one(struct sealer *sealer, const struct file_row *file)
{
        struct capture_measure m = {.ino = file->ino};
        struct closer_pass pass = ahead_take(sealer->ahead, file);
        int r = closer_finish(
                store_db(sealer->store), file, &sealer->is_stopping, &pass, &m.measure);
        if (r == 0 && (r = deliver(sealer, &m)) < 0)
                checkpoints_release(&m.measure.checkpoints);
        return r;
}

/* The files of one kind of changes; they wait to be taken together. */
static int measure_kind(struct sealer *sealer, const struct files *files, enum render_kind kind)
{
        size_t measured = 0;
        int r = 0;
        for (size_t i = 0; r == 0 && i < files->count; i++) {
                const struct file_row *file = &files->items[i];
                const struct renderer *renderer =
                        render_find_version(file->format, file->renderer_version);
                if ((renderer ? renderer->kind : RENDER_ALL) != kind)
                        continue;
                r = measure_one(sealer, file);
                measured += r == 0;
                if (r == -ENOENT)
                        r = 0; /* its instance was disabled meanwhile */
        }
        if (measured > 0)
                sealer->wake(sealer->context);
        return r;
}

/* Measures what is closed and not listed yet. */
static void seal(struct sealer *sealer)
{
        struct files files = {0};
        int r = files_unpublished(store_db(sealer->store), &files);
        if (r == 0)
                r = measure_kind(sealer, &files, RENDER_ALL);
        if (r == 0)
                r = measure_kind(sealer, &files, RENDER_NET);
        files_release(&files);
        if (r < 0 && r != -EINTR)
                log_line(sealer->log, LOG_ERR_LEVEL, "cannot seal files: %s", strerror(-r));
}

static void measure_ahead(struct sealer *sealer, const struct grown *grown)
{
        int r = ahead_advance(sealer->ahead, store_db(sealer->store), grown->object_id, grown->end,
                &sealer->is_wanted);
        if (r < 0 && r != -ENOENT)
                log_line(sealer->log, LOG_WARNING_LEVEL, "cannot measure an open file: %s",
                        strerror(-r));
}

static bool has_files_to_seal(const struct sealer *sealer)
{
        return sealer->has_work && sealer->waiting.count == 0 && sealer->taken.count == 0;
}

static void *run(void *context)
{
        struct sealer *sealer = context;
        pthread_mutex_lock(&sealer->lock);
        while (!atomic_load(&sealer->is_stopping)) {
                struct grown grown;
                bool is_sealing = has_files_to_seal(sealer);
                if (!is_sealing && sealer->grown_count == 0) {
                        pthread_cond_wait(&sealer->poked, &sealer->lock);
                        continue;
                }
                if (is_sealing)
                        sealer->has_work = false;
                else
                        grown = sealer->grown[--sealer->grown_count];
                atomic_store(&sealer->is_wanted, false);
                pthread_mutex_unlock(&sealer->lock);
                if (is_sealing)
                        seal(sealer);
                else
                        measure_ahead(sealer, &grown);
                pthread_mutex_lock(&sealer->lock);
        }
        pthread_mutex_unlock(&sealer->lock);
        return NULL;
}

static int start_thread(struct sealer *sealer)
{
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int r = pthread_create(&sealer->thread, NULL, run, sealer);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return -r;
}

int sealer_start(const char *store, const struct log *log, void (*wake)(void *context),
        void *context, struct sealer **ret_sealer)
{
        struct sealer *sealer = calloc(1, sizeof(*sealer));
        if (!sealer)
                return -ENOMEM;
        sealer->path = store;
        sealer->log = log;
        sealer->wake = wake;
        sealer->context = context;
        sealer->has_work = true;
        pthread_mutex_init(&sealer->lock, NULL);
        pthread_cond_init(&sealer->poked, NULL);
        sealer->ahead = ahead_new();
        int r = sealer->ahead ? store_open(store, STORE_READ, NULL, &sealer->store) : -ENOMEM;
        if (r == 0)
                r = start_thread(sealer);
        if (r < 0) {
                ahead_free(sealer->ahead);
                store_close(sealer->store);
                free(sealer);
                return r;
        }
        *ret_sealer = sealer;
        return 0;
}

void sealer_stop(struct sealer *sealer)
{
        if (!sealer)
                return;
        pthread_mutex_lock(&sealer->lock);
        atomic_store(&sealer->is_stopping, true);
        atomic_store(&sealer->is_wanted, true);
        pthread_cond_signal(&sealer->poked);
        pthread_mutex_unlock(&sealer->lock);
        pthread_join(sealer->thread, NULL);
        ahead_free(sealer->ahead);
        store_close(sealer->store);
        pthread_cond_destroy(&sealer->poked);
        pthread_mutex_destroy(&sealer->lock);
        free_results(&sealer->waiting);
        free_results(&sealer->taken);
        free(sealer);
}

void sealer_poke(struct sealer *sealer)
{
        pthread_mutex_lock(&sealer->lock);
        sealer->has_work = true;
        atomic_store(&sealer->is_wanted, true);
        pthread_cond_signal(&sealer->poked);
        pthread_mutex_unlock(&sealer->lock);
}

/* One that finds no room is told again when it has grown more. */
void sealer_grown(struct sealer *sealer, int64_t object_id, uint64_t end)
{
        pthread_mutex_lock(&sealer->lock);
        size_t place = 0;
        while (place < sealer->grown_count && sealer->grown[place].object_id != object_id)
                place++;
        if (place < AHEAD_COUNT)
                sealer->grown[place] = (struct grown){.object_id = object_id, .end = end};
        if (place == sealer->grown_count && place < AHEAD_COUNT)
                sealer->grown_count++;
        pthread_cond_signal(&sealer->poked);
        pthread_mutex_unlock(&sealer->lock);
}

void sealer_listed(struct sealer *sealer)
{
        pthread_mutex_lock(&sealer->lock);
        free_results(&sealer->taken);
        pthread_cond_signal(&sealer->poked);
        pthread_mutex_unlock(&sealer->lock);
}

size_t sealer_take(struct sealer *sealer, const struct capture_measure **ret_measures)
{
        pthread_mutex_lock(&sealer->lock);
        size_t count = sealer->taken.count > 0 ? 0 : sealer->waiting.count;
        if (count > 0) {
                sealer->taken = sealer->waiting;
                sealer->waiting = (struct results){0};
        }
        *ret_measures = sealer->taken.items;
        pthread_mutex_unlock(&sealer->lock);
        return count;
}
