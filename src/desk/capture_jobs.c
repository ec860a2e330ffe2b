/* SPDX-License-Identifier: MIT
 *
 * capture_jobs: the capture job runs steadily, is stopped, or works in passes (a job that is not
 * continuous, or one that nothing wakes); and the requests that change that.
 *
 * While it is stopped, and between two passes, the pin stays where it is: the log is held, so that
 * nothing is lost, and it grows. It refuses to know how a cycle works.
 */
#include "desk/capture_private.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "desk/hint.h"
#include "ground/cleanup.h"
#include "ground/clock.h"

static const int64_t second_ns = 1000000000, stopped_wait_ns = INT64_C(5) * 1000000000;

static bool is_one_pass(const struct capture *capture)
{
        return !capture->jobs.capture.continuous && !capture->options.is_scan;
}

bool capture_is_in_passes(const struct capture *capture)
{
        return capture->is_stopped || capture->options.is_wake_off || is_one_pass(capture);
}

int capture_read_job(struct capture *capture)
{
        struct state state = {0};
        int r = jobs_load(store_db(capture->store), &capture->jobs);
        if (r == 0)
                r = state_load(capture->store, &state);
        if (r < 0)
                return r;
        capture->is_stopped = state.capture_stopped && !capture->options.is_scan;
        capture->pass_ns = 0;
        capture->pulse.is_caught_up = false;
        state_release(&state);
        if (!capture->is_stopped)
                return 0;
        _cleanup_(buf_release) struct buf command = BUF_INIT;
        capture_hint_start(capture, &command);
        log_line(capture->options.log, LOG_WARNING_LEVEL,
                "%s: the capture job is stopped; %s starts it", capture->options.source,
                buf_string(&command));
        return 0;
}

void capture_hint_start(const struct capture *capture, struct buf *buf)
{
        const struct call_paths paths = {
                (char *)capture->options.source, (char *)capture->options.store};
        struct jobs jobs;
        /* Not capture->jobs: those are as of the job's start, and it may be dropped since. */
        bool is_dropped =
                jobs_load(store_db(capture->store), &jobs) == 0 && !jobs.capture.is_defined;
        hint_command(buf, &paths, is_dropped ? "add-job" : "start-job");
        if (is_dropped)
                buf_append_string(buf, " capture");
}

/* ---- passes ---- */

/* A scan that found nothing; in memory, for idle time writes nothing. */
static void note_empty(struct capture *capture)
{
        struct sessions_counts counts = {0};
        sessions_begin(capture->sessions, clock_wall(NULL));
        sessions_end(capture->sessions, &counts, clock_wall(NULL));
}

/* 1 if the limits ended it before the log did. What was drained is let go of: the pin moves. */
static int run_limited(struct capture *capture, int64_t maxtrans, int64_t maxscans)
{
        unsigned count;
        int64_t limit = maxtrans < UINT_MAX ? maxtrans : UINT_MAX;
        int r = capture_scan_some(capture, limit, maxscans, &count);
        if (r == 0 && count == 0)
                note_empty(capture);
        if (r == 0)
                r = capture_move_pin(capture);
        if (r == 0)
                capture_note_pulse(capture);
        if (r == 0)
                r = capture_drive_checkpoint(capture, false);
        int synced = capture_sync(capture);
        return r < 0 ? r : synced < 0 ? synced : r;
}

static int set_stopped(struct capture *capture, bool is_stopped)
{
        int r = store_begin(capture->store);
        if (r < 0)
                return r;
        r = state_set_capture_stopped(capture->store, is_stopped);
        if (r == 0)
                r = store_commit(capture->store);
        if (r < 0) {
                store_rollback(capture->store);
                return r;
        }
        capture->is_dirty = capture->has_news = true;
        capture->is_stopped = is_stopped;
        if (is_stopped)
                capture->pulse.is_caught_up = false;
        return 0;
}

int capture_run_pass(struct capture *capture, int64_t now)
{
        const struct job *job = &capture->jobs.capture;
        if (capture->is_stopped || now < capture->pass_ns)
                return 0;
        int r = run_limited(capture, job->maxtrans, job->maxscans);
        if (r < 0)
                return r;
        capture->pass_ns = now + job->pollinginterval * second_ns;
        if (!is_one_pass(capture))
                return 0;
        log_line(capture->options.log, LOG_INFO_LEVEL, "%s: the capture job has made its pass",
                capture->options.source);
        return set_stopped(capture, true);
}

int64_t capture_pass_wait(const struct capture *capture, int64_t now)
{
        return capture->is_stopped ? stopped_wait_ns : capture->pass_ns - now;
}

int capture_run_scan(struct capture *capture, int64_t maxtrans, int64_t maxscans)
{
        bool was_stopped = capture->is_stopped;
        capture->is_stopped = false;
        int r = capture_follow_now(capture);
        if (r == 0)
                r = run_limited(capture, maxtrans, maxscans);
        capture->is_stopped = was_stopped;
        return r < 0 ? r : 0;
}

/* ---- requests ---- */

static int start(struct capture *capture, const struct request *request)
{
        struct problem problem = {0};
        _cleanup_(buf_release) struct buf command = BUF_INIT;
        int r = capture_read_job(capture);
        if (r < 0)
                return r;
        if (!capture->jobs.capture.is_defined) {
                capture_hint_start(capture, &command);
                problem_set(&problem, ENOENT, 22997, "there is no capture job: %s makes one",
                        buf_string(&command));
                return capture_finish(capture, request->id, -ENOENT, &problem);
        }
        r = set_stopped(capture, false);
        if (r < 0)
                return r;
        log_line(capture->options.log, LOG_INFO_LEVEL, "%s: the capture job starts",
                capture->options.source);
        return capture_finish(capture, request->id, 0, NULL);
}

static int stop(struct capture *capture, const struct request *request)
{
        int r = capture_sync(capture);
        if (r == 0)
                r = set_stopped(capture, true);
        if (r < 0)
                return r;
        log_line(capture->options.log, LOG_INFO_LEVEL, "%s: the capture job is stopped",
                capture->options.source);
        return capture_finish(capture, request->id, 0, NULL);
}

static int scan(struct capture *capture, const struct request *request)
{
        int64_t maxtrans, maxscans;
        struct problem problem = {0};
        const char *argument = request->argument ? request->argument : "";
        if (sscanf(argument, "%" SCNd64 " %" SCNd64, &maxtrans, &maxscans) != 2 || maxtrans < 1 ||
                maxscans < 1) {
                problem_set(&problem, EINVAL, 0, "a scan wants maxtrans and maxscans");
                return capture_finish(capture, request->id, -EINVAL, &problem);
        }
        int r = capture_run_scan(capture, maxtrans, maxscans);
        return r < 0 ? r : capture_finish(capture, request->id, 0, NULL);
}

int capture_answer_job(struct capture *capture, const struct request *request)
{
        static const struct {
                const char *command;
                int (*answer)(struct capture *capture, const struct request *request);
        } answers[] = {{"start-job", start}, {"stop-job", stop}, {"scan", scan}};
        for (size_t i = 0; i < COUNT(answers); i++) {
                if (strcmp(answers[i].command, request->command) == 0) {
                        int r = answers[i].answer(capture, request);
                        return r < 0 ? r : 1;
                }
        }
        return 0;
}
