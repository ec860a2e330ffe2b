/* SPDX-License-Identifier: MIT
 *
 * capture: the step, and when the next one is due.
 *
 * Pacing: the first commit after quiet is taken at once; under load cycles begin at least 20 ms
 * apart, since each costs the application's disk a sync or two. After anything moved the log is
 * looked at again with pauses growing from 0.2 to 5 ms until a second has passed, because commits
 * are published in shared memory after the file event; then pollinginterval is the longest wait.
 */
#include "desk/capture_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ground/clock.h"

#define MS INT64_C(1000000)

static const int64_t sync_every_ns = 100 * MS, cycle_every_ns = 20 * MS, watch_for_ns = 1000 * MS,
                     first_pause_ns = MS / 5, longest_pause_ns = 5 * MS, idle_after_ns = 10000 * MS,
                     first_retry_ns = 100 * MS, longest_retry_ns = 10000 * MS;

/* What is left to be measured of a file when it is closed: so long do new rows stay unseen. */
static const uint64_t grown_bytes = 512 << 10;

/* Nothing is left in the log that is not captured and not in the database file. */
static bool finish(struct capture *capture)
{
        unsigned count;
        if (!capture->reader || capture->is_failed || capture->is_stopped)
                return false;
        if (!capture->options.is_scan)
                capture_scan(capture, &count);
        return capture_sync(capture) == 0 && !capture->is_failed && capture_finish_log(capture);
}

void capture_close(struct capture *capture)
{
        if (!capture)
                return;
        bool is_finished = finish(capture);
        logreader_close(capture->reader);
        checkpoint_close(&capture->checkpoint);
        /* A log that stays behind is recovered by whoever comes next, which must not happen to
         * frames without checksum; one that is not captured must stay. */
        if (is_finished)
                database_leave(capture->database);
        else
                database_close(capture->database);
        segments_free(capture->segments);
        sessions_free(capture->sessions);
        instances_release(&capture->instances);
        state_release(&capture->state);
        store_close(capture->store);
        identity_release_store(capture->store_fd);
        free(capture->formats);
        free(capture->directory);
        /* Last: closing the descriptor drops the POSIX locks of every connection. */
        if (capture->index_fd >= 0)
                close(capture->index_fd);
        identity_release(&capture->identity);
        free(capture);
}

void capture_note_pulse(struct capture *capture)
{
        capture->pulse.end_of_log = capture->state.max_lsn;
        capture->pulse.as_of_ns = clock_wall(NULL);
        capture->pulse.is_caught_up = true;
}

static void tell_unsigned(struct capture *capture)
{
        struct logreader_statistics statistics;
        logreader_statistics(capture->reader, &statistics);
        if (statistics.unsigned_frames == 0 || capture->has_unsigned)
                return;
        capture->has_unsigned = true;
        log_line(capture->options.log, LOG_WARNING_LEVEL,
                "%s: committed frames without checksum were met: a SQLite of 3.49 or older wrote "
                "them and would lose them in a crash; upgrade the application's SQLite",
                capture->options.source);
}

/* Ages are by wall time, as the files' times are. */
static int close_by_age(struct capture *capture)
{
        size_t count;
        unsigned closed = 0;
        const struct segments_tally *open = segments_list(capture->segments, &count);
        if (segments_due(&capture->options.limits, open, count, clock_wall(NULL)) == SEGMENTS_NONE)
                return 0;
        return capture_close_segment(capture, SEGMENTS_AGE, &closed);
}

static int keep_durable(struct capture *capture, int64_t now)
{
        bool is_due = now - capture->pinned_ns >= sync_every_ns;
        if (is_due && capture->is_behind)
                return capture_move_pin(capture);
        return is_due ? capture_sync(capture) : 0;
}

/* The file may have been moved away or replaced: its log would then be another. */
static int check_identity(struct capture *capture, struct problem *problem)
{
        int r = identity_changed(&capture->identity);
        if (r == 0)
                return 0;
        if (r == -ENOENT)
                return problem_set(problem, ENOENT, 0, "%s is gone", capture->options.source);
        return problem_set(problem, ESTALE, 0,
                "%s was replaced by another file: start the agent anew", capture->options.source);
}

/* A command's commit is visible only after the file event that it raised, so the store is looked at
 * again as long as the log is. */
static int look_at_store(struct capture *capture, int64_t now)
{
        if (!capture->has_event && now - capture->moved_ns >= watch_for_ns)
                return 0;
        int r = store_changed(capture->store);
        if (r == 0 && !capture->has_event)
                return 0;
        capture->has_event = true;
        if (r >= 0)
                r = capture_answer_requests(capture);
        capture->has_event = r < 0;
        return r;
}

static int follow_log(struct capture *capture, bool is_event, int64_t now)
{
        unsigned count = 0;
        int r = 0;
        if (now - capture->cycle_ns >= cycle_every_ns || capture_is_log_long(capture)) {
                r = capture_bound_log(capture);
                if (r >= 0)
                        r = capture_scan(capture, &count);
                if (count > 0)
                        capture->cycle_ns = now;
        }
        if (count > 0 || is_event) {
                capture->moved_ns = now;
                capture->pause_ns = first_pause_ns;
        }
        if (r == 0)
                r = close_by_age(capture);
        if (r == 0)
                r = keep_durable(capture, now);
        if (r == 0)
                r = capture_make_way(capture, now);
        if (r == 0)
                r = capture_drive_checkpoint(capture, now - capture->moved_ns >= idle_after_ns);
        return r;
}

static int work_in_passes(struct capture *capture, bool is_event, int64_t now)
{
        if (is_event) {
                capture->moved_ns = now;
                capture->pause_ns = first_pause_ns;
        }
        int r = capture_run_pass(capture, now);
        if (r == 0)
                r = close_by_age(capture);
        return r == 0 ? capture_sync(capture) : r;
}

static int work(struct capture *capture, bool is_event, int64_t now, struct problem *problem)
{
        int r = 0;
        capture->has_event |= is_event;
        if (is_event && (r = check_identity(capture, problem)) < 0)
                return r;
        if (capture->is_failed && (r = capture_reopen(capture, problem)) < 0)
                return r;
        r = look_at_store(capture, now);
        if (r == 0)
                r = capture_is_in_passes(capture) ? work_in_passes(capture, is_event, now)
                                                  : follow_log(capture, is_event, now);
        if (r == 0)
                r = capture_step_cleanup(capture);
        return r == -EAGAIN ? 0 : r;
}

static int64_t least(int64_t a, int64_t b)
{
        return a < b ? a : b;
}

static int64_t next_wait(struct capture *capture, int64_t now)
{
        size_t count;
        bool is_in_passes = capture_is_in_passes(capture);
        int64_t wait = is_in_passes ? capture_pass_wait(capture, now)
                                    : capture->jobs.capture.pollinginterval * 1000 * MS;
        const struct segments_tally *open = segments_list(capture->segments, &count);
        int64_t deadline = segments_deadline(&capture->options.limits, open, count);
        if (deadline != INT64_MAX)
                wait = least(wait, deadline - clock_wall(NULL));
        if (now - capture->moved_ns < watch_for_ns) {
                wait = least(wait, capture->pause_ns);
                capture->pause_ns = least(capture->pause_ns * 2, longest_pause_ns);
        }
        wait = least(wait, capture_cleanup_wait(capture));
        if (is_in_passes)
                return wait > 0 ? wait : 0;
        if (capture->is_dirty || capture->is_behind)
                wait = least(wait, capture->pinned_ns + sync_every_ns - now);
        if (logreader_unfilled(capture->reader) > 0)
                wait = least(wait, capture->moved_ns + idle_after_ns - now);
        /* What could not be done just now is tried again at once. */
        if (capture_is_log_long(capture) || capture->has_event)
                return first_pause_ns;
        int64_t pace = capture->cycle_ns + cycle_every_ns - now;
        if (wait < pace)
                wait = pace;
        return wait > 0 ? wait : 0;
}

int capture_step(
        struct capture *capture, bool is_event, int64_t *ret_wait_ns, struct problem *problem)
{
        int64_t now = clock_monotonic(NULL);
        *problem = (struct problem){0};
        int r = work(capture, is_event, now, problem);
        if (r < 0) {
                capture->retry_ns = capture->retry_ns
                                            ? least(capture->retry_ns * 2, longest_retry_ns)
                                            : first_retry_ns;
                *ret_wait_ns = capture->retry_ns;
                capture->pulse.is_caught_up = false;
                if (problem->message[0] == '\0')
                        problem_set(problem, -r, 0, "%s: %s (%s)", capture->options.source,
                                strerror(-r), store_error(capture->store));
                return r;
        }
        capture->retry_ns = 0;
        tell_unsigned(capture);
        if (!capture_is_in_passes(capture))
                capture_note_pulse(capture);
        *ret_wait_ns = next_wait(capture, clock_monotonic(NULL));
        return 0;
}

bool capture_take_news(struct capture *capture)
{
        bool has_news = capture->has_news;
        capture->has_news = false;
        return has_news;
}

bool capture_take_closed(struct capture *capture)
{
        bool has_closed = capture->has_closed;
        capture->has_closed = false;
        return has_closed;
}

bool capture_take_grown(struct capture *capture, int64_t *ret_object_id, uint64_t *ret_end)
{
        if (capture->is_failed ||
                !segments_take_grown(capture->segments, grown_bytes, ret_object_id))
                return false;
        *ret_end = capture->state.next_change - 1;
        return true;
}

int capture_publish(struct capture *capture, const struct capture_measure *measures, size_t count)
{
        int64_t mtime_ns;
        /* What a listed file holds must survive a power cut: source first, then store. */
        capture->is_dirty = true;
        int r = capture_sync(capture);
        if (r == 0)
                r = store_begin(capture->store);
        if (r < 0)
                return r;
        for (size_t i = 0; r == 0 && i < count; i++) {
                r = files_publish(capture->store, measures[i].ino, &measures[i].measure, &mtime_ns);
                if (r == -ENOENT)
                        r = 0; /* its instance was disabled meanwhile */
        }
        if (r == 0)
                r = capture_note_listed(capture);
        if (r == 0)
                r = store_commit(capture->store);
        if (r < 0) {
                store_rollback(capture->store);
                return r;
        }
        capture->has_news = true;
        r = store_sync(capture->store, NULL);
        return r == 0 ? capture_answer_requests(capture) : r;
}

void capture_pulse(const struct capture *capture, struct capture_pulse *ret_pulse)
{
        *ret_pulse = capture->pulse;
}

const char *capture_source_path(const struct capture *capture)
{
        return capture->database->path;
}

const char *capture_store_path(const struct capture *capture)
{
        return store_path(capture->store);
}
