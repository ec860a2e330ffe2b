/* SPDX-License-Identifier: MIT
 *
 * logreader: the log of a live database as a source of transactions.
 *
 * Wires the floors below: the wal-index header says what is committed, frames group into
 * transactions, page images before and after give changed rows, the schema as of each commit
 * gives them columns. It holds the pin; when the pin may move is the caller's decision, since
 * only the caller knows what is durable.
 *
 * The base is the commit up to which everything was told. Old images come from the frames up to
 * the base, else from the database file. As soon as a header shows the base wholly copied into
 * the database file the frames are forgotten: from then on a writer may restart the WAL and
 * overwrite them.
 */
#ifndef CDC_LOGREADER_H
#define CDC_LOGREADER_H

#include "meaning/transaction_source.h"
#include "source/database.h"

/* Where the reader is in the log; persisted by the store, together with the rows. */
struct logreader_position {
        uint32_t generation;      /* of LSNs */
        uint8_t salt[8];          /* WAL that `frame` counts in */
        uint32_t frame;           /* last frame told; 0 = none */
        uint8_t frame_header[24]; /* of that frame in the log, to know the place again */
        uint64_t frame_hash;      /* of its page image */
        uint32_t pages;           /* of the database there */
        uint32_t schema_cookie;
        bool is_backfilled; /* the database file holds all of it */
};

struct logreader;

struct logreader_statistics {
        uint64_t frames;          /* read so far */
        uint64_t unsigned_frames; /* committed frames whose salt was zeroed (SQLite <= 3.49) */
        uint64_t schema_changes;
};

/* Opens on a database (borrowed) and takes the first pin. position NULL = begin at what is
 * committed now, as generation 1 (or *generation if not NULL); else go on behind the position,
 * which the caller has found to be in the log. Spilled changes go to `directory` (borrowed). */
int logreader_open(const struct database *database, const struct logreader_position *position,
        uint32_t generation, const char *directory, struct logreader **ret_reader);
/* The same on a pin that was taken already (owned from now on); for a caller that must look at the
 * log while it is pinned before it can name a position. */
struct pin;
int logreader_open_pinned(const struct database *database, struct pin *pin,
        const struct logreader_position *position, uint32_t generation, const char *directory,
        struct logreader **ret_reader);
/* Takes the pin out of the reader, which is good for logreader_close only from then on: another
 * reader goes on behind an earlier position without a moment in which the log is not held. */
struct pin *logreader_steal_pin(struct logreader *reader);
void logreader_close(struct logreader *reader);

/* Looks at the header. 1 if there are transactions to tell, 0 if not, -EAGAIN if it cannot be read
 * just now, -ESTALE if the log no longer holds what follows the base. */
int logreader_poll(struct logreader *reader);
/* The source's methods, for a struct transaction_source whose context is the reader. next tells
 * transactions up to the header that the last logreader_poll saw; -ESTALE if frames behind the base
 * were copied into the database file, or the log was restarted, while they were compared: the pin
 * did not hold, and the reader is good for logreader_close only. */
struct transaction_source logreader_source(struct logreader *reader);

/* Reads the place in the log again and describes it. 0 or -EIO. */
int logreader_position(struct logreader *reader, struct logreader_position *ret_position);
struct lsn logreader_lsn(const struct logreader *reader); /* of the base */
/* The header of the last logreader_poll. */
const struct database_header *logreader_header(const struct logreader *reader);
/* Number of frames of the log that are not in the database file yet, by the last header. */
uint32_t logreader_unfilled(const struct logreader *reader);
bool logreader_is_attached(const struct logreader *reader, int64_t object_id);
/* As tracking_describe. */
struct change_binding *logreader_describe(const struct logreader *reader, int64_t object_id);
const struct schema *logreader_schema(const struct logreader *reader); /* as of the base */
void logreader_statistics(
        const struct logreader *reader, struct logreader_statistics *ret_statistics);

/* Moving the pin, hand over hand: take the next one, tell and make durable everything that
 * logreader_poll then finds, and let the old one go. */
int logreader_take_pin(struct logreader *reader);
void logreader_drop_pin(struct logreader *reader);
/* pin_step_aside at the header of the last logreader_poll; everything told is durable. -EAGAIN also
 * if the poll found what is not told yet. */
int logreader_step_aside(struct logreader *reader);
/* True if the pin was taken when frames were left to copy: it stands on a read mark >= 1, and no
 * writer can restart the WAL. */
bool logreader_is_on_mark(const struct logreader *reader);

#endif
