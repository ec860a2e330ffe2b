/* SPDX-License-Identifier: MIT
 *
 * truth_schema: the part of a record that tells of the schema after a transaction.
 *
 *   'A'  what was done to columns: u32 number of the table, u8 kind (alteration.h), u32 columns,
 *        for each u32 origin, u32 definitions, texts
 *   'T'  the watched tables that exist: u32 count, for each: u32 number, u64 row of sqlite_schema,
 *        u32 root page, u8 is WITHOUT ROWID, text name, text of CREATE TABLE, u32 columns, for each
 * text name and text declared type, u32 indexes (of CREATE INDEX), for each text name and text, u32
 * parents (foreign keys), for each u32 number
 */
#ifndef DIFFERENTIAL_TRUTH_SCHEMA_H
#define DIFFERENTIAL_TRUTH_SCHEMA_H

#include "alteration.h"
#include "shared.h"

void truth_append_alterations(const struct alterations *alterations, struct bytes *record);
/* 0 or negative errno. */
int truth_append_schema(sqlite3 *db, const struct catalog *catalog, const struct shared *shared,
        struct bytes *record);

#endif
