/* SPDX-License-Identifier: MIT
 *
 * call: paths, errors, and requests to the agent. It refuses to know what is asked of the agent.
 */
#include "desk/call.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "desk/hint.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "memory/requests.h"
#include "source/identity.h"

enum { SLICE_MS = 100 };

int call_find_paths(const struct cdc_database *database, struct call_paths *ret_paths)
{
        _cleanup_(call_paths_release) struct call_paths paths = {
                .source = realpath(database->source, NULL)};
        if (!paths.source)
                paths.source = strdup(database->source);
        if (!paths.source)
                return -ENOMEM;
        paths.store = database->store ? strdup(database->store) : store_default_path(paths.source);
        if (!paths.store)
                return -ENOMEM;
        *ret_paths = paths;
        paths = (struct call_paths){0};
        return 0;
}

void call_paths_release(struct call_paths *paths)
{
        free(paths->source);
        free(paths->store);
}

int call_open_store(const struct call_paths *paths, enum store_mode mode, struct problem *problem,
        struct store **ret_store)
{
        int r = store_open(paths->store, mode, problem, ret_store);
        if (r == -ENOENT && access(paths->source, F_OK) < 0)
                return problem_set(problem, ENOENT, 0, "there is no database %s", paths->source);
        if (r == -ENOENT)
                return hint_refuse_disabled(paths, problem);
        return r;
}

int call_answer(int result, const struct problem *problem, struct cdc_error *ret_error)
{
        if (result >= 0 || !ret_error)
                return result;
        bool has_words = problem->message[0] != 0;
        struct problem said = *problem;
        if (!has_words)
                problem_set(&said, -result, problem->number, "%s", strerror(-result));
        ret_error->number = said.number;
        memcpy(ret_error->message, said.message, sizeof(ret_error->message));
        return result;
}

int call_find_agent(const char *source, pid_t *ret_pid)
{
        int r = identity_holder(source, ret_pid);
        return r == -ENOENT ? 0 : r;
}

static int read_answer(const struct request_answer *answer, struct problem *problem)
{
        if (answer->result < 0)
                problem_set(problem, -answer->result, answer->number, "%s",
                        answer->message ? answer->message : strerror(-answer->result));
        return answer->result;
}

/* Slices, because an agent that dies answers nothing. */
static int await(
        struct store *store, const char *source, int64_t id, int limit_ms, struct problem *problem)
{
        for (int waited_ms = 0; limit_ms == 0 || waited_ms < limit_ms; waited_ms += SLICE_MS) {
                _cleanup_(request_answer_release) struct request_answer answer = {0};
                pid_t pid;
                int r = requests_wait(store, id, SLICE_MS, &answer);
                if (r == 0)
                        return read_answer(&answer, problem);
                if (r != -ETIMEDOUT)
                        return r;
                r = call_find_agent(source, &pid);
                if (r <= 0)
                        return r < 0 ? r : -ESRCH;
        }
        return -ETIMEDOUT;
}

int call_agent(struct store *store, const char *source, const char *command, int limit_ms,
        struct problem *problem)
{
        return call_agent_with(store, source, command, NULL, limit_ms, problem);
}

/* 1 if it has the lock still after CALL_ENDING_MS, else as call_find_agent. */
static int await_end(const char *source, pid_t *ret_pid)
{
        const struct timespec pause = {.tv_nsec = SLICE_MS * 1000000L};
        int r = 1;
        for (int waited_ms = 0; r == 1 && waited_ms < CALL_ENDING_MS; waited_ms += SLICE_MS) {
                nanosleep(&pause, NULL);
                r = call_find_agent(source, ret_pid);
        }
        return r;
}

int call_find_working_agent(const struct call_paths *paths, pid_t *ret_pid)
{
        _cleanup_(store_closep) struct store *store = NULL;
        struct problem problem = {0};
        int r = call_find_agent(paths->source, ret_pid);
        if (r <= 0)
                return r;
        if (access(paths->store, W_OK) < 0)
                return 1;
        r = store_open(paths->store, STORE_WRITE, &problem, &store);
        if (r == 0)
                r = call_agent(store, paths->source, "refresh", CALL_ENDING_MS, &problem);
        if (r == 0 || r == -ETIMEDOUT)
                return 1;
        return r == -ESRCH ? 0 : await_end(paths->source, ret_pid);
}

int call_agent_with(struct store *store, const char *source, const char *command,
        const char *argument, int limit_ms, struct problem *problem)
{
        int64_t id;
        pid_t pid;
        int r = call_find_agent(source, &pid);
        if (r <= 0)
                return r < 0 ? r : -ESRCH;
        r = requests_post(store, command, argument, clock_wall(NULL), &id);
        if (r < 0)
                return r;
        r = await(store, source, id, limit_ms, problem);
        if (r == -ESRCH || r == -ETIMEDOUT)
                (void)requests_withdraw(store, id);
        return r;
}
