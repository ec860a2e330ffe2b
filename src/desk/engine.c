/* SPDX-License-Identifier: MIT
 *
 * engine: the threads of one database: capture, which steps and sleeps, and the sealer. The public
 * header describes its functions.
 *
 * The one lock guards the pulse, for those who ask from other threads. The wakeup is called from
 * the capture thread with no lock held.
 */
#include "cdc.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "desk/call.h"
#include "desk/capture.h"
#include "desk/hint.h"
#include "desk/sealer.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "memory/cleanup.h"
#include "memory/store.h"
#include "source/check.h"
#include "source/watch.h"

enum { CAPTURE_NICE = -10 };

struct cdc_engine {
        struct cdc_engine_options options;
        char *source, *store; /* owned */
        struct log log;
        struct capture *capture; /* the capture thread's, once it runs */
        struct sealer *sealer;
        struct watch watch;
        pthread_t thread;
        bool has_thread;
        atomic_bool is_stopping;
        int result; /* the last step's */

        pthread_mutex_t lock; /* guards pulse */
        struct capture_pulse pulse;
};

static void log_sink(void *context, enum log_level level, const char *line)
{
        struct cdc_engine *engine = context;
        if (engine->options.log)
                engine->options.log(engine->options.log_context, (enum cdc_log_level)level, line);
}

static bool is_ending(void *context)
{
        const struct cdc_engine *engine = context;
        return atomic_load(&engine->is_stopping) ||
               (engine->options.is_ending &&
                       engine->options.is_ending(engine->options.ending_context));
}

/* ---- the capture thread ---- */

static void wake_capture(void *context)
{
        watch_wake(&((struct cdc_engine *)context)->watch);
}

static void publish(struct cdc_engine *engine)
{
        const struct capture_measure *measures = NULL;
        size_t count = sealer_take(engine->sealer, &measures);
        if (count == 0)
                return;
        int r = capture_publish(engine->capture, measures, count);
        if (r < 0)
                log_line(&engine->log, LOG_ERR_LEVEL, "cannot list files: %s", strerror(-r));
        if (r < 0)
                sealer_poke(engine->sealer); /* measured again, listed then */
        sealer_listed(engine->sealer);
}

static void tell(struct cdc_engine *engine)
{
        int64_t object_id;
        uint64_t end;
        pthread_mutex_lock(&engine->lock);
        capture_pulse(engine->capture, &engine->pulse);
        pthread_mutex_unlock(&engine->lock);
        if (capture_take_closed(engine->capture))
                sealer_poke(engine->sealer);
        while (capture_take_grown(engine->capture, &object_id, &end))
                sealer_grown(engine->sealer, object_id, end);
        if (capture_take_news(engine->capture) && engine->options.wakeup)
                engine->options.wakeup(engine->options.wakeup_context);
}

/* The same failure is told once, not at every try. */
static void log_result(struct cdc_engine *engine, int r, const struct problem *problem)
{
        if (r < 0 && r != engine->result)
                log_line(&engine->log, LOG_ERR_LEVEL, "%s", problem->message);
        else if (r == 0 && engine->result < 0)
                log_line(&engine->log, LOG_INFO_LEVEL, "capture of %s goes on", engine->source);
        engine->result = r;
}

/* Where the application's processes keep every core busy, the one thread that cuts the log must not
 * wait in line with them all. Where that is not allowed, it does. */
static void raise_priority(void)
{
        setpriority(PRIO_PROCESS, (id_t)gettid(), CAPTURE_NICE);
}

static void *run(void *context)
{
        struct cdc_engine *engine = context;
        struct problem problem;
        raise_priority();
        bool is_event = true;
        while (!atomic_load(&engine->is_stopping)) {
                int64_t wait_ns = 0;
                publish(engine);
                int r = capture_step(engine->capture, is_event, &wait_ns, &problem);
                log_result(engine, r, &problem);
                tell(engine);
                is_event = watch_wait(&engine->watch, wait_ns) != 0;
        }
        return NULL;
}

/* ---- starting and stopping ---- */

static int start_thread(struct cdc_engine *engine)
{
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int r = pthread_create(&engine->thread, NULL, run, engine);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        engine->has_thread = r == 0;
        return -r;
}

static int watch_with_suffix(struct cdc_engine *engine, const char *path, const char *suffix)
{
        _cleanup_free_ char *whole = NULL;
        if (asprintf(&whole, "%s%s", path, suffix) < 0)
                return -ENOMEM;
        return watch_add_file(&engine->watch, whole);
}

static int watch_files(struct cdc_engine *engine)
{
        const char *source = capture_source_path(engine->capture);
        const char *slash = strrchr(source, '/');
        _cleanup_free_ char *directory = strndup(source, (size_t)(slash - source) + 1);
        int r = directory ? watch_open(&engine->watch) : -ENOMEM;
        if (r == 0)
                r = watch_with_suffix(engine, source, "-wal");
        if (r == 0)
                r = watch_add_file(&engine->watch, source);
        if (r == 0)
                r = watch_with_suffix(engine, capture_store_path(engine->capture), "-wal");
        if (r == 0)
                r = watch_add_directory(&engine->watch, directory);
        return r;
}

static int set_options(struct cdc_engine *engine, const struct cdc_engine_options *options)
{
        engine->options = *options;
        engine->source = realpath(options->database.source, NULL);
        if (!engine->source)
                return -errno;
        engine->store = options->database.store ? strdup(options->database.store)
                                                : store_default_path(engine->source);
        engine->log = (struct log){
                .level = (enum log_level)options->log_level, .sink = log_sink, .context = engine};
        return engine->store ? 0 : -ENOMEM;
}

static struct capture_options capture_options_of(struct cdc_engine *engine)
{
        struct capture_options o = {
                .source = engine->source,
                .store = engine->store,
                .log = &engine->log,
                .limits = SEGMENTS_LIMITS_DEFAULT,
                .is_barrier_off = engine->options.is_barrier_off,
                .is_wake_off = engine->options.is_wake_off,
                .is_ending = is_ending,
                .ending_context = engine,
                .linger_ns = CLEANUP_LINGER_NS,
                .max_store = engine->options.max_store,
                .formats = engine->options.formats,
        };
        if (engine->options.linger_seconds > 0)
                o.linger_ns = engine->options.linger_seconds * INT64_C(1000000000);
        if (engine->options.segment_bytes > 0)
                o.limits.size = engine->options.segment_bytes;
        if (engine->options.segment_age_seconds > 0)
                o.limits.age_ns = engine->options.segment_age_seconds * INT64_C(1000000000);
        return o;
}

static int start(struct cdc_engine *engine, struct problem *problem)
{
        struct capture_options capture_options = capture_options_of(engine);
        int r = capture_open(&capture_options, &engine->capture, problem);
        if (r < 0)
                return r;
        r = watch_files(engine);
        if (r == 0)
                r = sealer_start(
                        engine->store, &engine->log, wake_capture, engine, &engine->sealer);
        if (r == 0)
                r = start_thread(engine);
        if (r < 0)
                problem_set(problem, -r, 0, "cannot start the capture of %s: %s", engine->source,
                        strerror(-r));
        return r;
}

int cdc_engine_start(const struct cdc_engine_options *options, struct cdc_engine **ret_engine,
        struct cdc_error *ret_error)
{
        struct problem problem = {0};
        struct cdc_engine *engine = calloc(1, sizeof(*engine));
        if (!engine)
                return -ENOMEM;
        pthread_mutex_init(&engine->lock, NULL);
        int r = set_options(engine, options);
        if (r < 0)
                problem_set(&problem, -r, 0, "%s: %s", options->database.source, strerror(-r));
        else
                r = start(engine, &problem);
        if (r < 0) {
                cdc_engine_stop(engine);
                return call_answer(r, &problem, ret_error);
        }
        *ret_engine = engine;
        return 0;
}

void cdc_engine_halt(struct cdc_engine *engine)
{
        if (!engine)
                return;
        atomic_store(&engine->is_stopping, true);
        if (engine->has_thread)
                watch_wake(&engine->watch);
}

int cdc_engine_stop(struct cdc_engine *engine)
{
        if (!engine)
                return 0;
        cdc_engine_halt(engine);
        if (engine->has_thread)
                pthread_join(engine->thread, NULL);
        sealer_stop(engine->sealer);
        capture_close(engine->capture);
        watch_close(&engine->watch);
        pthread_mutex_destroy(&engine->lock);
        int result = engine->result;
        free(engine->source);
        free(engine->store);
        free(engine);
        return result;
}

void cdc_engine_pulse(struct cdc_engine *engine, struct cdc_pulse *ret_pulse)
{
        pthread_mutex_lock(&engine->lock);
        struct capture_pulse pulse = engine->pulse;
        pthread_mutex_unlock(&engine->lock);
        *ret_pulse = (struct cdc_pulse){
                .as_of_ns = pulse.as_of_ns,
                .is_caught_up = pulse.is_caught_up,
        };
        if (!lsn_is_zero(pulse.end_of_log))
                lsn_format(pulse.end_of_log, ret_pulse->end_of_log);
}

/* ---- checking beforehand ---- */

static int refuse_absent(const struct cdc_database *database, int error, struct problem *problem)
{
        _cleanup_(call_paths_release) struct call_paths paths = {0};
        bool has_store = error == ENOENT && call_find_paths(database, &paths) == 0 &&
                         access(paths.store, F_OK) == 0;
        if (has_store)
                return problem_set(problem, error, 0,
                        "there is no database %s; what its store '%s' has can be mounted with -o "
                        "nojobs",
                        database->source, paths.store);
        return problem_set(problem, error, 0, "%s: %s", database->source, strerror(error));
}

static int check_jobs(const struct call_paths *paths, struct problem *problem)
{
        pid_t pid = 0;
        int r = call_find_working_agent(paths, &pid);
        if (r < 0)
                return problem_set(problem, -r, 0, "%s: %s", paths->source, strerror(-r));
        if (r == 0)
                return 0;
        if (pid > 0)
                return problem_set(problem, EBUSY, 0, "process %d runs the jobs of %s already",
                        (int)pid, paths->source);
        return problem_set(
                problem, EBUSY, 0, "another process runs the jobs of %s already", paths->source);
}

/* A store of an older version is brought up to date by who will run its jobs, which is nobody else
 * while no process holds them. */
static int open_for_jobs(
        const struct call_paths *paths, struct problem *problem, struct store **ret_store)
{
        pid_t pid;
        int r = call_open_store(paths, STORE_READ, problem, ret_store);
        if (r == -ENOTSUP && call_find_agent(paths->source, &pid) == 0)
                r = call_open_store(paths, STORE_WRITE, problem, ret_store);
        return r;
}

static int check(const struct cdc_engine_options *options, struct problem *problem)
{
        struct store *store = NULL;
        _cleanup_(call_paths_release) struct call_paths paths = {0};
        if (access(options->database.source, F_OK) < 0)
                return refuse_absent(&options->database, errno, problem);
        int r = call_find_paths(&options->database, &paths);
        if (r == 0)
                r = open_for_jobs(&paths, problem, &store);
        store_close(store);
        if (r == 0)
                r = check_jobs(&paths, problem);
        if (r < 0)
                return r;
        struct check found = {0};
        r = check_source(paths.source, &found, problem);
        if (r == 0 && check_is_wal(&found, NULL) < 0)
                r = hint_refuse_journal(&paths, problem);
        check_release(&found);
        return r;
}

int cdc_engine_check(const struct cdc_engine_options *options, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        return call_answer(check(options, &problem), &problem, ret_error);
}
