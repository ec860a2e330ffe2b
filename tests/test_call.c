/* SPDX-License-Identifier: MIT
 *
 * call: where the files are, what an error says, and requests that an agent answers, or none does.
 */
#include "desk/call.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "desk_fixture.h"

Test(call, puts_the_store_beside_the_file_that_a_symlink_means)
{
        struct desk_fixture x;
        _cleanup_(call_paths_release) struct call_paths paths = {0};
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        const char *link = store_fixture_path(&x.f, "link.db");
        cr_assert_eq(symlink("app.db", link), 0);
        cr_assert_eq(call_find_paths(&(struct cdc_database){.source = link}, &paths), 0);
        cr_expect_not_null(strstr(paths.source, "/app.db"), "%s", paths.source);
        cr_expect_not_null(strstr(paths.store, "/app.db-cdc"), "%s", paths.store);
        desk_fixture_close(&x);
}

Test(call, takes_a_store_from_elsewhere_and_an_absent_source)
{
        _cleanup_(call_paths_release) struct call_paths paths = {0};
        const struct cdc_database database = {.source = "/nowhere/app.db", .store = "/else/where"};
        cr_assert_eq(call_find_paths(&database, &paths), 0);
        cr_expect_str_eq(paths.source, "/nowhere/app.db");
        cr_expect_str_eq(paths.store, "/else/where");
}

Test(call, gives_every_failure_words)
{
        struct cdc_error error = {0};
        struct problem problem = {0};
        cr_expect_eq(call_answer(0, &problem, &error), 0);
        cr_expect_str_eq(error.message, "");
        cr_expect_eq(call_answer(-ENOSPC, &problem, &error), -ENOSPC);
        cr_expect_str_eq(error.message, strerror(ENOSPC));
        problem_set(&problem, EINVAL, 22939, "no key");
        cr_expect_eq(call_answer(-EINVAL, &problem, &error), -EINVAL);
        cr_expect_eq(error.number, 22939);
        cr_expect_str_eq(error.message, "no key");
        cr_expect_eq(call_answer(-EINVAL, &problem, NULL), -EINVAL);
}

Test(call, tells_a_missing_database_from_one_that_is_not_enabled)
{
        struct desk_fixture x;
        struct problem problem = {0};
        struct store *store = NULL;
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        struct call_paths paths = {.source = x.f.source, .store = x.f.path};
        cr_expect_eq(call_open_store(&paths, STORE_READ, &problem, &store), -ENOENT);
        cr_expect_eq(problem.number, 22901);
        cr_assert_eq(unlink(x.f.source), 0);
        cr_expect_eq(call_open_store(&paths, STORE_READ, &problem, &store), -ENOENT);
        cr_expect_eq(problem.number, 0);
        cr_expect_not_null(strstr(problem.message, "there is no database"), "%s", problem.message);
        desk_fixture_close(&x);
}

static void open_enabled(struct desk_fixture *x)
{
        desk_fixture_open(x, "CREATE TABLE t(id INTEGER PRIMARY KEY, x)");
        cr_assert_eq(cdc_enable_db(&x->database, false, NULL, NULL, &x->error), 0, "%s",
                x->error.message);
        desk_fixture_store(x);
}

Test(call, finds_the_agent_by_its_lock)
{
        struct desk_fixture x;
        pid_t pid = 0;
        open_enabled(&x);
        cr_expect_eq(call_find_agent(x.f.source, &pid), 0);
        cr_expect_eq(call_find_agent("/nowhere/app.db", &pid), 0);
        desk_fixture_start_agent(&x, 0, NULL);
        cr_expect_eq(call_find_agent(x.f.source, &pid), 1);
        cr_expect(pid == x.agent || pid == 0, "%d", (int)pid);
        desk_fixture_close(&x);
}

Test(call, brings_the_agents_answer)
{
        struct desk_fixture x;
        struct problem problem = {0};
        open_enabled(&x);
        desk_fixture_start_agent(&x, 0, "done");
        cr_expect_eq(call_agent(x.f.store, x.f.source, "rotate", 0, &problem), 0);
        desk_fixture_stop_agent(&x);
        desk_fixture_start_agent(&x, -EIO, "went wrong");
        cr_expect_eq(call_agent(x.f.store, x.f.source, "rotate", 0, &problem), -EIO);
        cr_expect_eq(problem.number, 22903);
        cr_expect_str_eq(problem.message, "rotate went wrong");
        desk_fixture_close(&x);
}

Test(call, leaves_nothing_posted_where_nobody_answers)
{
        static const char waiting[] = "SELECT count(*) FROM cdcfs_requests WHERE done IS NULL";
        struct desk_fixture x;
        open_enabled(&x);
        cr_expect_eq(call_agent(x.f.store, x.f.source, "rotate", 0, NULL), -ESRCH);
        cr_expect_eq(store_fixture_integer(&x.f, waiting), 0);
        desk_fixture_start_agent(&x, 0, NULL);
        cr_expect_eq(call_agent(x.f.store, x.f.source, "rotate", 1, NULL), -ETIMEDOUT);
        cr_expect_eq(store_fixture_integer(&x.f, waiting), 0);
        desk_fixture_close(&x);
}

/* The agent is there when the request is posted, and dies before it answers. */
Test(call, waits_for_no_dead_agent)
{
        struct desk_fixture x;
        open_enabled(&x);
        desk_fixture_start_agent(&x, 0, NULL);
        pid_t killer = fork();
        if (killer == 0) {
                usleep(200000);
                kill(x.agent, SIGKILL);
                _exit(0);
        }
        cr_expect_eq(call_agent(x.f.store, x.f.source, "rotate", 0, NULL), -ESRCH);
        waitpid(killer, NULL, 0);
        desk_fixture_close(&x);
}

Test(call, tells_an_agent_that_works_from_one_that_is_ending)
{
        struct desk_fixture x;
        _cleanup_(call_paths_release) struct call_paths paths = {0};
        pid_t pid = 0;
        open_enabled(&x);
        cr_assert_eq(call_find_paths(&(struct cdc_database){.source = x.f.source}, &paths), 0);
        cr_expect_eq(call_find_working_agent(&paths, &pid), 0);
        desk_fixture_start_agent(&x, 0, "done");
        cr_expect_eq(call_find_working_agent(&paths, &pid), 1);
        desk_fixture_stop_agent(&x);
        desk_fixture_start_agent(&x, 0, NULL);
        cr_expect_eq(call_find_working_agent(&paths, &pid), 1, "it does neither answer nor go");
        pid_t killer = fork();
        if (killer == 0) {
                usleep(200000);
                kill(x.agent, SIGKILL);
                _exit(0);
        }
        cr_expect_eq(call_find_working_agent(&paths, &pid), 0);
        waitpid(killer, NULL, 0);
        desk_fixture_close(&x);
}
