/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "memory/jobs.h"
#include "store_fixture.h"

Test(jobs, undefined_jobs_have_the_defaults)
{
        struct store_fixture f;
        struct jobs jobs;
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(jobs_load(store_db(f.store), &jobs), 0);
        cr_expect_not(jobs.capture.is_defined);
        cr_expect_eq(jobs.capture.maxtrans, 1000);
        cr_expect_eq(jobs.capture.maxscans, 10);
        cr_expect(jobs.capture.continuous);
        cr_expect_eq(jobs.capture.pollinginterval, 5);
        cr_expect_eq(jobs.capture.retention, 0);
        cr_expect_not(jobs.cleanup.is_defined);
        cr_expect_eq(jobs.cleanup.retention, 4320);
        cr_expect_eq(jobs.cleanup.threshold, 5000);
        cr_expect_eq(jobs.cleanup.maxtrans, 0);
        store_fixture_close(&f);
}

Test(jobs, saved_parameters_come_back_and_defaults_do_not_overwrite_them)
{
        struct store_fixture f;
        struct jobs jobs, again;
        store_fixture_open(&f, TEXT_UTF16LE);
        struct job job;
        jobs_default(JOBS_CAPTURE, &job);
        job.maxtrans = 7;
        job.continuous = false;
        job.pollinginterval = 0;
        cr_assert_eq(jobs_save(f.store, JOBS_CAPTURE, &job), 0);
        cr_assert_eq(jobs_add_defaults(f.store), 0);
        cr_assert_eq(jobs_load(store_db(f.store), &jobs), 0);
        cr_expect(jobs.capture.is_defined);
        cr_expect_eq(jobs.capture.maxtrans, 7);
        cr_expect_not(jobs.capture.continuous);
        cr_expect(jobs.cleanup.is_defined);
        cr_expect_neq(memcmp(jobs.capture.job_id, jobs.cleanup.job_id, 16), 0);

        cr_assert_eq(jobs_save(f.store, JOBS_CAPTURE, &jobs.capture), 0);
        cr_assert_eq(jobs_load(store_db(f.store), &again), 0);
        cr_expect_eq(memcmp(again.capture.job_id, jobs.capture.job_id, 16), 0, "its id stays");
        cr_expect_eq(jobs_drop(f.store, JOBS_CAPTURE), 0);
        cr_expect_eq(jobs_drop(f.store, JOBS_CAPTURE), -ENOENT);
        store_fixture_close(&f);
}

Test(jobs, limits_have_sql_servers_numbers)
{
        static const struct {
                enum jobs_type type;
                struct job job;
                int number;
        } cases[] = {
                {JOBS_CAPTURE, {.maxtrans = 1, .maxscans = 1}, 0},
                {JOBS_CAPTURE, {.maxtrans = 1, .maxscans = 1, .pollinginterval = 86399}, 0},
                {JOBS_CAPTURE, {.maxtrans = 0, .maxscans = 1}, 22991},
                {JOBS_CAPTURE, {.maxtrans = 1, .maxscans = 0}, 22970},
                {JOBS_CAPTURE, {.maxtrans = 1, .maxscans = 1, .pollinginterval = 86400}, 22990},
                {JOBS_CAPTURE, {.maxtrans = 1, .maxscans = 1, .pollinginterval = -1}, 22990},
                {JOBS_CLEANUP, {.retention = 1, .threshold = 1}, 0},
                {JOBS_CLEANUP, {.retention = 52494800, .threshold = 1}, 0},
                {JOBS_CLEANUP, {.retention = 0, .threshold = 1}, 22994},
                {JOBS_CLEANUP, {.retention = 52494801, .threshold = 1}, 22994},
                {JOBS_CLEANUP, {.retention = 1, .threshold = 0}, 22850},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct problem problem = {0};
                int r = jobs_check(cases[i].type, &cases[i].job, &problem);
                cr_expect_eq(r, cases[i].number ? -EINVAL : 0, "%zu", i);
                cr_expect_eq(problem.number, cases[i].number, "%zu", i);
        }
}

Test(jobs, types_are_known_by_name)
{
        struct problem problem = {0};
        enum jobs_type type;
        cr_expect_eq(jobs_parse_type("capture", NULL, &type), 0);
        cr_expect_eq(type, JOBS_CAPTURE);
        cr_expect_eq(jobs_parse_type("CleanUp", NULL, &type), 0);
        cr_expect_eq(type, JOBS_CLEANUP);
        cr_expect_eq(jobs_parse_type("x", &problem, &type), -EINVAL);
        cr_expect_eq(problem.number, 22992);
}
