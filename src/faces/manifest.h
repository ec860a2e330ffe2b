/* SPDX-License-Identifier: MIT
 *
 * manifest: files.csv, a line for each listed file of an instance, in the order in which they were
 * listed.
 *
 *      name,format,from_lsn,to_lsn,rows,bytes,sha256,first_time,last_time,closed_at,odd_text,
 *      resync,renderer
 *
 * An instance may have 50 000 files in each format, so a manifest is kept and goes on from its
 * last line: files are only added at the end, unless the oldest went, which makes it begin anew.
 *
 *      struct manifest manifest = MANIFEST_INIT(object_id);
 *      manifest_update(&manifest, db);        again and again
 *      … manifest.text …
 *      manifest_release(&manifest);
 *
 * A pure function of the store, whatever it was before. One thread; a caller that wants it to
 * agree with other questions has a read transaction open.
 */
#ifndef CDC_MANIFEST_H
#define CDC_MANIFEST_H

#include <sqlite3.h>
#include <stdint.h>

#include "ground/buf.h"

enum { MANIFEST_FORMATS = 16 };

struct manifest {
        int64_t object_id;
        uint32_t formats;   /* whose files have lines: bit `format` */
        int64_t changed_ns; /* of the directory, when it was made */
        struct buf text;    /* owned */
        /* by format: the ordinals of the first and the last file with a line; 0 = none */
        int64_t first[MANIFEST_FORMATS], last[MANIFEST_FORMATS];
};

#define MANIFEST_INIT(object_id_)                                                                  \
        {                                                                                          \
                .object_id = object_id_, .formats = UINT32_MAX                                     \
        }

/* Brings it to what the store says now. -ENOENT: the instance is gone. After an error only
 * manifest_release is good. */
int manifest_update(struct manifest *manifest, sqlite3 *store);
void manifest_release(struct manifest *manifest);

#endif
