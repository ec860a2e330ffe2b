/* SPDX-License-Identifier: MIT
 *
 * functions: SQL Server's functions over a store: what the command line and SQL both call.
 *
 * All take a connection to a store and read what its transaction shows; a change function's rows
 * must be read in the same read transaction. Texts come as the user wrote them, and problems name
 * what he wrote. Arithmetic on LSNs and masks is in ground/lsn.h.
 */
#ifndef CDC_FUNCTIONS_H
#define CDC_FUNCTIONS_H

#include <sqlite3.h>
#include <stdint.h>

#include "faces/changes.h"
#include "faces/netchanges.h"
#include "ground/buf.h"
#include "ground/lsn.h"
#include "ground/problem.h"

/* The instance of exactly this name. 0 or -ENOENT (22981). */
int functions_find_instance(
        sqlite3 *store, const char *name, struct problem *problem, int64_t *ret_object_id);

/* What a change function is asked for: from and to in any LSN text, NULL is an error (313);
 * filter NULL: 'all update old', for net changes 'all with mask'. */
struct functions_window {
        const char *instance;
        const char *from;
        const char *to;
        const char *filter;
};

/* cdc.fn_cdc_get_all_changes_<instance>. -EINVAL, -ERANGE, -ENODATA and -EAGAIN as validity.h. */
int functions_get_all(sqlite3 *store, const struct functions_window *window,
        struct problem *problem, struct changes **ret_changes);
/* cdc.fn_cdc_get_net_changes_<instance>; also -ENOTSUP (208). */
int functions_get_net(sqlite3 *store, const struct functions_window *window,
        struct problem *problem, struct netchanges **ret_net);
/* The filters alone: 0 or -EINVAL (313). */
int functions_parse_all(const char *text, struct problem *problem, enum changes_filter *ret_filter);
int functions_parse_net(
        const char *text, struct problem *problem, enum netchanges_filter *ret_filter);

/* sys.fn_cdc_map_time_to_lsn: 1, 0 where no transaction is such (NULL), -EINVAL. */
int functions_map_time(sqlite3 *store, const char *operator_text, const char *time,
        struct problem *problem, struct lsn *ret_lsn);
/* sys.fn_cdc_map_lsn_to_time: of a transaction with exactly this LSN. 1 or 0. */
int functions_map_lsn(sqlite3 *store, struct lsn lsn, int64_t *ret_wall_ns);
/* sys.fn_cdc_get_column_ordinal: by the column's name, ASCII case aside. 1 or 0. */
int functions_find_column(
        sqlite3 *store, int64_t object_id, const char *column, unsigned *ret_ordinal);
/* A mask as text: hex digits after `\x`, `0x` or nothing. 0, -EINVAL or -ENOMEM. */
int functions_parse_mask(const char *text, struct buf *mask, struct problem *problem);

#endif
