/* SPDX-License-Identifier: MIT
 *
 * running: see the header. It refuses to know what waits for the time to pass.
 */
#include "memory/running.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "ground/cleanup.h"
#include "memory/sql.h"

enum { BOOT_SIZE = 37 };

/* Another one after every start of the machine; "" where the kernel does not tell. */
static void read_boot(char ret_boot[BOOT_SIZE])
{
        _cleanup_close_ int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
        ssize_t size = fd < 0 ? 0 : read(fd, ret_boot, BOOT_SIZE - 1);
        ret_boot[size < 0 ? 0 : size] = 0;
}

int running_read(sqlite3 *db, const struct clock *clock, int64_t *ret_running_ns)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        char boot[BOOT_SIZE];
        int r = problem_errno(sqlite3_prepare_v2(db,
                "SELECT running_ns, running_seen_ns, running_boot FROM cdcfs_state", -1, &stmt,
                NULL));
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        read_boot(boot);
        const char *seen_boot = (const char *)sqlite3_column_text(stmt, 2);
        int64_t passed = clock_monotonic(clock) - sqlite3_column_int64(stmt, 1);
        bool is_same_boot = seen_boot && strcmp(seen_boot, boot) == 0;
        *ret_running_ns = sqlite3_column_int64(stmt, 0) + (is_same_boot && passed > 0 ? passed : 0);
        return 0;
}

int running_save(struct store *store, const struct clock *clock, int64_t *ret_running_ns)
{
        sqlite3_stmt *stmt = NULL;
        char boot[BOOT_SIZE];
        int r = running_read(store_db(store), clock, ret_running_ns);
        if (r == 0)
                r = store_statement(store,
                        "UPDATE cdcfs_state SET running_ns = ?1, running_seen_ns = ?2,"
                        "  running_boot = ?3",
                        &stmt);
        if (r < 0)
                return r;
        read_boot(boot);
        sqlite3_bind_int64(stmt, 1, *ret_running_ns);
        sqlite3_bind_int64(stmt, 2, clock_monotonic(clock));
        r = sql_bind_text(stmt, 3, boot);
        return r < 0 ? r : sql_run(stmt);
}
