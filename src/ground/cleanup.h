/* SPDX-License-Identifier: MIT
 *
 * cleanup: attributes that free, close or finalize a local when it goes out of scope.
 *
 *      _cleanup_free_ char *name = NULL;         freed on every way out
 *      _cleanup_close_ int fd = -1;              closed if >= 0
 *      _cleanup_stmt_ sqlite3_stmt *stmt = NULL; finalized
 *      _cleanup_(buf_release) struct buf b = BUF_INIT;
 *      *ret_name = steal(name);                  hands the value on and clears the local
 */
#ifndef CDC_CLEANUP_H
#define CDC_CLEANUP_H

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _cleanup_free_ _cleanup_(cleanup_freep)
#define _cleanup_close_ _cleanup_(cleanup_closep)
#define _cleanup_stmt_ _cleanup_(cleanup_stmtp)
#define _cleanup_sqlite_ _cleanup_(cleanup_sqlitep)

#define steal(p)                                                                                   \
        __extension__({                                                                            \
                __typeof__(p) *steal_p = &(p);                                                     \
                __typeof__(p) steal_v = *steal_p;                                                  \
                *steal_p = 0;                                                                      \
                steal_v;                                                                           \
        })

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static inline void cleanup_freep(void *p)
{
        free(*(void **)p);
}

static inline void cleanup_closep(int *fd)
{
        if (*fd >= 0)
                close(*fd);
}

static inline void cleanup_stmtp(sqlite3_stmt **stmt)
{
        sqlite3_finalize(*stmt);
}

static inline void cleanup_sqlitep(sqlite3 **db)
{
        sqlite3_close_v2(*db);
}

#endif
