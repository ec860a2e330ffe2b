/* SPDX-License-Identifier: MIT
 *
 * capture_fixture: a capture on a real source that an application in another process writes to.
 * Steps are taken by hand; no thread.
 *
 *      struct capture_fixture x;
 *      capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t");
 *      app_run(&x.app, "INSERT INTO t VALUES(1, 'a')");
 *      capture_fixture_settle(&x);
 *      cr_assert_str_eq(capture_fixture_text(&x, "SELECT count(*) FROM main_t_CT"), "1");
 *      capture_fixture_close(&x);
 */
#ifndef CDC_TEST_CAPTURE_FIXTURE_H
#define CDC_TEST_CAPTURE_FIXTURE_H

#include "app.h"
#include "desk/capture.h"
#include "desk_fixture.h"

struct capture_fixture {
        struct desk_fixture desk;
        struct app app;
        struct capture *capture;
        struct capture_options options;
        struct problem problem;
        char *texts[8]; /* of capture_fixture_text, the last eight */
        unsigned next_text;
};

static inline void capture_fixture_start(struct capture_fixture *x)
{
        x->options.source = x->desk.f.source;
        x->options.store = x->desk.f.path;
        int r = capture_open(&x->options, &x->capture, &x->problem);
        if (r < 0)
                fprintf(stderr, "capture_open: %s\n", x->problem.message);
        store_fixture_check(r, "capture_open");
}

static inline void capture_fixture_stop(struct capture_fixture *x)
{
        capture_close(x->capture);
        x->capture = NULL;
}

static inline void capture_fixture_enable(struct capture_fixture *x, const char *table)
{
        struct cdc_table_options options = {.table = table, .supports_net_changes = -1};
        int r = cdc_enable_table(
                &x->desk.database, &options, desk_fixture_notice, &x->desk, &x->desk.error);
        store_fixture_check(r, x->desk.error.message);
}

/* A source with these statements run, capture enabled for a table (NULL = none), and a capture. */
static inline void capture_fixture_open(
        struct capture_fixture *x, const char *sql, const char *table)
{
        memset(x, 0, sizeof *x);
        x->options.limits = (struct segments_limits)SEGMENTS_LIMITS_DEFAULT;
        desk_fixture_open(&x->desk, sql);
        store_fixture_check(cdc_enable_db(&x->desk.database, false, desk_fixture_notice, &x->desk,
                                    &x->desk.error),
                "cdc_enable_db");
        if (table)
                capture_fixture_enable(x, table);
        app_open(&x->app, x->desk.f.source);
        free(app_ask(&x->app, ".timeout 5000"));
        capture_fixture_start(x);
}

/* Steps until the log is read and nothing is left to do at once. */
static inline void capture_fixture_settle(struct capture_fixture *x)
{
        int64_t wait_ns = 0;
        for (int i = 0; i < 400; i++) {
                int r = capture_step(x->capture, i == 0, &wait_ns, &x->problem);
                if (r < 0)
                        fprintf(stderr, "capture_step: %s\n", x->problem.message);
                store_fixture_check(r, "capture_step");
                if (wait_ns > 1000000000)
                        return;
                usleep((useconds_t)(wait_ns / 1000));
        }
}

/* What a query on the store gives; good until seven more were asked for. */
static inline const char *capture_fixture_text(struct capture_fixture *x, const char *sql)
{
        char **slot = &x->texts[x->next_text++ % 8];
        free(*slot);
        *slot = store_fixture_text(desk_fixture_store(&x->desk), sql);
        return *slot;
}

static inline int64_t capture_fixture_number(struct capture_fixture *x, const char *sql)
{
        return store_fixture_integer(desk_fixture_store(&x->desk), sql);
}

static inline void capture_fixture_close(struct capture_fixture *x)
{
        capture_fixture_stop(x);
        app_close(&x->app);
        for (unsigned i = 0; i < 8; i++)
                free(x->texts[i]);
        desk_fixture_close(&x->desk);
}

#endif
