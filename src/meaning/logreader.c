/* SPDX-License-Identifier: MIT
 *
 * logreader: see the header.
 */
#include "meaning/logreader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/record.h"
#include "bytes/walframe.h"
#include "ground/bytes.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "ground/hash.h"
#include "meaning/rowchange.h"
#include "meaning/schemarows.h"
#include "meaning/tracking.h"
#include "meaning/treediff.h"
#include "source/pages.h"
#include "source/pin.h"
#include "source/transactions.h"

enum {
        RECORD_COLUMNS = 2000,
        OFFSET_RESERVED = 20,
        OFFSET_COOKIE = 40,
        OFFSET_ENCODING = 56,
        SMALLEST_USABLE = 480,
};

/* What page 1 says of all others. */
struct meta {
        uint32_t usable; /* page size minus reserved bytes: VACUUM and a restore may change it */
        uint32_t cookie;
        enum text_encoding encoding;
};

struct logreader {
        const struct database *database; /* borrowed */
        struct pin *pin;                 /* owned */
        struct logreader_position base;
        uint32_t usable;               /* of a page, at the base */
        struct database_header header; /* of the last poll */
        struct frames frames;          /* page → frame, up to the base, if not in the file yet */
        struct transactions log;
        struct transaction current;
        struct pages pages;
        struct treediff diff;
        struct tracking tracking;
        struct changeset set;
        struct rowchange rows;
        struct value *values[2]; /* owned: a record before and after */
        uint8_t *page;           /* owned: one page */
        bool has_next_pin;
        bool is_on_mark, next_is_on_mark;
        struct logreader_statistics statistics;
};

/* ---- pages as the rooms above read them ---- */

static int read_old(void *context, uint32_t pgno, uint8_t *ret_page)
{
        return pages_read_old(&((struct logreader *)context)->pages, pgno, ret_page);
}

static int read_new(void *context, uint32_t pgno, uint8_t *ret_page)
{
        return pages_read_new(&((struct logreader *)context)->pages, pgno, ret_page);
}

static struct btpage_source page_source(
        struct logreader *reader, btpage_reader read, uint32_t usable, uint32_t pages)
{
        return (struct btpage_source){
                .read = read,
                .context = reader,
                .usable = usable,
                .page_size = reader->database->page_size,
                .pages = pages,
                .scratch = reader->page,
        };
}

/* ---- opening ---- */

/* Enters the frames 1 to the base into the map. */
static int load_frames(struct logreader *reader)
{
        struct database_header upto = {.max_frame = reader->base.frame};
        memcpy(upto.salt, reader->base.salt, sizeof(upto.salt));
        int r = 0;
        transactions_begin(&reader->log, reader->database, 1, &upto);
        while ((r = transactions_next(&reader->log, &reader->current)) == 1) {
                if (frames_merge(&reader->frames, &reader->current.pages) < 0)
                        return -ENOMEM;
                reader->base.pages = reader->current.page_count;
        }
        return r;
}

static int begin_at_header(struct logreader *reader, uint32_t generation)
{
        uint64_t size = 0;
        reader->base = (struct logreader_position){
                .generation = generation,
                .frame = reader->header.max_frame,
                .pages = reader->header.pages,
        };
        memcpy(reader->base.salt, reader->header.salt, sizeof(reader->base.salt));
        if (reader->header.max_frame > 0)
                return 0;
        /* A WAL without a frame does not say how many pages there are; the file does. */
        int r = database_main_size(reader->database, &size);
        reader->base.pages = (uint32_t)(size / reader->database->page_size);
        return r;
}

static bool is_same_wal(const struct logreader *reader)
{
        return memcmp(reader->base.salt, reader->header.salt, sizeof(reader->base.salt)) == 0;
}

/* The first frame behind the base. After a restart of the WAL that is its first: the base is in the
 * database file, whole. */
static uint32_t first_untold(const struct logreader *reader)
{
        return is_same_wal(reader) ? reader->base.frame + 1 : 1;
}

/* Once the database file holds the base and nothing newer, the frames are not needed any more, and
 * may be overwritten from the moment that the pin stands on read-lock 0. */
static void forget_backfilled(struct logreader *reader)
{
        const struct database_header *h = &reader->header;
        bool is_whole = h->backfilled == h->max_frame && h->max_frame == reader->base.frame;
        if (!is_same_wal(reader) || is_whole) {
                frames_clear(&reader->frames);
                reader->base.is_backfilled = true;
        }
}

static void parse_meta(const struct logreader *reader, struct meta *ret_meta)
{
        uint32_t page_size = reader->database->page_size;
        uint32_t usable = page_size - reader->page[OFFSET_RESERVED];
        *ret_meta = (struct meta){
                .usable = usable < SMALLEST_USABLE ? page_size : usable,
                .cookie = be32(reader->page + OFFSET_COOKIE),
                .encoding = text_encoding_at(be32(reader->page + OFFSET_ENCODING)),
        };
}

static int load_schema(struct logreader *reader)
{
        struct meta meta;
        /* A database without a page has an empty schema; its first commit brings page 1. */
        if (reader->base.pages == 0) {
                reader->usable = reader->database->usable;
                reader->tracking = (struct tracking){.encoding = reader->database->encoding};
                return schema_build(&reader->tracking.rows, reader->database->encoding,
                        &reader->tracking.schema);
        }
        int r = pages_read_old(&reader->pages, 1, reader->page);
        if (r < 0)
                return r;
        parse_meta(reader, &meta);
        reader->base.schema_cookie = meta.cookie;
        reader->usable = meta.usable;
        struct btpage_source source =
                page_source(reader, read_old, meta.usable, reader->base.pages);
        return tracking_open(&reader->tracking, meta.encoding, &source);
}

static int open_base(
        struct logreader *reader, const struct logreader_position *position, uint32_t generation)
{
        int r = database_header(reader->database, &reader->header);
        if (r < 0)
                return r;
        if (position)
                reader->base = *position;
        else
                r = begin_at_header(reader, generation);
        /* A base that is in the database file, whole, needs no frames; they may be overwritten. */
        if (r == 0)
                forget_backfilled(reader);
        if (r == 0 && !reader->base.is_backfilled)
                r = load_frames(reader);
        return r < 0 ? r : load_schema(reader);
}

static int allocate(struct logreader *reader)
{
        for (int i = 0; i < 2; i++)
                if (!(reader->values[i] = calloc(RECORD_COLUMNS, sizeof(struct value))))
                        return -ENOMEM;
        reader->page = malloc(reader->database->page_size);
        return reader->page ? 0 : -ENOMEM;
}

int logreader_open_pinned(const struct database *database, struct pin *pin,
        const struct logreader_position *position, uint32_t generation, const char *directory,
        struct logreader **ret_reader)
{
        struct logreader *reader = calloc(1, sizeof(*reader));
        if (!reader) {
                pin_close(pin);
                return -ENOMEM;
        }
        reader->database = database;
        reader->pin = pin;
        reader->pages = (struct pages){
                .database = database, .base = &reader->frames, .changed = &reader->current.pages};
        changeset_init(&reader->set, directory);
        int r = allocate(reader);
        if (r == 0)
                r = open_base(reader, position, generation);
        if (r < 0) {
                logreader_close(reader);
                return r;
        }
        *ret_reader = reader;
        return 0;
}

int logreader_open(const struct database *database, const struct logreader_position *position,
        uint32_t generation, const char *directory, struct logreader **ret_reader)
{
        struct pin *pin;
        int r = pin_open(database, &pin);
        if (r < 0)
                return r;
        return logreader_open_pinned(database, pin, position, generation, directory, ret_reader);
}

struct pin *logreader_steal_pin(struct logreader *reader)
{
        return steal(reader->pin);
}

void logreader_close(struct logreader *reader)
{
        if (!reader)
                return;
        pin_close(reader->pin);
        frames_release(&reader->frames);
        transaction_release(&reader->current);
        treediff_release(&reader->diff);
        tracking_release(&reader->tracking);
        changeset_release(&reader->set);
        rowchange_release(&reader->rows);
        free(reader->values[0]);
        free(reader->values[1]);
        free(reader->page);
        free(reader);
}

/* ---- what is new ---- */

int logreader_poll(struct logreader *reader)
{
        int r = database_header(reader->database, &reader->header);
        if (r < 0)
                return r;
        uint32_t first = first_untold(reader);
        if (is_same_wal(reader) && reader->header.max_frame < reader->base.frame)
                return -ESTALE;
        forget_backfilled(reader);
        transactions_begin(&reader->log, reader->database, first, &reader->header);
        return first <= reader->header.max_frame;
}

/* ---- the schema ---- */

struct schema_change {
        struct logreader *reader;
        struct schema_rows rows; /* the new rows, copied at the first change */
        bool is_changed;
};

static int schema_row_changed(
        void *context, int64_t rowid, const struct buf *old_payload, const struct buf *new_payload)
{
        struct schema_change *change = context;
        struct tracking *t = &change->reader->tracking;
        int r = change->is_changed ? 0 : schemarows_copy(&t->rows, &change->rows);
        change->is_changed = true;
        if (r == 0)
                r = schemarows_change(&change->rows, t->encoding, rowid, new_payload);
        return r;
}

/* VACUUM writes every page of the database, adds one to the schema cookie and changes no text.
 * Rowids, also those of sqlite_schema, and roots may differ afterwards. */
static bool is_vacuum(
        const struct logreader *reader, uint32_t cookie, const struct schema_change *change)
{
        return cookie == reader->base.schema_cookie + 1 &&
               reader->current.pages.count + 1 >= reader->current.page_count &&
               (!change->is_changed || schemarows_same(&reader->tracking.rows, &change->rows));
}

/* After the transaction. */
static int read_meta(struct logreader *reader, struct meta *ret_meta)
{
        *ret_meta = (struct meta){
                .usable = reader->usable,
                .cookie = reader->base.schema_cookie,
                .encoding = reader->tracking.encoding,
        };
        if (frames_find(&reader->current.pages, 1) == 0)
                return 0;
        int r = pages_read_new(&reader->pages, 1, reader->page);
        if (r == 0)
                parse_meta(reader, ret_meta);
        return r;
}

/* The first schema, or one in another encoding: a database without a table has none yet, and a
 * restore brings that of the copy. Texts in it are no longer those that the store can hold. */
static int begin_schema(struct logreader *reader, const struct meta *meta)
{
        struct btpage_source source =
                page_source(reader, read_new, meta->usable, reader->current.page_count);
        reader->base.schema_cookie = meta->cookie;
        return tracking_begin(&reader->tracking, meta->encoding, &source);
}

static int follow_schema(struct logreader *reader, const struct meta *meta, bool *ret_is_ddl)
{
        struct schema_change change = {.reader = reader};
        uint32_t cookie = meta->cookie;
        int r = 0;
        *ret_is_ddl = reader->base.pages == 0 || meta->encoding != reader->tracking.encoding;
        if (*ret_is_ddl)
                return begin_schema(reader, meta);
        if (treediff_touches(&reader->diff, TRACKING_SCHEMA_TREE))
                r = treediff_run(
                        &reader->diff, TRACKING_SCHEMA_TREE, 1, schema_row_changed, &change);
        bool was_vacuum = r == 0 && is_vacuum(reader, cookie, &change);
        for (size_t i = 0; change.is_changed && i < reader->tracking.count; i++) {
                struct tracked *tracked = &reader->tracking.list[i];
                tracked->is_written = treediff_touches(&reader->diff, tracked->tree);
        }
        if (was_vacuum && !change.is_changed)
                r = schemarows_copy(&reader->tracking.rows, &change.rows);
        if (r == 0 && was_vacuum)
                r = tracking_apply_vacuum(&reader->tracking, &change.rows);
        else if (r == 0 && change.is_changed)
                r = tracking_apply(&reader->tracking, &change.rows);
        schema_rows_release(&change.rows);
        *ret_is_ddl = change.is_changed && !was_vacuum;
        reader->statistics.schema_changes += *ret_is_ddl;
        if (r == 0)
                reader->base.schema_cookie = cookie;
        return r;
}

/* ---- rows ---- */

static int decode(struct logreader *reader, int side, const struct buf *payload,
        struct rowchange_row *ret_row)
{
        if (!payload)
                return 0;
        ret_row->values = reader->values[side];
        return record_decode(payload->data, payload->size, reader->values[side], RECORD_COLUMNS,
                &ret_row->count);
}

static int row_changed(
        void *context, int64_t rowid, const struct buf *old_payload, const struct buf *new_payload)
{
        struct logreader *reader = context;
        struct rowchange_row old, new;
        int r = decode(reader, 0, old_payload, &old);
        if (r == 0)
                r = decode(reader, 1, new_payload, &new);
        return r < 0 ? r
                     : rowchange_add(&reader->rows, rowid, old_payload ? &old : NULL,
                               new_payload ? &new : NULL);
}

static int compare_instance(struct logreader *reader, struct tracked *tracked)
{
        const struct binding *before = tracked->has_before ? &tracked->before : &tracked->binding;
        struct treediff_pair pair = {
                .tree = tracked->tree,
                .old_root = tracked->old_root,
                .new_root = tracked->root,
                .old_is_index = tracked->was_index,
                .new_is_index = tracked->is_index,
                .is_whole = tracked->is_whole,
        };
        /* Without rowids only their content tells rows apart that have no key, or a NULL in it. */
        bool is_by_content = tracked->is_by_content || tracked->was_index || tracked->is_index;
        int r = rowchange_begin(
                &reader->rows, before, &tracked->binding, is_by_content, &reader->set);
        if (r == 0)
                r = treediff_compare(&reader->diff, &pair, row_changed, reader);
        int ended = rowchange_end(&reader->rows);
        return r < 0 ? r : ended;
}

/* Where the bytes of the page that was found corrupt stand. */
static void describe_place(const struct logreader *reader, char *ret_text, size_t size)
{
        bool is_old;
        uint32_t pgno = treediff_bad_page(&reader->diff, &is_old);
        uint32_t frame = is_old ? 0 : frames_find(&reader->current.pages, pgno);
        if (frame == 0)
                frame = frames_find(&reader->frames, pgno);
        if (frame != 0)
                snprintf(ret_text, size, "page %u in frame %u of the log", pgno, frame);
        else
                snprintf(ret_text, size, "page %u in the database file", pgno);
}

/* A corrupt page stops the instances of its table; all others go on. */
static int stop_corrupt(struct logreader *reader, int64_t object_id, uint16_t tree)
{
        char place[80], reason[160];
        describe_place(reader, place, sizeof(place));
        snprintf(reason, sizeof(reason), "the table is corrupt at %s (commit at frame %u)", place,
                reader->current.commit_frame);
        changeset_void_instance(&reader->set);
        treediff_forget(&reader->diff, tree);
        return tracking_stop(&reader->tracking, object_id, reason);
}

static int compare_instances(struct logreader *reader)
{
        struct tracking *t = &reader->tracking;
        int r = 0;
        for (size_t i = 0; r == 0 && i < t->count;) {
                struct tracked *tracked = &t->list[i];
                if (tracked->is_whole || treediff_touches(&reader->diff, tracked->tree))
                        r = compare_instance(reader, tracked);
                if (r == -EBADMSG)
                        r = stop_corrupt(reader, tracked->object_id, tracked->tree);
                else
                        i++;
        }
        return r;
}

/* ---- the next transaction ---- */

/* The pin keeps checkpoints from copying what lies behind the base, and writers from restarting the
 * WAL before that is copied. Where one did all the same, pages that were read from the database
 * file may be those of another state, and frames may be overwritten: nothing of what was compared
 * may be told, nor an error in it be taken for one of the source. */
static int check_base(const struct logreader *reader)
{
        uint32_t upto = first_untold(reader) - 1;
        return database_is_overtaken(reader->database, &reader->header, upto) ? -ESTALE : 0;
}

static int compare_states(struct logreader *reader, bool *ret_is_ddl)
{
        struct meta meta;
        int r = read_meta(reader, &meta);
        struct btpage_source old =
                page_source(reader, read_old, reader->usable, reader->base.pages);
        struct btpage_source new =
                page_source(reader, read_new, meta.usable, reader->current.page_count);
        if (r == 0)
                r = treediff_begin(
                        &reader->diff, &reader->tracking.map, &reader->current.pages, &old, &new);
        if (r == 0)
                r = follow_schema(reader, &meta, ret_is_ddl);
        if (r == 0)
                r = compare_instances(reader);
        if (r == 0)
                r = treediff_finish(&reader->diff);
        tracking_settle(&reader->tracking);
        reader->usable = meta.usable;
        return r;
}

static int advance(struct logreader *reader)
{
        if (!is_same_wal(reader)) {
                reader->base.generation++;
                memcpy(reader->base.salt, reader->header.salt, sizeof(reader->base.salt));
                frames_clear(&reader->frames);
        }
        reader->base.frame = reader->current.commit_frame;
        memset(reader->base.frame_header, 0, sizeof(reader->base.frame_header));
        reader->base.frame_hash = 0;
        reader->base.pages = reader->current.page_count;
        reader->base.is_backfilled = false;
        reader->statistics.frames += reader->current.frame_count;
        int r = frames_merge(&reader->frames, &reader->current.pages);
        return r < 0 ? r : changeset_seal(&reader->set);
}

static int next(void *context, struct change_transaction *ret_transaction)
{
        struct logreader *reader = context;
        bool is_ddl = false;
        tracking_clear_events(&reader->tracking);
        changeset_reset(&reader->set);
        int r = transactions_next(&reader->log, &reader->current);
        if (r == 0)
                return 0;
        if (r > 0)
                r = compare_states(reader, &is_ddl);
        if (check_base(reader) < 0)
                return -ESTALE;
        if (r == 0)
                r = advance(reader);
        if (r < 0)
                return r;
        *ret_transaction = (struct change_transaction){
                .lsn = logreader_lsn(reader),
                .time_ns = clock_wall(NULL),
                .frames = reader->current.frame_count,
                .pages = reader->current.page_count,
                .is_ddl = is_ddl,
                .events = reader->tracking.events,
                .event_count = (unsigned)reader->tracking.event_count,
        };
        return 1;
}

static int next_change(void *context, struct change *ret_change)
{
        return changeset_next(&((struct logreader *)context)->set, ret_change);
}

static int attach(void *context, const struct capture_request *request, struct problem *problem)
{
        struct logreader *reader = context;
        struct btpage_source source =
                page_source(reader, read_old, reader->usable, reader->base.pages);
        return tracking_attach(&reader->tracking, request, &source, problem);
}

static void detach(void *context, int64_t object_id)
{
        tracking_detach(&((struct logreader *)context)->tracking, object_id);
}

struct transaction_source logreader_source(struct logreader *reader)
{
        return (struct transaction_source){
                .context = reader,
                .next = next,
                .next_change = next_change,
                .attach = attach,
                .detach = detach,
        };
}

/* ---- where it is ---- */

static int read_place(
        struct logreader *reader, uint8_t ret_header[WALFRAME_HEADER], uint64_t *ret_hash)
{
        uint32_t page_size = reader->database->page_size, frame = reader->base.frame;
        int r = database_read_wal(
                reader->database, walframe_offset(frame, page_size), ret_header, WALFRAME_HEADER);
        if (r == 0)
                r = pages_read_frame(reader->database, frame, reader->page);
        if (r == 0)
                *ret_hash = hash_bytes64(reader->page, page_size);
        return r;
}

/* Has the WAL been restarted since the last poll? Its frames may be overwritten then. */
static bool is_restarted(const struct logreader *reader)
{
        struct database_header now;
        return database_header(reader->database, &now) == 0 &&
               memcmp(now.salt, reader->base.salt, sizeof(now.salt)) != 0;
}

int logreader_position(struct logreader *reader, struct logreader_position *ret_position)
{
        struct logreader_position *base = &reader->base;
        uint8_t header[WALFRAME_HEADER];
        uint64_t hash = 0;
        /* After a restart of the WAL the frame is gone, and what was read of it holds. */
        if (base->frame != 0 && is_same_wal(reader)) {
                int r = read_place(reader, header, &hash);
                bool is_gone = is_restarted(reader);
                if (r < 0 && !is_gone)
                        return -EIO;
                if (!is_gone) {
                        memcpy(base->frame_header, header, sizeof(header));
                        base->frame_hash = hash;
                }
        }
        *ret_position = *base;
        return 0;
}

struct lsn logreader_lsn(const struct logreader *reader)
{
        return lsn_make(reader->base.generation, reader->base.frame, LSN_SLOT_COMMIT);
}

const struct database_header *logreader_header(const struct logreader *reader)
{
        return &reader->header;
}

uint32_t logreader_unfilled(const struct logreader *reader)
{
        const struct database_header *h = &reader->header;
        return h->backfilled > h->max_frame ? 0 : h->max_frame - h->backfilled;
}

bool logreader_is_attached(const struct logreader *reader, int64_t object_id)
{
        return tracking_find(&reader->tracking, object_id) != NULL;
}

struct change_binding *logreader_describe(const struct logreader *reader, int64_t object_id)
{
        return tracking_describe(&reader->tracking, object_id);
}

const struct schema *logreader_schema(const struct logreader *reader)
{
        return reader->tracking.schema;
}

void logreader_statistics(
        const struct logreader *reader, struct logreader_statistics *ret_statistics)
{
        *ret_statistics = reader->statistics;
        ret_statistics->unsigned_frames = reader->log.unsigned_frames;
}

/* ---- the pin ---- */

int logreader_take_pin(struct logreader *reader)
{
        struct database_header before = {0}, after = {0};
        if (reader->has_next_pin)
                return 0; /* kept: it stands where it stood */
        int r = database_header(reader->database, &before);
        if (r == 0)
                r = pin_take_next(reader->pin);
        if (r < 0)
                return r;
        reader->has_next_pin = true;
        reader->next_is_on_mark = database_header(reader->database, &after) == 0 &&
                                  memcmp(before.salt, after.salt, sizeof(after.salt)) == 0 &&
                                  after.backfilled < before.max_frame;
        return 0;
}

void logreader_drop_pin(struct logreader *reader)
{
        if (!reader->has_next_pin)
                return;
        pin_release_previous(reader->pin);
        reader->has_next_pin = false;
        reader->is_on_mark = reader->next_is_on_mark;
}

int logreader_step_aside(struct logreader *reader)
{
        /* The mark would be that of the header: checkpoints could copy what was not told yet. */
        if (first_untold(reader) <= reader->header.max_frame)
                return -EAGAIN;
        return pin_step_aside(reader->pin, &reader->header);
}

bool logreader_is_on_mark(const struct logreader *reader)
{
        return reader->is_on_mark;
}
