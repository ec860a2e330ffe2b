/* SPDX-License-Identifier: MIT
 *
 * view: inside of a struct cdc_view, for the rooms that implement the view in cdc.h.
 */
#ifndef CDC_VIEW_H
#define CDC_VIEW_H

#include "cdc.h"
#include "ground/problem.h"
#include "memory/store.h"

/* The calling thread's connection, opened at its first use, with no transaction open. It belongs
 * to the view. problem may be NULL. */
int view_store(struct cdc_view *view, struct problem *problem, struct store **ret_store);
const char *view_source(const struct cdc_view *view);
struct content_pool *view_pool(struct cdc_view *view);
struct livefile_pool *view_livefiles(struct cdc_view *view);
struct manifests *view_manifests(struct cdc_view *view);
uint32_t view_formats(const struct cdc_view *view); /* that are listed: bit `format` */

#endif
