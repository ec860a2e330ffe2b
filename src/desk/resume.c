/* SPDX-License-Identifier: MIT
 *
 * resume: see the header.
 *
 * nBackfill alone does not tell what was copied into the database file: after any recovery it is
 * 0, and a checkpoint that died has copied without saying so. nBackfillAttempted tells that
 * nothing can have been: a recovery sets it to the end of the log. Where it lies behind the
 * position, pages whose first frame does too are compared with the file; one that equals such a
 * frame counts as copied, although a page may also have been written unchanged.
 */
#include "desk/resume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bytes/walframe.h"
#include "ground/bytes.h"
#include "ground/cleanup.h"
#include "ground/hash.h"
#include "source/pages.h"
#include "source/transactions.h"

enum { CHANGE_COUNTER = 24 };

int resume_look(const struct database *database, const struct identity *identity,
        struct resume_file *ret_file)
{
        struct stat st;
        uint8_t counter[4] = {0};
        if (fstat(identity->fd, &st) < 0)
                return -EIO;
        int r = database_read_main(database, CHANGE_COUNTER, counter, sizeof(counter));
        if (r < 0 && r != -ENODATA)
                return r;
        *ret_file = (struct resume_file){
                .size = st.st_size,
                .mtime_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec,
                .change_counter = be32(counter),
        };
        return 0;
}

struct decision {
        const struct database *database;
        const struct database_header *header;
        const struct state *state;
        uint8_t *pages[2]; /* owned: an image of the file, one of the log */
        const char *cause; /* why it is a gap, or NULL */
};

/* Is our last frame still where it was? */
static int check_place(struct decision *d)
{
        uint8_t header[WALFRAME_HEADER];
        uint32_t frame = d->state->wal_frame;
        if (d->header->max_frame < frame) {
                d->cause = "the source took commits back that had been captured";
                return 0;
        }
        if (frame == 0)
                return 0;
        uint64_t offset = walframe_offset(frame, d->database->page_size);
        int r = database_read_wal(d->database, offset, header, sizeof(header));
        if (r == 0)
                r = pages_read_frame(d->database, frame, d->pages[0]);
        if (r < 0)
                return r;
        if (memcmp(header, d->state->wal_frame_header, sizeof(header)) != 0 ||
                hash_bytes64(d->pages[0], d->database->page_size) != d->state->wal_frame_hash)
                d->cause = "the source took commits back that had been captured";
        else if (d->header->backfilled > frame)
                d->cause = "a checkpoint went past the captured position";
        return 0;
}

/* Does the file hold the page as this frame, behind the position, has it? */
static int check_frame(struct decision *d, uint32_t pgno, uint32_t frame)
{
        int r = pages_read_main(d->database, pgno, d->pages[0]);
        if (r == -EBADMSG)
                return 0; /* beyond the end of the file: not copied */
        if (r == 0)
                r = pages_read_frame(d->database, frame, d->pages[1]);
        if (r == 0 && memcmp(d->pages[0], d->pages[1], d->database->page_size) == 0)
                d->cause = "a checkpoint went past the captured position";
        return r;
}

/* Compares the frames behind the position, of pages that have none up to it. */
static int check_file(struct decision *d)
{
        _cleanup_(frames_release) struct frames before = {0};
        _cleanup_(transaction_release) struct transaction t = {0};
        struct transactions log = {0};
        int r = 0;
        transactions_begin(&log, d->database, 1, d->header);
        while (r == 0 && !d->cause && (r = transactions_next(&log, &t)) == 1) {
                r = 0;
                if (t.commit_frame <= d->state->wal_frame) {
                        r = frames_merge(&before, &t.pages);
                        continue;
                }
                for (size_t i = 0; r == 0 && !d->cause && i < t.pages.capacity; i++) {
                        const struct frames_entry *e = &t.pages.entries[i];
                        if (e->pgno != 0 && frames_find(&before, e->pgno) == 0)
                                r = check_frame(d, e->pgno, e->frame);
                }
        }
        return r;
}

static bool may_be_copied(const struct decision *d)
{
        const struct database_header *h = d->header;
        bool is_kept = h->attempted >= h->backfilled; /* SQLite before 3.10 does not keep it */
        return h->max_frame > d->state->wal_frame &&
               (!is_kept || h->attempted > d->state->wal_frame);
}

static int check_same_wal(struct decision *d)
{
        for (int i = 0; i < 2; i++)
                if (!(d->pages[i] = malloc(d->database->page_size)))
                        return -ENOMEM;
        int r = check_place(d);
        if (r == 0 && !d->cause && may_be_copied(d))
                r = check_file(d);
        return r;
}

static int check_other_wal(struct decision *d, const struct identity *identity)
{
        struct resume_file file;
        int r = resume_look(d->database, identity, &file);
        if (r < 0)
                return r;
        const struct state *s = d->state;
        if (!s->is_backfilled || file.size != s->source_size ||
                file.mtime_ns != s->source_mtime_ns ||
                file.change_counter != s->source_change_counter)
                d->cause = "the log was restarted behind the captured position";
        return 0;
}

/* Zero salts are of no log at all: between two times without one there may have been many. */
static bool is_same_log(const struct database_header *header, const struct state *state)
{
        static const uint8_t none[sizeof(header->salt)];
        return memcmp(header->salt, state->wal_salt, sizeof(none)) == 0 &&
               memcmp(header->salt, none, sizeof(none)) != 0;
}

int resume_decide(const struct database *database, const struct identity *identity,
        const struct database_header *header, const struct state *state, bool is_held,
        enum resume_verdict *ret_verdict, const char **ret_cause)
{
        struct decision d = {.database = database, .header = header, .state = state};
        int r = 0;
        if (state->generation == 0) {
                *ret_verdict = RESUME_FRESH;
                return 0;
        }
        if (identity->inode != state->source_inode || database->page_size != state->page_size)
                d.cause = "the database file was replaced";
        else if (is_same_log(header, state))
                r = check_same_wal(&d);
        else if (!is_held)
                r = check_other_wal(&d, identity);
        free(d.pages[0]);
        free(d.pages[1]);
        if (r < 0)
                return r;
        *ret_verdict = d.cause ? RESUME_GAP : RESUME_EXACT;
        *ret_cause = d.cause;
        return 0;
}
