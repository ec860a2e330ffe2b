/* SPDX-License-Identifier: MIT
 *
 * files: rows of cdcfs_files: each file that an instance has or had in one format.
 *
 * A file's life: open (to_lsn NULL: what `live/` shows), closed by segments_close in the capture's
 * transaction (its bytes are settled but not measured; `live/` still shows it), published by the
 * sealing thread (the name appears), withdrawn by cleanup. One row and one inode number all along.
 * Its rows are those of the change table with numbers first_change to last_change.
 *
 * FROM of a file is TO of the one before plus one, or the end of a gap plus one; that of the first
 * is start_lsn. It knows formats by name and version only, and renders nothing.
 */
#ifndef CDC_FILES_H
#define CDC_FILES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ground/hash.h"
#include "ground/lsn.h"
#include "memory/checkpoints.h"
#include "memory/store.h"

enum { FILES_FORMAT_SIZE = 16 };

/* A format of files: the faces' table of renderers gives these to the capture. */
struct files_format {
        const char *name; /* at most 15 bytes; the row's `format` */
        unsigned renderer_version;
        bool is_net; /* net changes: for instances that support them */
        bool is_off; /* instances get no new files in it */
};

struct file_row {
        uint64_t ino;
        int64_t object_id;
        char format[FILES_FORMAT_SIZE];
        unsigned renderer_version;
        int64_t ordinal; /* per instance and format: 1, 2, 3 … */
        struct lsn from_lsn;
        struct lsn to_lsn; /* zero while open */
        bool is_open;
        bool is_published;
        bool is_withdrawn;
        bool is_resync;
        uint64_t first_change; /* while open: of the next row at opening */
        uint64_t last_change;  /* 0 while open */
        int64_t rows;          /* lines: an update has two. This and the next are 0 while open */
        int64_t inserts, updates, deletes;
        int64_t first_time_ns, last_time_ns; /* commit times of its first and last row */
        int64_t closed_ns;
        /* once published */
        int64_t bytes;
        uint8_t sha256[HASH_SIZE];
        int64_t odd_text; /* TEXT values that had to be written as hex */
        int64_t mtime_ns;
};

struct files {
        struct file_row *items;
        size_t count;
};

/* Opens a file from from_lsn on, whose first row will have number first_change or later, in the
 * caller's transaction. */
int files_open(struct store *store, int64_t object_id, const struct files_format *format,
        struct lsn from_lsn, uint64_t first_change, uint64_t *ret_ino);

/* Closed but not published, oldest closing first: the order to publish them in. */
int files_unpublished(sqlite3 *db, struct files *ret_files);

struct files_measure {
        int64_t bytes;
        uint8_t sha256[HASH_SIZE];
        int64_t odd_text;
        bool has_rows; /* takes the place of what was counted at closing: net changes have fewer */
        int64_t rows;
        struct checkpoints checkpoints; /* whoever measured owns them */
};
/* The name appears with this commit (the caller's transaction). mtime is the moment of closing,
 * raised where needed so that it rises strictly over all files of the store. Also the instance's
 * directory has changed. -ENOENT: no such closed file, or already published. */
int files_publish(struct store *store, uint64_t ino, const struct files_measure *measure,
        int64_t *ret_mtime_ns);

/* Published and not withdrawn files with ordinal > after, in order; at most `limit` (0 = all). */
int files_list(sqlite3 *db, int64_t object_id, const char *format, int64_t after, size_t limit,
        struct files *ret_files);
/* The same with the withdrawn ones, which come first. */
int files_list_openable(sqlite3 *db, int64_t object_id, const char *format, int64_t after,
        size_t limit, struct files *ret_files);
/* By its exact range, published, withdrawn ones too. 1, 0, or negative errno, as the next two. */
int files_find_range(sqlite3 *db, int64_t object_id, const char *format, struct lsn from,
        struct lsn to, struct file_row *ret_file);
int files_find_ino(sqlite3 *db, uint64_t ino, struct file_row *ret_file);
/* What `live/` shows: the oldest file that is not published, closed or open. */
int files_find_live(sqlite3 *db, int64_t object_id, const char *format, struct file_row *ret_file);
void files_release(struct files *files);

#endif
