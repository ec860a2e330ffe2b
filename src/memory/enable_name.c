/* SPDX-License-Identifier: MIT
 *
 * enable_name: the name of a new capture instance (design §2). Refuses to know why it is made.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "ground/cleanup.h"
#include "ground/hash.h"
#include "memory/enable_private.h"
#include "memory/sql.h"

/* A shortened name ends in `~` and 16 hex digits. */
enum { KEPT_LENGTH = ENABLE_NAME_LENGTH - 17 };

/* What the root of the mount holds besides the instances' directories. */
static const char *const root_names[] = {
        "README.txt",
        "validity.json",
        "min_lsn",
        "max_lsn",
        "ddl_history.csv",
        "ddl_history.jsonl",
        "cdc",
        "transactions",
};

/* Bytes of the first `characters` characters of UTF-8, or of all. */
static size_t prefix_size(const char *text, size_t characters)
{
        size_t size = 0;
        for (; text[size]; size++) {
                if ((text[size] & 0xc0) != 0x80 && characters-- == 0)
                        break;
        }
        return size;
}

/* `main_<table>`; cut to 100 characters where that is longer. NULL: no memory. */
static char *default_name(const char *table)
{
        _cleanup_free_ char *full = NULL;
        char *name = NULL;
        if (asprintf(&full, "main_%s", table) < 0) {
                full = NULL;
                return NULL;
        }
        if (!full[prefix_size(full, ENABLE_NAME_LENGTH)])
                return steal(full);
        if (asprintf(&name, "%.*s~%016" PRIx64, (int)prefix_size(full, KEPT_LENGTH), full,
                    hash_bytes64(full, strlen(full))) < 0)
                return NULL;
        return name;
}

/* SQL Server trims the right side of what it is given. */
static char *trimmed_name(const char *given)
{
        size_t size = strlen(given);
        while (size > 0 && given[size - 1] == ' ')
                size--;
        return strndup(given, size);
}

static bool is_root_name(const char *name)
{
        for (size_t i = 0; i < COUNT(root_names); i++) {
                if (text_equal_name(name, root_names[i]))
                        return true;
        }
        return false;
}

static int check_name(const char *name, struct problem *problem)
{
        if (!text_is_utf8((const uint8_t *)name, strlen(name)))
                return problem_set(problem, EINVAL, 22932,
                        "the capture instance name is not well-formed UTF-8: give another one with "
                        "--capture-instance");
        if (name[prefix_size(name, ENABLE_NAME_LENGTH)])
                return problem_set(problem, EINVAL, 22927,
                        "the capture instance name '%.100s…' is longer than %d characters: give a "
                        "shorter one",
                        name, ENABLE_NAME_LENGTH);
        if (!name[0])
                return problem_set(problem, EINVAL, 22932, "the capture instance name is empty");
        if (strncasecmp(name, "sqlite_", strlen("sqlite_")) == 0)
                return problem_set(problem, EINVAL, 22932,
                        "the capture instance name '%s' is not valid: SQLite keeps names that "
                        "begin with 'sqlite_' for itself",
                        name);
        if (is_root_name(name))
                return problem_set(problem, EINVAL, 22932,
                        "the capture instance name '%s' is not valid: the mount has a file or "
                        "directory of that name",
                        name);
        return 0;
}

static int check_free(struct store *store, const char *name, struct problem *problem)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        /* The columns compare without regard to ASCII case. */
        int r = store_statement(
                store, "SELECT 1 FROM change_tables WHERE capture_instance = ?", &stmt);
        if (r == 0)
                r = sql_bind_text(stmt, 1, name);
        if (r == 0)
                r = sql_next(stmt);
        if (r > 0)
                return problem_set(problem, EEXIST, 22926,
                        "the capture instance name '%s' is in use: give another one with "
                        "--capture-instance, or disable the instance that has it",
                        name);
        return r;
}

int enable_choose_name(struct store *store, const struct instances_request *request,
        struct problem *problem, char **ret_name)
{
        _cleanup_free_ char *name =
                request->name ? trimmed_name(request->name) : default_name(request->table->name);
        if (!name)
                return -ENOMEM;
        int r = check_name(name, problem);
        if (r == 0)
                r = check_free(store, name, problem);
        if (r == 0)
                *ret_name = steal(name);
        return r;
}
