/* SPDX-License-Identifier: MIT
 *
 * files_fixture: a store with closed files in it, made by the rooms of the memory floor as the
 * capture would, for tests of the desk and of the mount. What cannot be set up aborts.
 *
 *      struct files_fixture f;
 *      files_fixture_open(&f);
 *      int64_t id = files_fixture_table(&f, "t");          columns id, v, w
 *      files_fixture_commit(&f, id, 100, 20);              100 inserts, texts of 20 bytes
 *      files_fixture_rotate(&f);                           a file of each format is listed
 *      files_fixture_close(&f);
 */
#ifndef CDC_TEST_FILES_FIXTURE_H
#define CDC_TEST_FILES_FIXTURE_H

#include "desk/closer.h"
#include "faces/render.h"
#include "memory/changetable.h"
#include "memory/files.h"
#include "memory/mapping.h"
#include "memory/segments.h"
#include "store_fixture.h"

struct files_fixture {
        struct store_fixture base;
        struct state state;
        struct segments *segments;
        struct files_format formats[8];
        uint32_t frame; /* of the last commit */
        int64_t now_ns;
        bool has_net;   /* files of net changes too */
        char rows[256]; /* of the last commit, as JSON */
};

static inline void files_fixture_load(struct files_fixture *f)
{
        unsigned count = f->has_net ? render_file_formats() : render_count();
        for (unsigned i = 0; i < count; i++)
                f->formats[i] = (struct files_format){render_at(i)->name, render_at(i)->version,
                        render_at(i)->kind == RENDER_NET};
        store_fixture_check(state_load(f->base.store, &f->state), "state_load");
        store_fixture_begin(&f->base);
        store_fixture_check(
                segments_load(f->base.store, f->formats, count, &f->segments), "segments_load");
        store_fixture_commit(&f->base);
}

/* Not inlined: gcc under the sanitizers would warn of a null pointer that cannot be. */
__attribute__((noinline, unused)) static void files_fixture_open(struct files_fixture *f)
{
        memset(f, 0, sizeof *f);
        store_fixture_open(&f->base, TEXT_UTF8);
        f->now_ns = STORE_FIXTURE_NOW;
        files_fixture_load(f);
}

/* The same with files of net changes. */
__attribute__((noinline, unused)) static void files_fixture_open_net(struct files_fixture *f)
{
        memset(f, 0, sizeof *f);
        store_fixture_open(&f->base, TEXT_UTF8);
        f->now_ns = STORE_FIXTURE_NOW;
        f->has_net = true;
        files_fixture_load(f);
}

static inline void files_fixture_close(struct files_fixture *f)
{
        segments_free(f->segments);
        state_release(&f->state);
        store_fixture_close(&f->base);
}

/* The next commit's LSN, a second later. */
static inline struct lsn files_fixture_tick(struct files_fixture *f)
{
        f->now_ns += 1000000000;
        return lsn_make(1, ++f->frame, LSN_SLOT_COMMIT);
}

static inline void files_fixture_map(struct files_fixture *f, struct lsn lsn, uint64_t count)
{
        struct mapping_row row = {
                .start_lsn = lsn,
                .end_ns = f->now_ns,
                .is_dummy = count == 0,
                .begin_lsn = lsn,
                .first_change = f->state.next_change - count,
                .change_count = count,
                .rows = count ? f->rows : NULL,
        };
        store_fixture_check(mapping_append(f->base.store, &f->state, &row), "mapping_append");
        f->state.max_lsn = lsn;
        store_fixture_check(state_save(f->base.store, &f->state), "state_save");
}

/* A recognised instance `main_<table>`. */
static inline int64_t files_fixture_table(struct files_fixture *f, const char *table)
{
        char sql[256], name[128];
        snprintf(sql, sizeof sql, "CREATE TABLE \"%s\"(id INTEGER PRIMARY KEY, v, w)", table);
        snprintf(name, sizeof name, "main_%s", table);
        int64_t object_id = store_fixture_enable(&f->base, sql, table, name);
        struct lsn lsn = files_fixture_tick(f);
        store_fixture_begin(&f->base);
        store_fixture_check(
                instances_recognise(f->base.store, object_id, lsn), "instances_recognise");
        files_fixture_map(f, lsn, 0);
        store_fixture_check(
                segments_open(f->segments, f->base.store, object_id, lsn, f->state.next_change),
                "segments_open");
        store_fixture_commit(&f->base);
        return object_id;
}

static inline void files_fixture_append(struct files_fixture *f, const struct instance *instance,
        struct lsn lsn, uint32_t command_id, const char *text)
{
        uint8_t mask = 0x07;
        uint64_t number = f->state.next_change++;
        struct value after[] = {
                {.type = VALUE_INTEGER, .integer = (int64_t)number},
                {.type = VALUE_TEXT,
                        .size = (uint32_t)strlen(text),
                        .bytes = (const uint8_t *)text},
                {.type = VALUE_NULL},
        };
        struct change change = {
                .object_id = instance->object_id,
                .operation = CHANGE_INSERT,
                .columns = 3,
                .after = after,
                .mask = &mask,
        };
        store_fixture_check(
                changetable_append(f->base.store, instance, &change, lsn, number, command_id),
                "changetable_append");
        segments_add(f->segments, &change, number, f->now_ns, f->now_ns);
}

/* One transaction of `rows` inserts, each with a text of `size` bytes that begins with its number
 * in the transaction. */
static inline void files_fixture_commit(
        struct files_fixture *f, int64_t object_id, unsigned rows, size_t size)
{
        struct instances instances = {0};
        char *text = malloc(size + 16);
        store_fixture_check(instances_load(f->base.store, &instances), "instances_load");
        const struct instance *instance = instances_find_object(&instances, object_id);
        struct lsn lsn = files_fixture_tick(f);
        store_fixture_begin(&f->base);
        for (unsigned i = 0; i < rows; i++) {
                memset(text, 'a' + (int)(i % 26), size + 15);
                text[snprintf(text, 12, "%u", i)] = ' ';
                text[size] = '\0';
                files_fixture_append(f, instance, lsn, i + 1, text);
        }
        snprintf(f->rows, sizeof f->rows, "{\"%s\":%u}", instance->name, rows);
        files_fixture_map(f, lsn, rows);
        store_fixture_commit(&f->base);
        instances_release(&instances);
        free(text);
}

/* Closes the open files at the last commit, without listing them. */
static inline void files_fixture_border(struct files_fixture *f)
{
        struct segments_limits limits = SEGMENTS_LIMITS_DEFAULT;
        unsigned closed = 0;
        store_fixture_begin(&f->base);
        store_fixture_check(segments_close(f->segments, f->base.store, &limits, f->state.max_lsn,
                                    SEGMENTS_ROTATE, f->state.next_change, f->now_ns, &closed),
                "segments_close");
        store_fixture_commit(&f->base);
}

/* Measures and lists what is closed. */
static inline void files_fixture_publish(struct files_fixture *f)
{
        struct files files = {0};
        store_fixture_check(
                files_unpublished(store_db(f->base.store), &files), "files_unpublished");
        for (size_t i = 0; i < files.count; i++) {
                struct files_measure measure;
                int64_t mtime_ns;
                store_fixture_check(
                        closer_measure(store_db(f->base.store), &files.items[i], NULL, &measure),
                        "closer_measure");
                store_fixture_begin(&f->base);
                store_fixture_check(
                        files_publish(f->base.store, files.items[i].ino, &measure, &mtime_ns),
                        "files_publish");
                store_fixture_commit(&f->base);
                checkpoints_release(&measure.checkpoints);
        }
        files_release(&files);
}

static inline void files_fixture_rotate(struct files_fixture *f)
{
        files_fixture_border(f);
        files_fixture_publish(f);
}

#endif
