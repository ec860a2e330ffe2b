/* SPDX-License-Identifier: MIT
 *
 * tracking: the captured tables as of the base: schema, instances bound to it, and who owns which
 * page. It applies schema changes and says what they mean for each instance; it reads pages through
 * the source it is given and knows neither frames nor files.
 */
#ifndef CDC_TRACKING_H
#define CDC_TRACKING_H

#include "meaning/binding.h"
#include "meaning/pagemap.h"
#include "meaning/transaction_source.h"

enum { TRACKING_SCHEMA_TREE = 1 }; /* number of sqlite_schema's tree in the pagemap */

/* One instance. */
struct tracked {
        int64_t object_id;
        uint16_t tree; /* of its table, shared by two instances of one table */
        uint32_t root;
        bool is_index; /* its table is WITHOUT ROWID */
        struct binding binding;
        bool is_written; /* pages of it, in the transaction in hand; set before tracking_apply */
        /* as the transaction in hand found it; `before` is set if columns are others now */
        uint32_t old_root;
        bool was_index;
        bool has_before;
        bool is_whole;      /* another tree took the place of its table's */
        bool is_by_content; /* and rowids need not be what they were */
        struct binding before;
};

struct tracking {
        enum text_encoding encoding;
        struct pagemap map;
        struct schema_rows rows;
        struct schema *schema; /* owns a reference */
        struct tracked *list;  /* owned; parents first (foreign keys) */
        size_t count;
        struct change_event *events; /* owned, with their texts */
        size_t event_count;
};

/* Reads the schema as the source shows it. 0, -EBADMSG, -ENOMEM, -EIO. */
int tracking_open(
        struct tracking *tracking, enum text_encoding encoding, const struct btpage_source *source);
void tracking_release(struct tracking *tracking);
/* As transaction_source.attach. */
int tracking_attach(struct tracking *tracking, const struct capture_request *request,
        const struct btpage_source *source, struct problem *problem);
void tracking_detach(struct tracking *tracking, int64_t object_id);
struct tracked *tracking_find(const struct tracking *tracking, int64_t object_id);

/* How the instance is bound; the caller frees, and it holds until the schema changes. NULL: it is
 * not tracked, or no memory. */
struct change_binding *tracking_describe(const struct tracking *tracking, int64_t object_id);

/* Takes the new rows (owned from now on, also on failure), tells what they mean as events, rebinds
 * what goes on and detaches what does not. 0, -ENOMEM, -EIO. */
int tracking_apply(struct tracking *tracking, struct schema_rows *rows);
/* VACUUM: the same tables, with other rowids in sqlite_schema and other roots. As above. */
int tracking_apply_vacuum(struct tracking *tracking, struct schema_rows *rows);
/* The transaction is done: what it found is forgotten. */
void tracking_settle(struct tracking *tracking);
/* Reads the schema anew, in another encoding: what was tracked is detached, with an event each.
 * 0, or as tracking_open. */
int tracking_begin(
        struct tracking *tracking, enum text_encoding encoding, const struct btpage_source *source);
/* Detaches an instance with an event that says why. 0 or -ENOMEM. */
int tracking_stop(struct tracking *tracking, int64_t object_id, const char *reason);
void tracking_clear_events(struct tracking *tracking);

#endif
