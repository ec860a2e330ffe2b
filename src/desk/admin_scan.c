/* SPDX-License-Identifier: MIT
 *
 * admin_scan: sp_cdc_scan: by the agent, or as one: the log is read once, what that closes is
 * listed, and everything is let go of again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdc.h"
#include "desk/call.h"
#include "desk/capture.h"
#include "desk/closer.h"
#include "ground/cleanup.h"
#include "memory/jobs.h"

enum { NUMBER_ACTIVE = 22903, NUMBER_CONTINUOUS = 22998, NUMBER_POLL = 22999 };

static int check(const struct cdc_scan *given, struct cdc_scan *ret_scan, struct problem *problem)
{
        struct cdc_scan scan = {
                .maxtrans = given->maxtrans == CDC_UNSET ? 500 : given->maxtrans,
                .maxscans = given->maxscans == CDC_UNSET ? 10 : given->maxscans,
                .continuous = given->continuous == CDC_UNSET ? 0 : given->continuous,
                .pollinginterval = given->pollinginterval == CDC_UNSET ? 0 : given->pollinginterval,
        };
        struct job job = {.maxtrans = scan.maxtrans,
                .maxscans = scan.maxscans,
                .pollinginterval = scan.pollinginterval};
        if (scan.continuous != 0 && scan.continuous != 1)
                return problem_set(problem, EINVAL, NUMBER_CONTINUOUS, "continuous must be 0 or 1");
        int r = jobs_check(JOBS_CAPTURE, &job, problem);
        if (r == 0 && scan.pollinginterval > 0 && scan.continuous == 0)
                r = problem_set(
                        problem, EINVAL, NUMBER_POLL, "a pollinginterval wants continuous to be 1");
        *ret_scan = scan;
        return r;
}

/* Lists what the pass has closed. */
static int seal(struct capture *capture, const char *path)
{
        _cleanup_(store_closep) struct store *store = NULL;
        _cleanup_(files_release) struct files files = {0};
        _cleanup_free_ struct capture_measure *measures = NULL;
        int r = store_open(path, STORE_READ, NULL, &store);
        if (r == 0)
                r = files_unpublished(store_db(store), &files);
        if (r < 0 || files.count == 0)
                return r;
        measures = calloc(files.count, sizeof(*measures));
        if (!measures)
                return -ENOMEM;
        for (size_t i = 0; r == 0 && i < files.count; i++) {
                measures[i].ino = files.items[i].ino;
                r = closer_measure(store_db(store), &files.items[i], NULL, &measures[i].measure);
        }
        if (r == 0)
                r = capture_publish(capture, measures, files.count);
        for (size_t i = 0; i < files.count; i++)
                checkpoints_release(&measures[i].measure.checkpoints);
        return r;
}

/* Who hears of what goes on, if anybody. */
struct listener {
        cdc_notice notice;
        void *context;
};

static void pass_on(void *context, enum log_level level, const char *line)
{
        const struct listener *listener = context;
        if (listener->notice)
                listener->notice(listener->context, 0, line);
}

static int scan_alone(const struct call_paths *paths, const struct cdc_scan *scan,
        struct listener *listener, struct problem *problem)
{
        struct log log = {.level = LOG_WARNING_LEVEL, .sink = pass_on, .context = listener};
        struct capture_options options = {
                .source = paths->source,
                .store = paths->store,
                .log = &log,
                .limits = SEGMENTS_LIMITS_DEFAULT,
                .is_scan = true,
        };
        struct capture *capture = NULL;
        int r = capture_open(&options, &capture, problem);
        if (r == -EBUSY)
                problem->number = NUMBER_ACTIVE;
        if (r < 0)
                return r;
        r = capture_run_scan(capture, scan->maxtrans, scan->maxscans);
        if (r == 0)
                r = seal(capture, paths->store);
        capture_close(capture);
        return r;
}

static int scan_once(const struct call_paths *paths, const struct cdc_scan *scan,
        struct listener *listener, struct problem *problem)
{
        _cleanup_(store_closep) struct store *store = NULL;
        char argument[64];
        int r = call_open_store(paths, STORE_WRITE, problem, &store);
        if (r < 0)
                return r;
        snprintf(
                argument, sizeof(argument), "%" PRId64 " %" PRId64, scan->maxtrans, scan->maxscans);
        r = call_agent_with(store, paths->source, "scan", argument, 0, problem);
        if (r != -ESRCH)
                return r;
        store_close(steal(store));
        return scan_alone(paths, scan, listener, problem);
}

CDC_API int cdc_scan(const struct cdc_database *database, const struct cdc_scan *scan,
        cdc_notice notice, void *context, struct cdc_error *ret_error)
{
        struct listener listener = {notice, context};
        struct problem problem = {0};
        struct cdc_scan checked = {0};
        _cleanup_(call_paths_release) struct call_paths paths = {0};
        int r = check(scan, &checked, &problem);
        if (r == 0)
                r = call_find_paths(database, &paths);
        if (r == 0)
                r = scan_once(&paths, &checked, &listener, &problem);
        return call_answer(r, &problem, ret_error);
}
