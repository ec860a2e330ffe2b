/* SPDX-License-Identifier: MIT
 *
 * admin: enable and disable a database, and what the agent is asked for. Tables are in
 * admin_table.c.
 *
 * It puts the rooms below in order: check the source, change the store, tell the agent. It
 * refuses to know how any of them does it.
 */
#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <stdlib.h>

#include "cdc.h"
#include "desk/call.h"
#include "desk/hint.h"
#include "ground/cleanup.h"
#include "source/check.h"
#include "source/look.h"

enum { NUMBER_TAKEN = 22906, NUMBER_SYSTEM = 22989 };

static int check_store_place(const char *store, struct problem *problem)
{
        _cleanup_free_ char *copy = strdup(store);
        return copy ? check_filesystem(dirname(copy), problem) : -ENOMEM;
}

static int create(const struct call_paths *paths, const struct check *check,
        enum text_encoding encoding, cdc_notice notice, void *context, struct problem *problem)
{
        struct store_source source = {
                .path = check->path,
                .device = check->device,
                .inode = check->inode,
                .page_size = check->page_size,
                .encoding = encoding,
        };
        int r = check_store_place(paths->store, problem);
        if (r < 0)
                return r;
        r = store_create(paths->store, &source, problem);
        if (r != -EEXIST)
                return r;
        /* What is there may be anything. */
        _cleanup_(store_closep) struct store *store = NULL;
        struct problem refusal = {0};
        r = store_open(paths->store, STORE_READ, &refusal, &store);
        if (r == -EMEDIUMTYPE || r == -EBADMSG)
                return problem_set(problem, -r, NUMBER_TAKEN,
                        "the name of the store is taken: '%s' exists and is not a cdcfs store; "
                        "move "
                        "it away, or give another name with --store",
                        paths->store);
        if (r < 0) {
                *problem = refusal;
                return r;
        }
        if (notice)
                notice(context, problem->number, problem->message);
        return 0;
}

/* What change data capture keeps is not captured again. */
static int check_is_no_store(
        const struct call_paths *paths, const struct look *look, struct problem *problem)
{
        if (!schema_find_table(look->schema, "cdcfs_state"))
                return 0;
        return problem_set(problem, ENOTSUP, NUMBER_SYSTEM,
                "'%s' is itself a store of change data capture and cannot be enabled",
                paths->source);
}

static int enable_db(const struct call_paths *paths, bool set_wal, cdc_notice notice, void *context,
        struct problem *problem)
{
        _cleanup_(check_release) struct check check = {0};
        struct look look = {0};
        int r = check_source(paths->source, &check, problem);
        if (r == 0 && set_wal && !check.is_wal)
                r = check_set_wal(&check, problem);
        if (r == 0 && check_is_wal(&check, NULL) < 0)
                r = hint_refuse_journal(paths, problem);
        if (r == 0)
                r = look_at_schema(check.path, &look, problem);
        if (r == 0)
                r = check_is_no_store(paths, &look, problem);
        schema_unref(look.schema);
        return r < 0 ? r : create(paths, &check, look.encoding, notice, context, problem);
}

CDC_API int cdc_enable_db(const struct cdc_database *database, bool set_wal, cdc_notice notice,
        void *context, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(call_paths_release) struct call_paths paths = {0};
        int r = call_find_paths(database, &paths);
        if (r == 0)
                r = enable_db(&paths, set_wal, notice, context, &problem);
        return call_answer(r, &problem, ret_error);
}

static int disable_db(const struct call_paths *paths, struct problem *problem)
{
        _cleanup_(store_closep) struct store *store = NULL;
        pid_t pid = 0;
        int r = call_find_working_agent(paths, &pid);
        if (r > 0)
                return problem_set(problem, EBUSY, 0,
                        "process %d runs the jobs of %s: stop it first (an agent or a mount)",
                        (int)pid, paths->source);
        r = call_open_store(paths, STORE_WRITE, problem, &store);
        return r < 0 ? r : store_delete(&store, problem);
}

CDC_API int cdc_disable_db(const struct cdc_database *database, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(call_paths_release) struct call_paths paths = {0};
        int r = call_find_paths(database, &paths);
        if (r == 0)
                r = disable_db(&paths, &problem);
        return call_answer(r, &problem, ret_error);
}

static int rotate(const struct call_paths *paths, struct problem *problem)
{
        _cleanup_(store_closep) struct store *store = NULL;
        int r = call_open_store(paths, STORE_WRITE, problem, &store);
        if (r < 0)
                return r;
        r = call_agent(store, paths->source, "rotate", 0, problem);
        if (r != -ESRCH)
                return r;
        _cleanup_(buf_release) struct buf agents = BUF_INIT;
        hint_agents(&agents, paths);
        return problem_set(problem, EBUSY, 0,
                "no agent runs the jobs of %s, and only an agent closes files: run %s",
                paths->source, buf_string(&agents));
}

CDC_API int cdc_rotate(const struct cdc_database *database, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(call_paths_release) struct call_paths paths = {0};
        int r = call_find_paths(database, &paths);
        if (r == 0)
                r = rotate(&paths, &problem);
        return call_answer(r, &problem, ret_error);
}
