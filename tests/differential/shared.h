/* SPDX-License-Identifier: MIT
 *
 * shared: the memory that the processes of a round share. Atomics only; what must be in step
 * with the database is written while SQLite's write lock is held.
 */
#ifndef DIFFERENTIAL_SHARED_H
#define DIFFERENTIAL_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TABLES_MAX = 320 };

struct shared {
        _Atomic uint64_t last_number; /* of a transaction; taken under the write lock, so that
                                         numbers rise in commit order */
        _Atomic int64_t budget;       /* transactions still to start in this batch */
        _Atomic uint64_t attempted;
        _Atomic uint64_t committed;
        _Atomic uint64_t accompanied; /* committed while a checkpoint or another writer was busy */
        _Atomic uint64_t refused;     /* statements that a constraint refused */
        _Atomic uint64_t statements;
        _Atomic uint64_t checkpoints;
        _Atomic int writers_busy;
        _Atomic int checkpoints_busy;
        _Atomic uint32_t last_table, last_keyword, last_index, last_column;
        _Atomic bool is_stopping;          /* company processes end */
        _Atomic bool are_checkpoints_held; /* none may start */
        _Atomic bool is_guard_wanted, is_guard_set;
        _Atomic bool is_watched[TABLES_MAX];      /* by table number: truth is recorded */
        _Atomic uint64_t fingerprint[TABLES_MAX]; /* of the last dump; 0 = not known */
};

#endif
