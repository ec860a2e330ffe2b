/* SPDX-License-Identifier: MIT
 *
 * role: SQL Server's gating role as a Unix group: who may read what an instance has captured.
 *
 * It knows groups and the owner of a source; what is shown to whom is the mount's.
 */
#ifndef CDC_ROLE_H
#define CDC_ROLE_H

#include <stdbool.h>
#include <stdint.h>

#include "ground/problem.h"

/* The number of a group. 0, -ENOENT: there is none of that name, or another negative errno. */
int role_find_group(const char *name, uint32_t *ret_gid);
/* May this process give the group access to what is in the source? Its owner and root may, for a
 * group that exists. 0, -ENOENT, or -EACCES. */
int role_check(const char *source, const char *role, struct problem *problem);
/* Only the owner reads the store's files from now on. 0 or negative errno. */
int role_close_store(const char *store, struct problem *problem);

#endif
