/* SPDX-License-Identifier: MIT
 *
 * capture_cycle: one scan cycle is one store transaction, of at most maxtrans source transactions;
 * position and rows move together. The store's lock is taken first and the catalog looked at under
 * it, so that an instance that a command has just disabled gets no rows.
 */
#include "desk/capture_private.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "desk/resume.h"
#include "ground/cleanup.h"
#include "ground/clock.h"

enum {
        CHECKPOINT_FRAMES = 900, /* below the application's 1000, from which it would drive */
        BARRIER_FRAMES = 1000,   /* a log that would grow longer is cut under the barrier */
        CHECKPOINT_RETRY_NS = 10000000,
        ERROR_SCAN = 22859,
        ERROR_SEVERITY = 16,
        BARRIER_TRY_NS = 1000000,
        BARRIER_URGENT_NS = 10000000,
        TAIL_TRANSACTIONS = 32,
        ASIDE_NS = 100000000,
        ANCHOR_NS = 20000000,
};

static void state_from_position(struct state *state, const struct logreader_position *p)
{
        state->generation = p->generation;
        memcpy(state->wal_salt, p->salt, sizeof(state->wal_salt));
        state->wal_frame = p->frame;
        memcpy(state->wal_frame_header, p->frame_header, sizeof(state->wal_frame_header));
        state->wal_frame_hash = p->frame_hash;
        state->database_pages = p->pages;
        state->schema_cookie = p->schema_cookie;
}

int capture_note_position(struct capture *capture)
{
        struct logreader_position position;
        int r = logreader_position(capture->reader, &position);
        if (r == 0)
                state_from_position(&capture->state, &position);
        capture->state.is_backfilled = false;
        return r;
}

static struct scan scan_of(struct capture *capture)
{
        return (struct scan){
                .store = capture->store,
                .state = &capture->state,
                .instances = &capture->instances,
                .segments = capture->segments,
                .sessions = capture->sessions,
                .limits = capture->options.limits,
                .source = logreader_source(capture->reader),
        };
}

/* A cycle that failed stands in both views, which the next one that does not writes. */
static void note_failure(struct capture *capture, struct scan *scan, int error)
{
        struct sessions_error failure = {
                .phase = SESSIONS_PHASE_ROWS,
                .number = ERROR_SCAN,
                .severity = ERROR_SEVERITY,
                .state = 1,
                .message = error == -EIO ? store_error(capture->store) : strerror(-error),
                .start_lsn = scan->counts.start_lsn,
                .begin_lsn = scan->counts.current_lsn,
        };
        scan->counts.is_failed = true;
        (void)sessions_error(capture->sessions, &failure, clock_wall(NULL));
}

static int write_cycle(
        struct capture *capture, struct scan *scan, int64_t limit, unsigned *ret_count)
{
        int r = capture_follow_catalog(capture);
        scan->instances = &capture->instances;
        if (r == 0)
                r = scan_transactions(scan, (unsigned)limit, ret_count);
        if (r == 0)
                r = capture_note_position(capture);
        if (r == 0)
                r = state_save(capture->store, &capture->state);
        if (r < 0 && r != -EAGAIN)
                note_failure(capture, scan, r);
        sessions_end(capture->sessions, &scan->counts, clock_wall(NULL));
        if (r == 0)
                r = sessions_flush(capture->sessions, capture->store);
        return r;
}

/* A failure leaves the reader ahead of the store: both begin anew from what the store holds. A log
 * that the pin did not hold is looked at as after a time without a pin. */
static int give_up(struct capture *capture, int error)
{
        if (error == -ESTALE)
                capture->is_held = false;
        store_rollback(capture->store);
        sessions_unflush(capture->sessions);
        capture->is_failed = true;
        return error;
}

static int run_cycle(struct capture *capture, int64_t limit, unsigned *ret_count)
{
        _cleanup_(scan_end) struct scan scan = scan_of(capture);
        int r = store_begin(capture->store);
        if (r < 0)
                return r;
        sessions_begin(capture->sessions, clock_wall(NULL));
        scan_begin(&scan);
        r = write_cycle(capture, &scan, limit, ret_count);
        if (r == 0)
                r = store_commit(capture->store);
        if (r < 0)
                return give_up(capture, r);
        capture->is_dirty = capture->is_behind = true;
        capture->has_news = true;
        capture->has_closed |= scan.files_closed > 0;
        return scan.is_catalog_changed ? capture_load_instances(capture) : 0;
}

int capture_scan_some(struct capture *capture, int64_t limit, int64_t cycles, unsigned *ret_count)
{
        unsigned count = 0, total = 0;
        int r;
        *ret_count = 0;
        r = logreader_poll(capture->reader);
        if (r == -ESTALE)
                capture->is_failed = true;
        if (r <= 0)
                return r;
        do {
                count = 0;
                r = run_cycle(capture, limit, &count);
                total += count;
        } while (r == 0 && count == limit && --cycles > 0);
        *ret_count = total;
        return r < 0 ? r : count == limit;
}

int capture_scan(struct capture *capture, unsigned *ret_count)
{
        int r = capture_scan_some(capture, capture->jobs.capture.maxtrans, INT64_MAX, ret_count);
        return r < 0 ? r : 0;
}

int capture_sync(struct capture *capture)
{
        if (!capture->is_dirty)
                return 0;
        int r = database_sync_wal(capture->database);
        if (r == 0)
                r = store_sync(capture->store, NULL);
        if (r < 0)
                return r;
        capture->is_dirty = false;
        return 0;
}

int capture_move_pin(struct capture *capture)
{
        unsigned count;
        int r = logreader_take_pin(capture->reader);
        if (r == 0)
                r = capture_scan(capture, &count);
        if (r == 0)
                r = capture_sync(capture);
        if (r < 0)
                return r;
        logreader_drop_pin(capture->reader);
        capture->pinned_ns = clock_monotonic(NULL);
        capture->is_anchored = capture->is_behind = false;
        return 0;
}

/* It may wait for the very read mark that the pin stands on, and would for long. */
static int step_aside(struct capture *capture, int64_t now)
{
        if (capture->is_dirty || capture->is_anchored || now - capture->aside_ns < ASIDE_NS ||
                logreader_unfilled(capture->reader) == 0)
                return 0;
        capture->aside_ns = now;
        int r = logreader_step_aside(capture->reader);
        return r == -EAGAIN ? 0 : r;
}

int capture_make_way(struct capture *capture, int64_t now)
{
        bool is_checkpointed = identity_is_checkpointed(capture->index_fd);
        if (is_checkpointed || identity_is_written(capture->index_fd))
                capture->moved_ns = now; /* something is coming: the log stays watched */
        /* A long log is cut by our own checkpoint, for which the application's wait in turn. */
        if (!is_checkpointed || capture_is_log_long(capture))
                return 0;
        /* A pin that was taken while the checkpoint held read-lock 0 stands on a mark although
         * everything was copied; the next one will not. */
        bool is_in_doubt = capture->is_anchored && now - capture->pinned_ns >= ANCHOR_NS;
        if (capture->is_behind || is_in_doubt)
                return capture_move_pin(capture);
        return step_aside(capture, now);
}

/* ---- checkpoints ---- */

static bool is_whole(struct capture *capture)
{
        struct logreader_position position;
        const struct database_header *h = logreader_header(capture->reader);
        return logreader_position(capture->reader, &position) == 0 && position.is_backfilled &&
               h->backfilled == h->max_frame;
}

/* Everything is captured and in the database file: the new pin lands on read-lock 0, the next
 * writer may restart the WAL, and the database file cannot change until the pin moves on. */
static int anchor(struct capture *capture)
{
        int r = capture_move_pin(capture);
        capture->is_anchored = r == 0 && is_whole(capture);
        return r;
}

/* Notes how the database file looks while it is frozen: at a later start that proves that nothing
 * happened in between. */
static int note_file(struct capture *capture)
{
        struct resume_file file;
        int r = resume_look(capture->database, &capture->identity, &file);
        if (r == 0)
                r = store_begin(capture->store);
        if (r < 0)
                return r;
        capture->state.is_backfilled = true;
        capture->state.source_size = file.size;
        capture->state.source_mtime_ns = file.mtime_ns;
        capture->state.source_change_counter = file.change_counter;
        r = state_save(capture->store, &capture->state);
        if (r == 0)
                r = store_commit(capture->store);
        if (r < 0) {
                store_rollback(capture->store);
                capture->state.is_backfilled = false;
        }
        return r;
}

/* Captures until little comes in meanwhile, so that the barrier covers a short tail; not where the
 * writers are as fast as we are, or the log is long already. */
static int catch_up(struct capture *capture)
{
        unsigned count = UINT_MAX, before;
        int r = 0;
        do {
                before = count;
                r = capture_scan(capture, &count);
        } while (r == 0 && count > TAIL_TRANSACTIONS && count < before / 2 &&
                 logreader_header(capture->reader)->max_frame < BARRIER_FRAMES);
        return r < 0 ? r : capture_sync(capture);
}

static bool is_bound_near(const struct capture *capture)
{
        return !capture->options.is_barrier_off &&
               logreader_header(capture->reader)->max_frame >= BARRIER_FRAMES;
}

/* Copies what the pin allows without holding up anybody, so that little is left to do under the
 * barrier. */
static int checkpoint_openly(struct capture *capture)
{
        uint32_t frames, copied;
        int r = capture_move_pin(capture);
        if (r < 0 || !logreader_is_on_mark(capture->reader) || is_bound_near(capture))
                return r;
        r = checkpoint_run(&capture->checkpoint, 0, &frames, &copied);
        if (r == 0)
                r = database_sync_main(capture->database);
        if (r == 0 && logreader_header(capture->reader)->max_frame < BARRIER_FRAMES / 2)
                r = catch_up(capture);
        return r == -EAGAIN ? 0 : r;
}

/* The last part, while no writer can add to it. */
static int checkpoint_tail(struct capture *capture)
{
        uint32_t frames, copied;
        int r = capture_move_pin(capture);
        if (r == 0)
                r = checkpoint_run(&capture->checkpoint, CHECKPOINT_RETRY_NS, &frames, &copied);
        if (r < 0)
                return r;
        capture->blocked_frames = frames == copied ? 0 : frames;
        return frames == copied ? anchor(capture) : 0;
}

static void log_checkpoint(struct capture *capture, const char *part, int r)
{
        const struct database_header *h = logreader_header(capture->reader);
        log_line(capture->options.log, LOG_DEBUG_LEVEL,
                "checkpoint, %s: %s; the log has %u frames, %u of them copied", part,
                r == 0 ? "done" : strerror(-r), h->max_frame, h->backfilled);
}

static int checkpoint_under_barrier(struct capture *capture, int64_t limit_ns)
{
        int r = checkpoint_take_barrier(&capture->checkpoint, limit_ns);
        log_checkpoint(capture, "barrier", r);
        if (r == 0)
                r = checkpoint_tail(capture);
        checkpoint_drop_barrier(&capture->checkpoint);
        log_checkpoint(capture, "tail", r);
        if (r == 0 && capture->is_anchored)
                r = note_file(capture);
        return r == -EAGAIN ? 0 : r;
}

static uint64_t unsigned_frames(const struct capture *capture)
{
        struct logreader_statistics statistics;
        logreader_statistics(capture->reader, &statistics);
        return statistics.unsigned_frames;
}

/* Frames without checksum (SQLite up to 3.49) end the log for whoever recovers it: older frames
 * before them would hide what was copied. So a log that has any is emptied as soon as it can be. */
static int cut_unsigned(struct capture *capture)
{
        uint64_t count = unsigned_frames(capture);
        if (count == capture->unsigned_cut || !capture->is_anchored)
                return 0;
        int r = checkpoint_empty(&capture->checkpoint);
        if (r == 0)
                capture->unsigned_cut = count;
        return r == -EAGAIN ? 0 : r;
}

static int anchor_and_note(struct capture *capture)
{
        int r = capture->is_anchored ? 0 : anchor(capture);
        return r == 0 && capture->is_anchored ? note_file(capture) : r;
}

/* Also where the store could not be written when it was to be noted. */
static bool is_anchor_due(struct capture *capture)
{
        bool is_noted = capture->is_anchored && capture->state.is_backfilled;
        return !is_noted && is_whole(capture);
}

/* Is the log to be cut? What another reader kept from being cut is tried again when as much has
 * come in addition. */
bool capture_is_log_long(const struct capture *capture)
{
        uint32_t frames = logreader_header(capture->reader)->max_frame;
        uint32_t blocked = frames >= capture->blocked_frames ? capture->blocked_frames : 0;
        return frames >= blocked + CHECKPOINT_FRAMES && logreader_unfilled(capture->reader) > 0;
}

/* How long the log will be when an open checkpoint has done its part, by what was measured last. */
static int64_t expected_frames(struct capture *capture, int64_t now)
{
        uint32_t frames = logreader_header(capture->reader)->max_frame;
        int64_t grown = frames >= capture->seen_frames ? frames - capture->seen_frames : frames;
        int64_t passed = now - capture->seen_ns;
        capture->seen_frames = frames;
        capture->seen_ns = now;
        return frames + (passed > 0 ? grown * capture->open_ns / passed : 0);
}

/* A log that would grow too long holds the writers first; what is left is captured then. Where
 * another writer has the lock, nothing that takes time is begun before the next try. */
int capture_bound_log(struct capture *capture)
{
        capture->is_barrier_wanted = false;
        int r = logreader_poll(capture->reader);
        if (r < 0)
                return r == -ESTALE ? 0 : r;
        int64_t expected = expected_frames(capture, clock_monotonic(NULL));
        if (capture->options.is_barrier_off || expected < BARRIER_FRAMES ||
                !capture_is_log_long(capture))
                return 0;
        r = checkpoint_under_barrier(capture, BARRIER_URGENT_NS);
        capture->is_barrier_wanted = r == 0 && !capture->is_anchored;
        return r;
}

static int checkpoint_in_parts(struct capture *capture)
{
        if (is_bound_near(capture))
                return checkpoint_under_barrier(capture, BARRIER_URGENT_NS);
        int64_t begin = clock_monotonic(NULL);
        int r = checkpoint_openly(capture);
        int64_t taken = clock_monotonic(NULL) - begin;
        int64_t usual = capture->open_ns - capture->open_ns / 8;
        capture->open_ns = taken > usual ? taken : usual;
        log_checkpoint(capture, "open part", r);
        if (r == 0 && (r = logreader_poll(capture->reader)) == 0 && is_whole(capture))
                return anchor_and_note(capture);
        if (r < 0 || capture->options.is_barrier_off)
                return r;
        return checkpoint_under_barrier(capture, BARRIER_TRY_NS);
}

int capture_drive_checkpoint(struct capture *capture, bool is_idle)
{
        uint32_t unfilled = logreader_unfilled(capture->reader);
        bool is_urgent = is_idle || unsigned_frames(capture) != capture->unsigned_cut;
        int r = 0;
        if (unfilled == 0)
                r = is_anchor_due(capture) ? anchor_and_note(capture) : 0;
        else if ((capture_is_log_long(capture) || is_urgent) && !capture->is_barrier_wanted)
                r = checkpoint_in_parts(capture);
        return r < 0 ? r : cut_unsigned(capture);
}

bool capture_finish_log(struct capture *capture)
{
        if (logreader_poll(capture->reader) != 0 || capture_drive_checkpoint(capture, true) < 0 ||
                capture_sync(capture) < 0)
                return false;
        return logreader_poll(capture->reader) == 0 && is_whole(capture);
}

int capture_close_segment(struct capture *capture, enum segments_cause cause, unsigned *ret_closed)
{
        int64_t now = clock_wall(NULL);
        int r = store_begin(capture->store);
        if (r < 0)
                return r;
        r = segments_close(capture->segments, capture->store, &capture->options.limits,
                capture->state.max_lsn, cause, capture->state.next_change, now, ret_closed);
        if (r == 0)
                r = store_commit(capture->store);
        if (r < 0)
                return give_up(capture, r);
        capture->is_dirty = true;
        capture->has_closed |= *ret_closed > 0;
        return 0;
}
