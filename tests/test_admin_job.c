/* SPDX-License-Identifier: MIT
 *
 * admin_job: the procedures of the jobs, with SQL Server's numbers and couplings.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "desk_fixture.h"

static void open_enabled(struct desk_fixture *x)
{
        struct cdc_table_options options = {.table = "t", .supports_net_changes = -1};
        desk_fixture_open(x, "CREATE TABLE t(id INTEGER PRIMARY KEY)");
        cr_assert_eq(cdc_enable_db(&x->database, false, desk_fixture_notice, x, &x->error), 0);
        cr_assert_eq(
                cdc_enable_table(&x->database, &options, desk_fixture_notice, x, &x->error), 0);
}

static struct cdc_job unset(const char *type)
{
        struct cdc_job job = CDC_JOB_UNSET(type);
        return job;
}

/* The number of the refusal; 0: done. */
static int change(struct desk_fixture *x, struct cdc_job job)
{
        memset(&x->error, 0, sizeof x->error);
        int r = cdc_change_job(&x->database, &job, &x->error);
        cr_expect_eq(r < 0, x->error.message[0] != 0, "%d %s", r, x->error.message);
        return r < 0 ? x->error.number : 0;
}

static int64_t parameter(struct desk_fixture *x, const char *job, const char *name)
{
        char sql[200];
        snprintf(sql, sizeof sql, "SELECT %s FROM cdc_jobs WHERE job_type = '%s'", name, job);
        return store_fixture_integer(desk_fixture_store(x), sql);
}

Test(admin_job, refuses_parameters_by_their_numbers)
{
        static const struct {
                const char *type;
                size_t offset;
                int64_t value;
                int number;
        } cases[] = {
                {"capture", offsetof(struct cdc_job, maxtrans), 0, 22991},
                {"capture", offsetof(struct cdc_job, maxscans), -1, 22970},
                {NULL, offsetof(struct cdc_job, continuous), 2, 22998},
                {"capture", offsetof(struct cdc_job, pollinginterval), 86400, 22990},
                {"capture", offsetof(struct cdc_job, pollinginterval), -1, 22990},
                {"capture", offsetof(struct cdc_job, retention), 5, 22995},
                {"capture", offsetof(struct cdc_job, threshold), 5, 22995},
                {"cleanup", offsetof(struct cdc_job, retention), 0, 22994},
                {"cleanup", offsetof(struct cdc_job, retention), 52494801, 22994},
                {"cleanup", offsetof(struct cdc_job, threshold), 0, 22850},
                {"cleanup", offsetof(struct cdc_job, maxtrans), 5, 22996},
                {"cleanup", offsetof(struct cdc_job, continuous), 1, 22996},
                {"nonsense", offsetof(struct cdc_job, maxtrans), 5, 22992},
        };
        struct desk_fixture x;
        open_enabled(&x);
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct cdc_job job = unset(cases[i].type);
                memcpy((char *)&job + cases[i].offset, &cases[i].value, sizeof(int64_t));
                cr_expect_eq(change(&x, job), cases[i].number, "%zu: %s", i, x.error.message);
        }
        cr_expect_eq(parameter(&x, "capture", "maxtrans"), 1000);
        cr_expect_eq(parameter(&x, "cleanup", "retention"), 4320);
        desk_fixture_close(&x);
}

Test(admin_job, couples_continuous_and_pollinginterval)
{
        struct desk_fixture x;
        open_enabled(&x);
        struct cdc_job job = unset(NULL);
        job.continuous = 0;
        job.pollinginterval = 7;
        cr_expect_eq(change(&x, job), 0, "what is given is ignored");
        cr_expect_eq(parameter(&x, "capture", "pollinginterval"), 0);
        cr_expect_eq(parameter(&x, "capture", "continuous"), 0);
        cr_expect_eq(change(&x, job), 22999, "it was 0 before");
        job = unset("capture");
        job.pollinginterval = 0;
        cr_expect_eq(change(&x, job), 0);
        cr_expect_eq(parameter(&x, "capture", "continuous"), 0);
        job.pollinginterval = 3;
        cr_expect_eq(change(&x, job), 0);
        cr_expect_eq(parameter(&x, "capture", "continuous"), 1);
        cr_expect_eq(parameter(&x, "capture", "pollinginterval"), 3);
        cr_expect_eq(parameter(&x, "capture", "maxscans"), 10, "the rest stays");
        desk_fixture_close(&x);
}

Test(admin_job, adds_and_drops)
{
        struct desk_fixture x;
        open_enabled(&x);
        struct cdc_job job = unset("capture");
        cr_expect_lt(cdc_add_job(&x.database, &job, true, &x.error), 0);
        cr_expect_eq(x.error.number, 22836);
        cr_expect_eq(cdc_drop_job(&x.database, "capture", &x.error), 0, "%s", x.error.message);
        cr_expect_eq(store_fixture_integer(
                             desk_fixture_store(&x), "SELECT capture_stopped FROM cdcfs_state"),
                1);
        cr_expect_lt(cdc_drop_job(&x.database, "capture", &x.error), 0);
        cr_expect_eq(x.error.number, 22997);
        cr_expect_lt(cdc_start_job(&x.database, NULL, &x.error), 0);
        cr_expect_eq(x.error.number, 22997);
        job.maxtrans = 7;
        cr_expect_eq(cdc_add_job(&x.database, &job, false, &x.error), 0, "%s", x.error.message);
        cr_expect_eq(parameter(&x, "capture", "maxtrans"), 7);
        cr_expect_eq(parameter(&x, "capture", "maxscans"), 10);
        cr_expect_eq(store_fixture_integer(
                             desk_fixture_store(&x), "SELECT capture_stopped FROM cdcfs_state"),
                1, "it was not to be started");
        cr_expect_lt(
                cdc_add_job(&x.database, &(struct cdc_job)CDC_JOB_UNSET("x"), true, &x.error), 0);
        cr_expect_eq(x.error.number, 22992);
        desk_fixture_close(&x);
}

/* The state column of a job. */
static void expect_state(struct desk_fixture *x, const char *job, const char *state)
{
        struct cdc_rows *rows = NULL;
        struct cdc_value type, value;
        cr_assert_eq(cdc_help_jobs(&x->database, &rows, &x->error), 0, "%s", x->error.message);
        cr_expect_eq(cdc_rows_columns(rows), 10);
        cr_expect_str_eq(cdc_rows_name(rows, 2), "job_name");
        while (cdc_rows_next(rows) > 0) {
                cdc_rows_value(rows, 1, &type);
                if (type.size != strlen(job) || memcmp(type.bytes, job, type.size) != 0)
                        continue;
                cdc_rows_value(rows, 9, &value);
                cr_expect(value.size == strlen(state) && !memcmp(value.bytes, state, value.size),
                        "%.*s, not %s", (int)value.size, (const char *)value.bytes, state);
        }
        cdc_rows_close(rows);
}

Test(admin_job, tells_running_stopped_and_no_agent)
{
        struct desk_fixture x;
        open_enabled(&x);
        expect_state(&x, "capture", "no agent");
        expect_state(&x, "cleanup", "no agent");
        cr_expect_eq(cdc_stop_job(&x.database, NULL, &x.error), 0, "%s", x.error.message);
        expect_state(&x, "capture", "stopped");
        cr_expect_eq(cdc_start_job(&x.database, NULL, &x.error), -EBUSY);
        cr_expect_not_null(strstr(x.error.message, "cdcctl agent"), "%s", x.error.message);
        expect_state(&x, "capture", "no agent");
        cr_expect_eq(cdc_start_job(&x.database, "cleanup", &x.error), -EBUSY);
        desk_fixture_start_agent(&x, 0, NULL);
        expect_state(&x, "capture", "running");
        expect_state(&x, "cleanup", "scheduled");
        desk_fixture_close(&x);
}

Test(admin_job, asks_the_agent)
{
        struct desk_fixture x;
        open_enabled(&x);
        desk_fixture_start_agent(&x, -EIO, "went wrong");
        cr_expect_eq(cdc_stop_job(&x.database, "capture", &x.error), -EIO);
        cr_expect_str_eq(x.error.message, "stop-job went wrong");
        cr_expect_eq(cdc_start_job(&x.database, "cleanup", &x.error), -EIO);
        cr_expect_str_eq(x.error.message, "cleanup went wrong");
        desk_fixture_close(&x);
}
