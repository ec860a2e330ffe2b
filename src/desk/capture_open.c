/* SPDX-License-Identifier: MIT
 *
 * capture_open: the order matters. The lock first; the store before the source, so that a database
 * that is not enabled is never pinned; the pin before anything is decided about the log.
 */
#include "desk/capture_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "desk/resume.h"
#include "faces/render.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "memory/history.h"
#include "memory/mapping.h"

enum {
        HEADER_TRIES = 50,
        OPEN_PART_NS = 50000000, /* until it is measured */
        STEP_BACK_TRIES = 2000,
        STEP_BACK_PAUSE_NS = 5000000,
};

static int copy_directory(struct capture *capture)
{
        const char *slash = strrchr(capture->options.store, '/');
        capture->directory = slash ? strndup(capture->options.store,
                                             (size_t)(slash - capture->options.store) + 1)
                                   : strdup(".");
        return capture->directory ? 0 : -ENOMEM;
}

static int make_formats(struct capture *capture)
{
        unsigned count = render_file_formats();
        uint32_t chosen = capture->options.formats ? capture->options.formats : UINT32_MAX;
        capture->formats = calloc(count, sizeof(*capture->formats));
        for (unsigned i = 0; capture->formats && i < count; i++)
                capture->formats[i] = (struct files_format){
                        .name = render_at(i)->name,
                        .renderer_version = render_at(i)->version,
                        .is_net = render_at(i)->kind == RENDER_NET,
                        .is_off = !(chosen >> i & 1),
                };
        return capture->formats ? 0 : -ENOMEM;
}

int capture_load_instances(struct capture *capture)
{
        struct instances instances;
        int r = instances_load(capture->store, &instances);
        if (r == 0)
                r = state_catalog_version(capture->store, &capture->state.catalog_version);
        else
                return r;
        instances_release(&capture->instances);
        capture->instances = instances;
        return r;
}

/* ---- where to go on ---- */

static int read_header(const struct capture *capture, struct database_header *ret_header)
{
        int r = -EAGAIN;
        for (int i = 0; r == -EAGAIN && i < HEADER_TRIES; i++) {
                r = database_header(capture->database, ret_header);
                if (r == -EAGAIN)
                        database_refresh(capture->database);
        }
        return r;
}

static struct logreader_position position_of(const struct state *state)
{
        struct logreader_position p = {
                .generation = state->generation,
                .frame = state->wal_frame,
                .frame_hash = state->wal_frame_hash,
                .pages = state->database_pages,
                .schema_cookie = state->schema_cookie,
        };
        memcpy(p.salt, state->wal_salt, sizeof(p.salt));
        memcpy(p.frame_header, state->wal_frame_header, sizeof(p.frame_header));
        return p;
}

static int open_reader(struct capture *capture, struct pin *pin, enum resume_verdict verdict)
{
        struct logreader_position position = position_of(&capture->state);
        bool is_exact = verdict == RESUME_EXACT;
        return logreader_open_pinned(capture->database, pin, is_exact ? &position : NULL,
                capture->state.generation + 1, capture->directory, &capture->reader);
}

/* ---- what the verdict means for the store ---- */

static int write_mapping(struct capture *capture, struct lsn lsn)
{
        struct mapping_row row = {
                .start_lsn = lsn,
                .begin_lsn = lsn,
                .end_ns = clock_wall(NULL),
                .is_dummy = true,
                .first_change = capture->state.next_change,
        };
        return mapping_append(capture->store, &capture->state, &row);
}

static int write_gap(struct capture *capture, struct lsn anchor, const char *cause)
{
        int64_t number, now = clock_wall(NULL);
        unsigned closed = 0;
        struct history_gap gap = {
                .from = lsn_increment(capture->state.max_lsn),
                .to = anchor,
                .time_ns = now,
                .cause = (char *)cause,
        };
        if (!capture->state.has_min_lsn)
                return 0; /* nothing was captured yet that could be missed */
        int r = segments_close(capture->segments, capture->store, &capture->options.limits,
                capture->state.max_lsn, SEGMENTS_GAP, capture->state.next_change, now, &closed);
        if (r == 0)
                r = history_add_gap(capture->store, &gap, &number);
        if (r == 0)
                r = segments_skip(capture->segments, capture->store, 0, anchor);
        capture->has_closed |= closed > 0;
        log_line(capture->options.log, LOG_WARNING_LEVEL, "%s: changes are missing: %s",
                capture->options.source, cause);
        return r;
}

/* The log is read from an anchor on: what is committed now is the state that changes build on. */
static int move_to_anchor(struct capture *capture, enum resume_verdict verdict, const char *cause)
{
        struct lsn anchor = logreader_lsn(capture->reader);
        int r = verdict == RESUME_GAP ? write_gap(capture, anchor, cause) : 0;
        if (r < 0)
                return r;
        capture->state.max_lsn = anchor;
        capture->state.source_device = capture->identity.device;
        capture->state.source_inode = capture->identity.inode;
        capture->state.page_size = capture->database->page_size;
        return write_mapping(capture, anchor);
}

static int attach_all(struct capture *capture)
{
        int r = 0;
        for (size_t i = 0; r == 0 && i < capture->instances.count; i++) {
                const struct instance *instance = &capture->instances.items[i];
                if (instance->has_start && !instance->has_drop_pending && !instance->error)
                        r = capture_attach(capture, instance);
        }
        return r;
}

/* The store belongs to the source by the name it has now. */
static int note_path(struct capture *capture)
{
        char *path = strdup(capture->identity.path);
        if (!path)
                return -ENOMEM;
        free(capture->state.source_path);
        capture->state.source_path = path;
        return 0;
}

static int take_up(struct capture *capture, enum resume_verdict verdict, const char *cause)
{
        int r = segments_load(
                capture->store, capture->formats, render_file_formats(), &capture->segments);
        if (r == 0)
                r = capture_load_instances(capture);
        if (r == 0 && verdict != RESUME_EXACT)
                r = move_to_anchor(capture, verdict, cause);
        if (r == 0)
                r = attach_all(capture);
        if (r == 0)
                r = capture_recognise_pending(capture);
        if (r == 0)
                r = capture_note_position(capture);
        if (r == 0)
                r = note_path(capture);
        if (r == 0)
                r = state_save(capture->store, &capture->state);
        if (r == 0)
                r = sessions_flush(capture->sessions, capture->store);
        return r;
}

/* Frame of the log, as the header names it, up to which everything was captured. */
static uint32_t captured_frame(const struct capture *capture, const struct database_header *header)
{
        bool is_same = memcmp(header->salt, capture->state.wal_salt, sizeof(header->salt)) == 0;
        return is_same ? capture->state.wal_frame : 0;
}

/* A new pin stands at what is committed now, and checkpoints may copy up to there; what lies behind
 * the captured position must stay as it is. 1 if it does from now on, 0 if a checkpoint would not
 * end. */
static int step_back(struct capture *capture, struct pin *pin, struct database_header *header)
{
        const struct timespec pause = {.tv_nsec = STEP_BACK_PAUSE_NS};
        for (int i = 0; i < STEP_BACK_TRIES; i++) {
                uint32_t frame = captured_frame(capture, header);
                if (frame > header->max_frame)
                        return 1; /* commits were taken back: a gap in any case */
                int r = pin_step_back(pin, frame, header);
                if (r == 0 && captured_frame(capture, header) == frame)
                        return 1;
                if (r < 0 && r != -EAGAIN)
                        return r;
                if (r == -EAGAIN)
                        nanosleep(&pause, NULL);
                r = read_header(capture, header);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int decide(struct capture *capture, struct pin *pin, enum resume_verdict *ret_verdict,
        const char **ret_cause)
{
        struct database_header header;
        int r = read_header(capture, &header);
        if (r == 0 && !capture->is_held && capture->state.generation != 0) {
                r = step_back(capture, pin, &header);
                if (r <= 0)
                        return r;
        }
        return r < 0 ? r
                     : resume_decide(capture->database, &capture->identity, &header,
                               &capture->state, capture->is_held, ret_verdict, ret_cause);
}

/* Decides with the pin held and writes the decision; the pin is the reader's from here on. */
static int go_on(struct capture *capture, struct pin *pin)
{
        enum resume_verdict verdict = RESUME_GAP;
        const char *cause = "a checkpoint ran while capture began";
        int r = decide(capture, pin, &verdict, &cause);
        if (r < 0) {
                pin_close(pin);
                return r;
        }
        r = open_reader(capture, pin, verdict);
        if (r == 0)
                r = store_begin(capture->store);
        if (r < 0)
                return r;
        r = take_up(capture, verdict, cause);
        if (r == 0)
                r = store_commit(capture->store);
        if (r < 0) {
                store_rollback(capture->store);
                return r;
        }
        capture->is_held = true;
        capture->is_dirty = capture->has_closed = capture->has_news = true;
        return capture_load_instances(capture);
}

int capture_reopen(struct capture *capture, struct problem *problem)
{
        struct pin *pin = NULL;
        if (capture->reader)
                pin = logreader_steal_pin(capture->reader);
        /* A pin from a start that could not be stored says nothing of what was before it. */
        capture->is_held = pin && capture->is_held;
        logreader_close(steal(capture->reader));
        segments_free(steal(capture->segments));
        state_release(&capture->state);
        int r = state_load(capture->store, &capture->state);
        if (r == 0 && !pin)
                r = pin_open(capture->database, &pin);
        if (r < 0) {
                pin_close(pin);
                return problem_set(
                        problem, -r, 0, "cannot pin %s: %s", capture->options.source, strerror(-r));
        }
        r = go_on(capture, pin);
        if (r < 0)
                return problem_set(problem, -r, 0, "cannot go on with %s: %s (%s)",
                        capture->options.source, strerror(-r), store_error(capture->store));
        capture->is_failed = false;
        capture->is_anchored = false;
        return 0;
}

/* ---- opening ---- */

/* A store that was moved along with its source is its source's, whatever is in the old place now.
 */
static bool is_moved_along(const struct capture *capture, const struct state *state)
{
        _cleanup_free_ char *path = store_default_path(capture->identity.path);
        return path && strcmp(path, capture->options.store) == 0 &&
               state->source_inode == capture->identity.inode;
}

/* The file under the recorded path may be another one by now, as after a restore; but it is no
 * other database's store as long as the recorded one is there. */
static int check_owner(const struct capture *capture, struct problem *problem)
{
        _cleanup_(state_release) struct state state = {0};
        struct stat owner;
        int r = state_load(capture->store, &state);
        if (r < 0)
                return problem_set(problem, -r, 0, "cannot read the store %s: %s",
                        capture->options.store, strerror(-r));
        if (stat(state.source_path, &owner) < 0 ||
                (owner.st_dev == capture->identity.device &&
                        owner.st_ino == capture->identity.inode) ||
                is_moved_along(capture, &state))
                return 0;
        return problem_set(problem, EXDEV, 0,
                "the store %s belongs to the database %s, and not to %s", capture->options.store,
                state.source_path, capture->options.source);
}

/* What cannot be opened here is told by store_open. */
static int open_store(struct capture *capture, struct problem *problem)
{
        int r = identity_claim_store(capture->options.store, &capture->store_fd, problem);
        if (r == -EADDRINUSE)
                return r;
        r = store_open(capture->options.store, STORE_WRITE, problem, &capture->store);
        return r < 0 ? r : check_owner(capture, problem);
}

static int open_files(struct capture *capture, struct problem *problem)
{
        int r = identity_claim(capture->options.source, &capture->identity, problem);
        if (r == 0)
                r = open_store(capture, problem);
        if (r == 0)
                r = database_open(capture->options.source, &capture->database, problem);
        if (r < 0)
                return r;
        capture->index_fd = identity_open_index(&capture->identity);
        r = capture->index_fd < 0 ? capture->index_fd
                                  : checkpoint_open(capture->database, &capture->checkpoint);
        if (r == 0)
                r = capture_read_job(capture);
        if (r < 0)
                problem_set(problem, -r, 0, "cannot open %s: %s", capture->options.source,
                        strerror(-r));
        return r;
}

int capture_open(const struct capture_options *options, struct capture **ret_capture,
        struct problem *problem)
{
        struct capture *capture = calloc(1, sizeof(*capture));
        if (!capture)
                return -ENOMEM;
        capture->options = *options;
        capture->identity.fd = capture->index_fd = capture->store_fd = -1;
        capture->open_ns = OPEN_PART_NS;
        capture->sessions = sessions_new();
        int r = capture->sessions ? copy_directory(capture) : -ENOMEM;
        if (r == 0)
                r = make_formats(capture);
        if (r == 0)
                r = open_files(capture, problem);
        if (r == 0)
                r = capture_reopen(capture, problem);
        if (r == 0)
                r = capture_open_cleanup(capture);
        if (r == 0)
                r = capture_sync(capture);
        if (r < 0) {
                capture_close(capture);
                return r;
        }
        *ret_capture = capture;
        return 0;
}
