/* SPDX-License-Identifier: MIT
 *
 * requests: rows of cdcfs_requests: how a command reaches the agent, and its answer comes back.
 *
 * The command posts a row and waits; the agent, woken by the store's WAL, takes rows in order and
 * finishes each. Commands are words that the agent knows; this room does not.
 */
#ifndef CDC_REQUESTS_H
#define CDC_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>
#include "ground/problem.h"
#include "memory/store.h"

struct request {
        int64_t id;
        char *command;  /* owned */
        char *argument; /* owned, or NULL */
        int64_t created_ns;
};

struct request_answer {
        int result;    /* 0 or a negative errno */
        int number;    /* SQL Server's message number, or 0 */
        char *message; /* owned, or NULL */
};

void request_release(struct request *request);
void request_answer_release(struct request_answer *answer);

/* Adds a request and commits it. Outside a transaction (this one is its own, since the agent must
 * see it); a file event on the store's log follows the commit. 0 or negative errno. */
int requests_post(struct store *store, const char *command, const char *argument, int64_t now_ns,
        int64_t *ret_id);
/* Waits until the request is finished, looking when the store changed. 0 and the answer;
 * -ETIMEDOUT after timeout_ms of monotonic time; -ENOENT: the row is gone. Outside a
 * transaction. */
int requests_wait(
        struct store *store, int64_t id, int timeout_ms, struct request_answer *ret_answer);
/* Takes back a request that nobody has finished, in a transaction of its own. 0, also if it is
 * finished or gone. */
int requests_withdraw(struct store *store, int64_t id);

/* For the agent: the oldest unfinished request after `after` (0 = from the start). 1 and the
 * request (released by the caller), 0, or negative errno. */
int requests_next(struct store *store, int64_t after, struct request *ret_request);
/* In the caller's transaction. problem may be NULL: result alone. Rows that were finished more
 * than an hour ago are deleted. */
int requests_finish(
        struct store *store, int64_t id, int result, const struct problem *problem, int64_t now_ns);

#endif
