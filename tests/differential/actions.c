/* SPDX-License-Identifier: MIT
 *
 * actions: the tables of what transactions do, and the choice among them.
 */
#include "actions.h"

struct action {
        const char *name;
        unsigned weight;
        bool is_single; /* one statement: can stand alone */
        action_function *run;
};

static const struct action actions[] = {
        {"insert rows", 26, true, insert_rows},
        {"insert defaults", 1, true, insert_defaults},
        {"update row", 20, true, update_row},
        {"delete row", 10, true, delete_row},
        {"upsert row", 6, true, upsert_row},
        {"update to the same", 2, true, update_same},
        {"change and restore", 2, false, change_and_restore},
        {"insert and delete", 2, false, insert_and_delete},
        {"delete last and insert", 2, false, delete_last_and_insert},
        {"delete and insert again", 4, false, delete_and_insert_again},
        {"update range", 4, true, update_range},
        {"delete range", 4, true, delete_range},
        {"grow and shrink", 2, false, grow_and_shrink},
        {"change key", 5, true, change_key},
        {"swap keys", 3, false, swap_keys},
        {"edit bytes", 5, true, edit_bytes},
        {"write blob", 4, true, write_blob},
        {"store page image", 1, true, store_page_image},
        {"free pages", 2, false, free_pages},
};

static const struct action bulk_actions[] = {
        {"insert many", 12, true, insert_many},
        {"update range", 4, true, update_range},
        {"delete range", 3, true, delete_range},
        {"delete all", 3, true, delete_all},
        {"update all and delete", 2, false, update_all_and_delete},
        {"pour into other", 2, false, pour_into_other},
        {"shift keys", 3, true, shift_keys},
};

static const struct action nothing_actions[] = {
        {"update to the same", 3, true, update_same},
        {"change and restore", 2, false, change_and_restore},
        {"insert and delete", 2, false, insert_and_delete},
};

static const struct action define_actions[] = {
        {"create table", 3, true, define_table},
        {"add column", 4, true, add_column},
        {"create index", 3, true, create_index},
        {"drop index", 2, true, drop_index},
        {"drop table", 1, true, drop_table},
};

static const struct action change_actions[] = {
        {"create table", 3, true, define_table},
        {"create table again", 3, true, define_again},
        {"add column", 8, true, add_column},
        {"drop column", 10, true, drop_column},
        {"rename column", 6, true, rename_column},
        {"swap names of columns", 4, false, swap_column_names},
        {"rename table", 6, true, rename_table},
        {"rebuild table", 8, false, rebuild_table},
        {"drop and create table", 5, false, drop_and_create},
        {"create index", 4, true, create_index},
        {"drop index", 3, true, drop_index},
        {"drop table", 2, true, drop_table},
};

static void run(struct writer *writer, const struct action *action)
{
        const struct table *table = pick_table(writer);
        if (table && writer_is_well(writer))
                action->run(writer, table);
}

void action_run(struct writer *writer, bool is_single)
{
        const struct action *action;
        do {
                action = &actions[random_row(&writer->random, actions)];
        } while (is_single && !action->is_single);
        run(writer, action);
}

void action_run_bulk(struct writer *writer)
{
        run(writer, &bulk_actions[random_row(&writer->random, bulk_actions)]);
}

void action_run_nothing(struct writer *writer)
{
        run(writer, &nothing_actions[random_row(&writer->random, nothing_actions)]);
}

void action_run_define(struct writer *writer)
{
        if (writer->settings->kind->has_schema_changes)
                run(writer, &change_actions[random_row(&writer->random, change_actions)]);
        else
                run(writer, &define_actions[random_row(&writer->random, define_actions)]);
        /* A savepoint that is rolled back can give a version number a second meaning. */
        writer->catalog.version = -1;
        if (writer->failure == 0)
                writer->failure = catalog_refresh(writer->db, &writer->catalog);
}
