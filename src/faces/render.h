/* SPDX-License-Identifier: MIT
 *
 * render: one row of a table for each format, and a renderer set up for one result.
 *
 *      _cleanup_(render_release) struct render render = {0};
 *      int r = render_init(&render, render_find("csv"), changes_shape(changes));
 *      render_header(&render, buf);
 *      ... render_row(&render, values, buf) for each row ...
 *
 * The bytes are a pure function of the shape, the values and the renderer's version. A renderer
 * whose bytes change gets a new version and keeps the old one beside it: closed files record the
 * version they were made with. Golden files (tests/golden) hold each version.
 *
 * A new format is one file with its functions and one row in render.c. One that shows net changes
 * too has a second renderer there, with the same functions: the rows differ, their bytes do not.
 */
#ifndef CDC_RENDER_H
#define CDC_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faces/result.h"
#include "ground/buf.h"

struct render;

/* Which rows a file of the format has: all changes (changes.h, events.h), or net changes. */
enum render_kind { RENDER_ALL, RENDER_NET };

/* A format. */
struct renderer {
        const char *name;   /* in the store, at most 15 bytes: "csv", "net-csv" */
        const char *folder; /* in the mount, under all/ or net/: "csv" */
        const char *suffix; /* of its files: ".csv" */
        enum render_kind kind;
        unsigned version;
        bool is_live;      /* live/ shows it while it grows */
        bool has_commits;  /* its rows are those of events.h: changes with their commits */
        bool folds_update; /* the two rows of an update come to one line */
        /* What stands before the value of column `index`, made once for each result. */
        void (*lead)(struct buf *buf, unsigned index, const char *name);
        void (*header)(const struct render *render, struct buf *buf);
        void (*row)(const struct render *render, const struct value *values, struct buf *buf);
};

/* A renderer for the rows of one shape. Immutable after render_init. */
struct render {
        const struct renderer *renderer;
        const struct result_shape *shape; /* borrowed */
        struct buf leads;                 /* the leads of all columns, one after the other */
        size_t *lead_ends;                /* lead i stands from lead_ends[i] to lead_ends[i + 1] */
};

/* The formats in the order of the listing, newest version of each: first those of all changes (0
 * csv, 1 jsonl, 2 debezium, 3 qlik), from render_count() on those of net changes,
 * render_file_formats() in all. */
unsigned render_count(void);
unsigned render_file_formats(void);
/* NULL from render_file_formats() on. */
const struct renderer *render_at(unsigned format);
/* A list of folders with colons between them ("csv:qlik") as a set: bit `format` for each format,
 * of all changes and of net changes, whose folder is in it. 0, or -EINVAL: a word is no folder, or
 * there is none. */
int render_parse_formats(const char *list, uint32_t *ret_formats);
/* By name, newest version; NULL if there is none. */
const struct renderer *render_find(const char *name);
/* A version that a closed file was made with; NULL if there is none. */
const struct renderer *render_find_version(const char *name, unsigned version);

/* The shape must outlive the render. 0 or -ENOMEM. */
int render_init(
        struct render *render, const struct renderer *renderer, const struct result_shape *shape);
void render_release(struct render *render);
/* Both append, and leave -ENOMEM in the buffer (buf_error). An empty result is its header. */
void render_header(const struct render *render, struct buf *buf);
void render_row(const struct render *render, const struct value *values, struct buf *buf);

/* True for TEXT that cannot be shown as text (ill-formed, or with a NUL): files.csv counts them. */
bool render_is_odd_text(const struct value *value, enum text_encoding encoding);

#endif
