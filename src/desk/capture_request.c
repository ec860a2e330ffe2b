/* SPDX-License-Identifier: MIT
 *
 * capture_request: commands write the store and leave a request row; here the job takes them up.
 */
#include "desk/capture_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "ground/clock.h"
#include "memory/history.h"
#include "memory/mapping.h"

/* ---- instances ---- */

/* An instance that cannot be captured says so, and its stream is not there from here on. */
static int record_failure(struct capture *capture, const struct instance *instance, int error,
        const struct problem *problem)
{
        int64_t number, now = clock_wall(NULL);
        struct history_gap gap = {
                .object_id = instance->object_id,
                .from = lsn_increment(capture->state.max_lsn),
                .is_open = true,
                .time_ns = now,
                .cause = (char *)problem->message,
        };
        struct sessions_error session_error = {
                .phase = SESSIONS_PHASE_SCHEMA,
                .number = problem->number ? problem->number : 22859,
                .severity = 16,
                .state = 1,
                .message = problem->message,
        };
        if (error == -ENOENT && problem->number == 22931 && instance->has_start)
                return instances_set_dropped(capture->store, instance->object_id);
        int r = instances_set_error(capture->store, instance->object_id, problem->message);
        if (r == 0 && instance->has_start)
                r = history_add_gap(capture->store, &gap, &number);
        if (r == 0)
                r = sessions_error(capture->sessions, &session_error, now);
        return r;
}

/* The table may have been altered while nobody captured it. */
static int note_binding(struct capture *capture, const struct instance *instance)
{
        _cleanup_free_ struct change_binding *binding =
                logreader_describe(capture->reader, instance->object_id);
        if (!binding)
                return -ENOMEM;
        if (strcmp(binding->sql, instance->source_sql) == 0 &&
                strcmp(binding->table, instance->source_table) == 0 &&
                binding->schema_rowid == instance->source_rowid)
                return 0;
        struct history_ddl ddl = {
                .source_object_id = instance->source_object_id,
                .object_id = instance->object_id,
                .command = binding->sql,
                .lsn = capture->state.max_lsn,
                .time_ns = clock_wall(NULL),
        };
        int r = scan_bind(capture->store, instance, binding);
        if (r == 0 && instance->has_start && strcmp(binding->sql, instance->source_sql) != 0)
                r = history_add_ddl(capture->store, &ddl);
        return r;
}

static int attach(struct capture *capture, const struct instance *instance, struct problem *problem)
{
        unsigned count = instance->column_count;
        _cleanup_free_ char **names = calloc(count + 1, sizeof(*names));
        _cleanup_free_ int *positions = calloc(count + 1, sizeof(*positions));
        if (!names || !positions)
                return -ENOMEM;
        for (unsigned i = 0; i < count; i++) {
                names[i] = instance->columns[i].name;
                positions[i] = instance->columns[i].position;
        }
        struct capture_request request = {
                .object_id = instance->object_id,
                .table = instance->source_table,
                .encoding = store_encoding(capture->store),
                .columns = names,
                .column_count = count,
                .key = instance->key,
                .key_count = instance->key_count,
                .sql = instance->source_sql,
                .schema_rowid = instance->source_rowid,
                .positions = positions,
        };
        struct transaction_source source = logreader_source(capture->reader);
        int r = source.attach(source.context, &request, problem);
        return r < 0 ? r : note_binding(capture, instance);
}

int capture_attach(struct capture *capture, const struct instance *instance)
{
        struct problem problem = {0};
        int r = attach(capture, instance, &problem);
        if (r == -ENOENT || r == -ENOTSUP || r == -EBADMSG) {
                log_line(capture->options.log, LOG_WARNING_LEVEL, "%s is not captured: %s",
                        instance->name, problem.message);
                r = record_failure(capture, instance, r, &problem);
        }
        return r;
}

/* Its start_lsn is the last commit before it was recognised; the state after it is the baseline. */
static int recognise(struct capture *capture, const struct instance *instance)
{
        struct mapping_row row = {
                .start_lsn = capture->state.max_lsn,
                .begin_lsn = capture->state.max_lsn,
                .end_ns = clock_wall(NULL),
                .is_dummy = true,
                .first_change = capture->state.next_change,
        };
        int r = capture_attach(capture, instance);
        if (r < 0 || !logreader_is_attached(capture->reader, instance->object_id))
                return r;
        r = mapping_append(capture->store, &capture->state, &row);
        if (r == 0)
                r = instances_recognise(
                        capture->store, instance->object_id, capture->state.max_lsn);
        if (r == 0)
                r = segments_open(capture->segments, capture->store, instance->object_id,
                        capture->state.max_lsn, capture->state.next_change);
        return r;
}

static void let_go(struct capture *capture, const struct instances *old)
{
        struct transaction_source source = logreader_source(capture->reader);
        for (size_t i = 0; i < old->count; i++) {
                int64_t object_id = old->items[i].object_id;
                if (instances_find_object(&capture->instances, object_id))
                        continue;
                source.detach(source.context, object_id);
                segments_forget(capture->segments, object_id);
        }
}

int capture_recognise_pending(struct capture *capture)
{
        bool is_changed = false;
        int r = 0;
        if (capture->is_stopped)
                return 0;
        for (size_t i = 0; r == 0 && i < capture->instances.count; i++) {
                const struct instance *instance = &capture->instances.items[i];
                if (instance->has_start || instance->error || instance->has_drop_pending)
                        continue;
                r = recognise(capture, instance);
                is_changed = true;
        }
        if (r == 0 && is_changed)
                r = capture_load_instances(capture);
        return r;
}

int capture_follow_catalog(struct capture *capture)
{
        uint64_t version;
        int r = state_catalog_version(capture->store, &version);
        if (r < 0 || version == capture->state.catalog_version)
                return r;
        struct instances old = capture->instances;
        capture->instances = (struct instances){0};
        r = capture_load_instances(capture);
        if (r == 0)
                let_go(capture, &old);
        instances_release(&old);
        capture->has_news = true;
        return r;
}

/* ---- requests ---- */

int capture_finish(struct capture *capture, int64_t id, int result, const struct problem *problem)
{
        int r = capture_sync(capture);
        if (r == 0)
                r = store_begin(capture->store);
        if (r < 0)
                return r;
        r = requests_finish(capture->store, id, result, problem, clock_wall(NULL));
        if (r == 0)
                r = store_commit(capture->store);
        if (r < 0)
                store_rollback(capture->store);
        return r;
}

static int refuse(struct capture *capture, int64_t id, int result, const char *message)
{
        struct problem problem = {0};
        problem_set(&problem, -result, 0, "%s", message);
        return capture_finish(capture, id, result, &problem);
}

/* A rotation is done when everything that it closed is listed. */
static int finish_rotation(struct capture *capture)
{
        struct files waiting = {0};
        int r = files_unpublished(store_db(capture->store), &waiting);
        size_t count = waiting.count;
        files_release(&waiting);
        if (r < 0 || count > 0)
                return r;
        r = capture_finish(capture, capture->rotate_id, 0, NULL);
        if (r == 0)
                capture->rotate_id = 0;
        return r;
}

static int refuse_rotation(struct capture *capture, int64_t id)
{
        struct problem problem = {0};
        _cleanup_(buf_release) struct buf command = BUF_INIT;
        capture_hint_start(capture, &command);
        problem_set(&problem, EBUSY, 0,
                "the capture job is stopped, so that not all can be captured: run %s, or scan",
                buf_string(&command));
        return capture_finish(capture, id, -EBUSY, &problem);
}

static int begin_rotation(struct capture *capture, int64_t id)
{
        unsigned count, closed = 0;
        if (capture->is_stopped)
                return refuse_rotation(capture, id);
        int r = capture_scan(capture, &count);
        if (r == 0)
                r = capture_close_segment(capture, SEGMENTS_ROTATE, &closed);
        if (r < 0)
                return r;
        capture->rotate_id = id;
        return finish_rotation(capture);
}

static int answer(struct capture *capture, const struct request *request)
{
        capture->is_dirty = true;
        if (strcmp(request->command, "rotate") == 0)
                return begin_rotation(capture, request->id);
        if (strcmp(request->command, "refresh") == 0)
                return capture_finish(capture, request->id, 0, NULL);
        int r = capture_answer_job(capture, request);
        if (r == 0)
                r = capture_answer_cleanup(capture, request);
        if (r != 0)
                return r < 0 ? r : 0;
        return refuse(capture, request->id, -ENOTSUP, "this agent does not know the command");
}

static bool has_pending(const struct capture *capture)
{
        for (size_t i = 0; i < capture->instances.count; i++) {
                const struct instance *instance = &capture->instances.items[i];
                if (!instance->has_start && !instance->error && !instance->has_drop_pending)
                        return true;
        }
        return false;
}

static int write_catalog(struct capture *capture)
{
        int r = store_begin(capture->store);
        if (r < 0)
                return r;
        r = capture_follow_catalog(capture);
        if (r == 0)
                r = capture_recognise_pending(capture);
        if (r == 0)
                r = state_save(capture->store, &capture->state);
        if (r == 0)
                r = sessions_flush(capture->sessions, capture->store);
        if (r == 0)
                r = store_commit(capture->store);
        if (r < 0) {
                store_rollback(capture->store);
                sessions_unflush(capture->sessions);
                capture->is_failed = true;
        }
        capture->is_dirty = true;
        return r;
}

/* The table of a new instance may have been made by a commit that is not captured yet, so
 * everything that was committed before the command is captured first. */
int capture_follow_now(struct capture *capture)
{
        unsigned count;
        uint64_t version;
        int r = state_catalog_version(capture->store, &version);
        if (r < 0 || (version == capture->state.catalog_version && !has_pending(capture)))
                return r;
        r = capture_scan(capture, &count);
        return r < 0 ? r : write_catalog(capture);
}

static bool is_ending(const struct capture *capture)
{
        const struct capture_options *options = &capture->options;
        return options->is_ending && options->is_ending(options->ending_context);
}

int capture_answer_requests(struct capture *capture)
{
        int r = capture->is_stopped ? 0 : capture_follow_now(capture);
        if (r == 0 && capture->rotate_id != 0)
                r = finish_rotation(capture);
        while (r == 0 && capture->rotate_id == 0) {
                struct request request = {0};
                r = requests_next(capture->store, capture->request_id, &request);
                if (r <= 0)
                        break;
                if (is_ending(capture)) {
                        request_release(&request);
                        return 0;
                }
                r = answer(capture, &request);
                if (r == 0)
                        capture->request_id = request.id;
                request_release(&request);
        }
        return r;
}
