/* SPDX-License-Identifier: MIT
 *
 * query_scalars: the functions that give one value: times and LSNs, columns and masks.
 */
#include <errno.h>
#include <string.h>

#include "cdc.h"
#include "desk/call.h"
#include "desk/query.h"
#include "faces/functions.h"
#include "faces/validity.h"
#include "ground/cleanup.h"
#include "ground/clock.h"

_Static_assert(CLOCK_TEXT_SIZE <= 28, "cdc.h gives a time 28 bytes");

CDC_API int cdc_map_time_to_lsn(const struct cdc_database *database,
        const char *relational_operator, const char *time, char ret_text[24],
        struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(store_closep) struct store *store = NULL;
        struct lsn lsn;
        int r = query_open(database, &problem, &store);
        if (r == 0)
                r = functions_map_time(store_db(store), relational_operator, time, &problem, &lsn);
        if (r >= 0)
                ret_text[0] = 0;
        if (r > 0)
                lsn_format(lsn, ret_text);
        return call_answer(r > 0 ? 0 : r, &problem, ret_error);
}

CDC_API int cdc_map_lsn_to_time(const struct cdc_database *database, const char *lsn,
        char ret_text[28], struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(store_closep) struct store *store = NULL;
        struct lsn parsed;
        int64_t wall_ns;
        int r = validity_parse_lsn("the LSN", lsn, &parsed, &problem);
        if (r == 0)
                r = query_open(database, &problem, &store);
        if (r == 0)
                r = functions_map_lsn(store_db(store), parsed, &wall_ns);
        if (r >= 0)
                ret_text[0] = 0;
        if (r > 0)
                clock_format(wall_ns, ret_text);
        return call_answer(r > 0 ? 0 : r, &problem, ret_error);
}

CDC_API int cdc_is_bit_set(
        unsigned position, const char *mask, bool *ret_bit, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(buf_release) struct buf bytes = BUF_INIT;
        int r = functions_parse_mask(mask, &bytes, &problem);
        if (r == 0)
                *ret_bit = mask_is_set(bytes.data, bytes.size, position);
        return call_answer(r, &problem, ret_error);
}

/* 1 with the ordinal, 0 for a column that the instance has not. */
static int find_column(const struct cdc_database *database, const char *instance,
        const char *column, struct problem *problem, unsigned *ret_ordinal)
{
        _cleanup_(store_closep) struct store *store = NULL;
        int64_t object_id;
        int r = query_open(database, problem, &store);
        if (r == 0)
                r = functions_find_instance(store_db(store), instance, problem, &object_id);
        return r < 0 ? r : functions_find_column(store_db(store), object_id, column, ret_ordinal);
}

CDC_API int cdc_get_column_ordinal(const struct cdc_database *database, const char *instance,
        const char *column, unsigned *ret_ordinal, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        unsigned ordinal = 0;
        int r = find_column(database, instance, column, &problem, &ordinal);
        if (r >= 0)
                *ret_ordinal = ordinal;
        return call_answer(r > 0 ? 0 : r, &problem, ret_error);
}

CDC_API int cdc_has_column_changed(const struct cdc_database *database, const char *instance,
        const char *column, const char *mask, bool *ret_changed, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(buf_release) struct buf bytes = BUF_INIT;
        unsigned ordinal = 0;
        int r = functions_parse_mask(mask, &bytes, &problem);
        if (r == 0)
                r = find_column(database, instance, column, &problem, &ordinal);
        if (r == 0)
                r = problem_set(&problem, ENOENT, 0,
                        "the instance '%s' has no column '%s'; cdcctl get-captured-columns lists "
                        "them",
                        instance, column);
        if (r > 0)
                *ret_changed = mask_is_set(bytes.data, bytes.size, ordinal);
        return call_answer(r > 0 ? 0 : r, &problem, ret_error);
}
