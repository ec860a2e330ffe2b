/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/requests.h"
#include "store_fixture.h"

static int64_t post(struct store_fixture *f, const char *command, const char *argument)
{
        int64_t id = 0;
        cr_assert_eq(requests_post(f->store, command, argument, STORE_FIXTURE_NOW, &id), 0);
        cr_expect_not(store_in_transaction(f->store), "it is committed");
        return id;
}

Test(requests, they_are_taken_in_order_and_finished_one_by_one)
{
        struct store_fixture f;
        struct request request;
        store_fixture_open(&f, TEXT_UTF8);
        cr_expect_eq(requests_next(f.store, 0, &request), 0);
        int64_t first = post(&f, "rotate", NULL);
        int64_t second = post(&f, "scan", "an argument");
        cr_assert_eq(requests_next(f.store, 0, &request), 1);
        cr_expect_eq(request.id, first);
        cr_expect_str_eq(request.command, "rotate");
        cr_expect_null(request.argument);
        cr_expect_eq(request.created_ns, STORE_FIXTURE_NOW);
        request_release(&request);
        cr_assert_eq(requests_next(f.store, first, &request), 1);
        cr_expect_eq(request.id, second);
        cr_expect_str_eq(request.argument, "an argument");
        request_release(&request);
        cr_assert_eq(requests_finish(f.store, first, 0, NULL, STORE_FIXTURE_NOW), 0);
        cr_assert_eq(requests_next(f.store, 0, &request), 1);
        cr_expect_eq(request.id, second);
        request_release(&request);
        store_fixture_close(&f);
}

/* An agent that looks when it is told must find the row: the last event is the announcement. */
Test(requests, a_file_event_follows_the_commit)
{
        struct store_fixture f;
        char log[sizeof f.path + 8], bytes[4096] __attribute__((aligned(8)));
        store_fixture_open(&f, TEXT_UTF8);
        post(&f, "first", NULL); /* the log is there from now on */
        snprintf(log, sizeof log, "%s-wal", f.path);
        int watch = inotify_init1(IN_NONBLOCK);
        cr_assert_geq(inotify_add_watch(watch, log, IN_MODIFY | IN_ATTRIB), 0);
        post(&f, "second", NULL);
        ssize_t size = read(watch, bytes, sizeof bytes);
        cr_assert_gt(size, 0);
        uint32_t first = 0, last = 0;
        for (ssize_t at = 0; at < size;) {
                const struct inotify_event *event = (const struct inotify_event *)(bytes + at);
                first = first ? first : event->mask;
                last = event->mask;
                at += (ssize_t)(sizeof *event + event->len);
        }
        cr_expect_eq(first, IN_MODIFY);
        cr_expect_eq(last, IN_ATTRIB);
        close(watch);
        store_fixture_close(&f);
}

Test(requests, the_answer_carries_result_number_and_words)
{
        struct store_fixture f;
        struct request_answer answer = {0};
        struct problem problem = {.number = 22962, .message = "why not"};
        store_fixture_open(&f, TEXT_UTF8);
        int64_t good = post(&f, "a", NULL), bad = post(&f, "b", NULL);
        cr_expect_eq(requests_wait(f.store, good, 20, &answer), -ETIMEDOUT);
        cr_assert_eq(requests_finish(f.store, good, 0, NULL, STORE_FIXTURE_NOW), 0);
        cr_assert_eq(requests_finish(f.store, bad, -EINVAL, &problem, STORE_FIXTURE_NOW), 0);
        cr_assert_eq(requests_wait(f.store, good, 20, &answer), 0);
        cr_expect_eq(answer.result, 0);
        cr_expect_null(answer.message);
        request_answer_release(&answer);
        cr_assert_eq(requests_wait(f.store, bad, 20, &answer), 0);
        cr_expect_eq(answer.result, -EINVAL);
        cr_expect_eq(answer.number, 22962);
        cr_expect_str_eq(answer.message, "why not");
        request_answer_release(&answer);
        store_fixture_close(&f);
}

Test(requests, another_process_answers_a_waiting_one)
{
        struct store_fixture f;
        struct request_answer answer = {0};
        store_fixture_create(&f, TEXT_UTF8);
        pid_t agent = fork();
        if (agent == 0) {
                struct request request = {0};
                int r = store_open(f.path, STORE_WRITE, NULL, &f.store);
                for (int i = 0; r == 0 && i < 2000; i++) {
                        r = requests_next(f.store, 0, &request);
                        usleep(1000);
                }
                _exit(r != 1 || store_begin(f.store) < 0 ||
                        requests_finish(f.store, request.id, -EBUSY, NULL, STORE_FIXTURE_NOW) < 0 ||
                        store_commit(f.store) < 0);
        }
        cr_assert_eq(store_open(f.path, STORE_WRITE, NULL, &f.store), 0);
        int64_t id = post(&f, "rotate", NULL);
        cr_expect_eq(requests_wait(f.store, id, 10000, &answer), 0);
        cr_expect_eq(answer.result, -EBUSY);
        int status = 0;
        cr_assert_eq(waitpid(agent, &status, 0), agent);
        cr_expect_eq(status, 0);
        store_fixture_close(&f);
}

Test(requests, what_nobody_answers_can_be_taken_back)
{
        struct store_fixture f;
        struct request request;
        struct request_answer answer;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id = post(&f, "rotate", NULL), done = post(&f, "scan", NULL);
        cr_assert_eq(requests_finish(f.store, done, 0, NULL, STORE_FIXTURE_NOW), 0);
        cr_expect_eq(requests_withdraw(f.store, id), 0);
        cr_expect_eq(requests_withdraw(f.store, id), 0);
        cr_expect_eq(requests_withdraw(f.store, done), 0);
        cr_expect_eq(requests_next(f.store, 0, &request), 0);
        cr_expect_eq(requests_wait(f.store, id, 1000, &answer), -ENOENT);
        cr_expect_eq(requests_wait(f.store, done, 1000, &answer), 0, "a finished one stays");
        request_answer_release(&answer);
        store_fixture_close(&f);
}

Test(requests, finished_ones_are_swept_after_an_hour)
{
        struct store_fixture f;
        const int64_t minute = INT64_C(60) * 1000000000;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t first = post(&f, "a", NULL), second = post(&f, "b", NULL);
        post(&f, "waiting", NULL);
        cr_assert_eq(requests_finish(f.store, first, 0, NULL, STORE_FIXTURE_NOW), 0);
        cr_assert_eq(requests_finish(f.store, second, 0, NULL, STORE_FIXTURE_NOW + 61 * minute), 0);
        _cleanup_free_ char *left =
                store_fixture_text(&f, "SELECT group_concat(command) FROM cdcfs_requests");
        cr_expect_str_eq(left, "b,waiting");
        store_fixture_close(&f);
}
