/* SPDX-License-Identifier: MIT
 *
 * role: see the header.
 */
#include "desk/role.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ground/cleanup.h"

enum { BUFFER_FIRST = 1024, BUFFER_LAST = 1 << 22, MODE_OWNER = 0600 };

int role_find_group(const char *name, uint32_t *ret_gid)
{
        struct group group, *found = NULL;
        int error = ERANGE;
        /* A group with many members wants much room. */
        for (size_t size = BUFFER_FIRST; error == ERANGE && size <= BUFFER_LAST; size *= 4) {
                _cleanup_free_ char *buffer = malloc(size);
                if (!buffer)
                        return -ENOMEM;
                error = getgrnam_r(name, &group, buffer, size, &found);
        }
        if (error && error != ENOENT && error != ESRCH)
                return -error;
        if (!found)
                return -ENOENT;
        *ret_gid = group.gr_gid;
        return 0;
}

int role_check(const char *source, const char *role, struct problem *problem)
{
        struct stat stat_;
        uint32_t gid;
        int r = role_find_group(role, &gid);
        if (r < 0)
                return problem_set(problem, -r, 0,
                        r == -ENOENT ? "there is no group '%s': a role is a Unix group"
                                     : "cannot look up the group '%s'",
                        role);
        if (stat(source, &stat_) < 0)
                return problem_set(problem, errno, 0, "%s: %s", source, strerror(errno));
        if (geteuid() != 0 && geteuid() != stat_.st_uid)
                return problem_set(problem, EACCES, 0,
                        "only the owner of %s and root may let the group '%s' read its changes",
                        source, role);
        return 0;
}

static int close_file(const char *store, const char *suffix, struct problem *problem)
{
        _cleanup_free_ char *path = NULL;
        if (asprintf(&path, "%s%s", store, suffix) < 0)
                return -ENOMEM;
        if (chmod(path, MODE_OWNER) == 0 || (errno == ENOENT && suffix[0]))
                return 0;
        return problem_set(problem, errno, 0,
                "cannot keep others from reading %s, as a role wants: %s", path, strerror(errno));
}

int role_close_store(const char *store, struct problem *problem)
{
        static const char *const suffixes[] = {"", "-wal", "-shm"};
        int r = 0;
        for (size_t i = 0; r == 0 && i < COUNT(suffixes); i++)
                r = close_file(store, suffixes[i], problem);
        return r;
}
