/* SPDX-License-Identifier: MIT
 *
 * actions: what a transaction does to one table: one function each, one row each in the table of
 * actions.c. An action may be refused by a constraint; that is part of the workload.
 */
#ifndef DIFFERENTIAL_ACTIONS_H
#define DIFFERENTIAL_ACTIONS_H

#include "writer.h"

/* A random action on a random table. is_single: one that is a single statement. */
void action_run(struct writer *writer, bool is_single);
/* One that touches many rows. */
void action_run_bulk(struct writer *writer);
/* One that changes nothing in the end. */
void action_run_nothing(struct writer *writer);
/* One that changes the schema. */
void action_run_define(struct writer *writer);

typedef void action_function(struct writer *writer, const struct table *table);

/* actions_rows.c */
action_function insert_rows, insert_defaults, update_row, delete_row, upsert_row, update_same,
        change_and_restore, insert_and_delete, delete_last_and_insert, delete_and_insert_again;
/* actions_bulk.c */
action_function insert_many, update_range, delete_range, delete_all, update_all_and_delete,
        pour_into_other, grow_and_shrink;
/* actions_keys.c */
action_function change_key, shift_keys, swap_keys;
/* actions_bytes.c */
action_function edit_bytes, write_blob, store_page_image;
/* actions_define.c */
action_function define_table, define_column, define_index, drop_index, drop_table;

#endif
