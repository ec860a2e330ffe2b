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
        pour_into_other, grow_and_shrink, free_pages;
/* actions_keys.c */
action_function change_key, shift_keys, swap_keys;
/* actions_bytes.c */
action_function edit_bytes, write_blob, store_page_image;
/* actions_alter.c */
action_function add_column, drop_column, rename_column, swap_column_names, rename_table,
        create_index, drop_index;
/* actions_define.c */
action_function define_table, define_again, drop_table, drop_and_create;
/* actions_rebuild.c */
action_function rebuild_table;

/* The table's row of sqlite_schema. */
int64_t schema_row(struct writer *writer, const struct table *table);
/* CREATE TABLE as it stands there; freed by the caller with sqlite3_free. NULL: it is gone. */
char *schema_text(struct writer *writer, const struct table *table);
/* The texts of CREATE INDEX for the table, appended. */
void schema_indexes(struct writer *writer, const struct table *table, struct names *texts);
/* Would a new table get the row of sqlite_schema that a table of before the transaction had? */
bool schema_row_is_used_again(struct writer *writer);
void schema_note_dropped(struct writer *writer, const struct table *table, int64_t row);

#endif
