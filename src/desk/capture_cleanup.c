/* SPDX-License-Identifier: MIT
 *
 * capture_cleanup: the cleanup job in the agent: when it is due, and its rows a batch a step, so
 * that capture never waits for more than one of them.
 *
 * Its parameters are read when it starts. It refuses to know what is deleted (memory/cleanup.h).
 */
#include "desk/capture_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "faces/render.h"
#include "ground/cleanup.h"
#include "memory/holds.h"
#include "memory/running.h"
#include "memory/sql.h"

enum { JOB_HOUR = 2, SEVERITY_NOTICE = 10 };

static const int64_t second_ns = 1000000000, minute_ns = INT64_C(60) * 1000000000,
                     day_ns = INT64_C(86400) * 1000000000;

/* ---- when ---- */

/* The first 02:00 local time after a moment. */
static int64_t next_night(int64_t after_ns)
{
        struct tm tm;
        time_t after = (time_t)(after_ns / second_ns);
        localtime_r(&after, &tm);
        tm.tm_mday += tm.tm_hour >= JOB_HOUR;
        tm.tm_hour = JOB_HOUR;
        tm.tm_min = tm.tm_sec = 0;
        tm.tm_isdst = -1;
        return (int64_t)mktime(&tm) * second_ns;
}

/* A night that was missed, with the machine off, is made up for. */
int capture_open_cleanup(struct capture *capture)
{
        sqlite3_stmt *stmt = NULL;
        int64_t now = clock_wall(capture->options.clock);
        int r = store_statement(capture->store, "SELECT cleaned_ns FROM cdcfs_state", &stmt);
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        int64_t last = sqlite3_column_int64(stmt, 0);
        sql_done(stmt);
        capture->cleanup = (struct capture_cleanup){
                .due_ns = next_night(last > 0 && last < now ? last : now),
                .is_purging = true, /* what was left over */
                .linger_due_ns = INT64_MAX,
                .threshold = capture->jobs.cleanup.threshold,
        };
        return 0;
}

static int read_now(struct capture *capture, struct cleanup_now *ret_now)
{
        ret_now->wall_ns = clock_wall(capture->options.clock);
        return running_read(store_db(capture->store), capture->options.clock, &ret_now->running_ns);
}

/* ---- marks ---- */

static int record_error(
        struct capture *capture, const struct problem *problem, int severity, int64_t wall_ns)
{
        struct sessions_error error = {
                .phase = SESSIONS_PHASE_DONE,
                .number = problem->number,
                .severity = severity,
                .state = 1,
                .message = problem->message,
        };
        log_line(capture->options.log, LOG_WARNING_LEVEL, "%s: %s", capture->options.source,
                problem->message);
        return sessions_error(capture->sessions, &error, wall_ns);
}

/* Bytes that are in use: free pages are used again. */
static int measure_store(sqlite3 *db, uint64_t *ret_bytes)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(db,
                "SELECT (p.page_count - f.freelist_count) * s.page_size FROM pragma_page_count AS "
                "p,"
                "  pragma_freelist_count AS f, pragma_page_size AS s",
                -1, &stmt, NULL));
        if (r == 0)
                r = sql_next(stmt);
        if (r > 0)
                *ret_bytes = (uint64_t)sqlite3_column_int64(stmt, 0);
        return r < 0 ? r : 0;
}

/* Over the limit one hold a run gives way, on record. */
static int yield_hold(struct capture *capture, const struct cleanup_now *now)
{
        _cleanup_free_ char *line = NULL;
        struct problem problem = {0};
        uint64_t bytes = 0;
        if (capture->options.max_store == 0)
                return 0;
        int r = measure_store(store_db(capture->store), &bytes);
        if (r == 0 && bytes > capture->options.max_store)
                r = holds_yield(capture->store, now->wall_ns, &line);
        if (r <= 0)
                return r;
        problem_set(&problem, EFBIG, 0, "%s", line);
        return record_error(capture, &problem, SEVERITY_NOTICE, now->wall_ns);
}

static int note_run(struct capture *capture, const struct cleanup_now *now)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(capture->store, "UPDATE cdcfs_state SET cleaned_ns = ?", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, now->wall_ns);
        return sql_run(stmt);
}

/* The open files begin at the marks: what was counted of them is counted anew. */
static int reload_segments(struct capture *capture)
{
        struct segments *segments = NULL;
        int r = segments_load(capture->store, capture->formats, render_file_formats(), &segments);
        if (r < 0)
                return r;
        segments_free(capture->segments);
        capture->segments = segments;
        return 0;
}

/* Ends the transaction that moved marks. */
static int commit_marks(struct capture *capture, int64_t threshold)
{
        int r = reload_segments(capture);
        if (r == 0)
                r = sessions_flush(capture->sessions, capture->store);
        if (r == 0)
                r = store_commit(capture->store);
        if (r < 0) {
                store_rollback(capture->store);
                sessions_unflush(capture->sessions);
                capture->is_failed = true; /* the counts may be of what was rolled back */
                return r;
        }
        capture->is_dirty = capture->has_news = true;
        capture->cleanup.is_purging = true;
        capture->cleanup.threshold = threshold;
        capture->cleanup.purge = (struct cleanup_purge){0};
        return capture_sync(capture);
}

static int begin(struct capture *capture, struct cleanup_now *ret_now)
{
        int r = store_begin(capture->store);
        if (r < 0)
                return r;
        ret_now->wall_ns = clock_wall(capture->options.clock);
        return running_save(capture->store, capture->options.clock, &ret_now->running_ns);
}

/* Fails for want of a store only: what SQL Server numbers is recorded, and tried the next night. */
static int run_job(struct capture *capture)
{
        struct cleanup_now now;
        struct problem problem = {0};
        unsigned raised = 0;
        struct jobs jobs;
        int r = jobs_load(store_db(capture->store), &jobs);
        if (r < 0 || !jobs.cleanup.is_defined)
                return r;
        r = begin(capture, &now);
        if (r == 0)
                r = yield_hold(capture, &now);
        if (r == 0)
                r = cleanup_raise_all(capture->store, &now, jobs.cleanup.retention * minute_ns,
                        &raised, &problem);
        if (r == 0)
                r = note_run(capture, &now);
        if (r == 0) {
                log_line(capture->options.log, LOG_INFO_LEVEL,
                        "%s: cleanup: %u instances have a higher low water mark",
                        capture->options.source, raised);
                return commit_marks(capture, jobs.cleanup.threshold);
        }
        store_rollback(capture->store);
        return problem.number ? record_error(capture, &problem, SEVERITY_NOTICE, now.wall_ns) : r;
}

/* ---- rows ---- */

/* When the next withdrawn file may go. */
static int note_linger(struct capture *capture, const struct cleanup_now *now)
{
        int64_t due_ns;
        int r = cleanup_next_due(store_db(capture->store), capture->options.linger_ns, &due_ns);
        if (r < 0)
                return r;
        capture->cleanup.linger_due_ns = due_ns;
        if (due_ns != INT64_MAX)
                capture->cleanup.linger_due_ns =
                        clock_monotonic(capture->options.clock) + due_ns - now->running_ns;
        return 0;
}

static int purge(struct capture *capture)
{
        struct cleanup_now now;
        struct problem problem = {0};
        struct cleanup_limits limits = {
                .linger_ns = capture->options.linger_ns,
                .threshold = capture->cleanup.threshold,
        };
        struct cleanup_purge *purge = &capture->cleanup.purge;
        bool had_removed = purge->has_removed;
        int r = read_now(capture, &now);
        if (r == 0)
                r = cleanup_purge(capture->store, &now, &limits, purge, &problem);
        if (problem.number)
                record_error(capture, &problem, SEVERITY_NOTICE, now.wall_ns);
        capture->has_news |= purge->has_removed && !had_removed;
        capture->is_dirty = true;
        if (r == -EAGAIN) {
                capture->cleanup.retry_ns = clock_monotonic(NULL) + second_ns;
                return 0;
        }
        if (r != 0)
                return r < 0 ? r : 0;
        *purge = (struct cleanup_purge){0};
        capture->cleanup.is_purging = false;
        return note_linger(capture, &now);
}

/* ---- the step's part ---- */

static bool is_job_due(const struct capture *capture)
{
        return clock_wall(capture->options.clock) >= capture->cleanup.due_ns;
}

int capture_step_cleanup(struct capture *capture)
{
        struct capture_cleanup *cleanup = &capture->cleanup;
        int r = 0;
        if (is_job_due(capture)) {
                cleanup->due_ns = next_night(clock_wall(capture->options.clock));
                r = run_job(capture);
        }
        cleanup->is_purging |= clock_monotonic(capture->options.clock) >= cleanup->linger_due_ns;
        if (r < 0 || !cleanup->is_purging || clock_monotonic(NULL) < cleanup->retry_ns)
                return r;
        return purge(capture);
}

int64_t capture_cleanup_wait(const struct capture *capture)
{
        int64_t wait = capture->cleanup.due_ns - clock_wall(capture->options.clock);
        int64_t retry = capture->cleanup.retry_ns - clock_monotonic(NULL);
        if (capture->cleanup.is_purging)
                return retry > 0 ? retry : 0;
        if (capture->cleanup.linger_due_ns != INT64_MAX) {
                int64_t linger =
                        capture->cleanup.linger_due_ns - clock_monotonic(capture->options.clock);
                wait = linger < wait ? linger : wait;
        }
        /* A clock that was set back must not put the night off for years. */
        return wait > day_ns ? day_ns : wait > 0 ? wait : 0;
}

/* A store that is too large does not wait for the night. */
static int check_size(struct capture *capture)
{
        uint64_t bytes = 0;
        struct lsn lsn;
        bool is_held = false;
        int r = measure_store(store_db(capture->store), &bytes);
        if (r < 0 || bytes <= capture->options.max_store)
                return r;
        for (size_t i = 0; r >= 0 && i < capture->instances.count; i++) {
                r = holds_find_lowest(store_db(capture->store),
                        capture->instances.items[i].object_id, clock_wall(capture->options.clock),
                        &lsn, NULL);
                is_held |= r > 0;
        }
        if (is_held)
                capture->cleanup.due_ns = 0;
        return r < 0 ? r : 0;
}

int capture_note_listed(struct capture *capture)
{
        int64_t running_ns;
        int r = running_save(capture->store, capture->options.clock, &running_ns);
        if (r == 0)
                r = cleanup_note_listed(capture->store, running_ns);
        return r == 0 && capture->options.max_store > 0 ? check_size(capture) : r;
}

/* ---- requests ---- */

static int answer_run(struct capture *capture, const struct request *request)
{
        int r = run_job(capture);
        return r < 0 ? r : capture_finish(capture, request->id, 0, NULL);
}

static int answer_stop(struct capture *capture, const struct request *request)
{
        capture->cleanup.is_purging = false;
        return capture_finish(capture, request->id, 0, NULL);
}

/* `OBJECT_ID THRESHOLD LSN`, or - for the mark as it is. */
static int answer_table(struct capture *capture, const struct request *request)
{
        int64_t object_id, threshold;
        char text[LSN_TEXT_SIZE];
        struct problem problem = {0};
        struct cleanup_now now;
        struct lsn mark;
        if (!request->argument || sscanf(request->argument, "%" SCNd64 " %" SCNd64 " %22s",
                                          &object_id, &threshold, text) != 3)
                return capture_finish(capture, request->id, -EINVAL, NULL);
        bool is_mark = lsn_parse(text, &mark) == 0;
        int r = begin(capture, &now);
        if (r == 0 && is_mark)
                r = cleanup_raise(capture->store, &now, object_id, mark, &problem);
        if (r < 0) {
                store_rollback(capture->store);
                return problem.message[0] ? capture_finish(capture, request->id, r, &problem) : r;
        }
        r = commit_marks(capture, threshold);
        return r < 0 ? r : capture_finish(capture, request->id, 0, NULL);
}

int capture_answer_cleanup(struct capture *capture, const struct request *request)
{
        static const struct {
                const char *command;
                int (*answer)(struct capture *capture, const struct request *request);
        } answers[] = {{"cleanup", answer_run}, {"stop-cleanup", answer_stop},
                {"cleanup-change-table", answer_table}};
        for (size_t i = 0; i < COUNT(answers); i++) {
                if (strcmp(answers[i].command, request->command) == 0) {
                        int r = answers[i].answer(capture, request);
                        return r < 0 ? r : 1;
                }
        }
        return 0;
}
