/* SPDX-License-Identifier: MIT
 *
 * openfile: what an open file of the mount reads from: the bytes of a closed file, or of one that
 * is not listed yet and grows. Documents need none: their versions are in memory.
 *
 * It knows the library and no FUSE. A handle stays what it was when it was opened: a live file
 * that is closed and listed meanwhile is read on through it to its end.
 */
#ifndef CDCFS_OPENFILE_H
#define CDCFS_OPENFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cdc.h"

struct openfile;

/* By the inode number. is_live: the catalog does not list it yet. -ENOENT, -ESTALE. */
int openfile_new(struct cdc_view *view, uint64_t ino, bool is_live, struct openfile **ret_openfile);
/* Fills `size` bytes at `offset`, fewer only at the end; may render, or wait for who does. */
int openfile_read(
        struct openfile *openfile, uint64_t offset, void *buffer, size_t size, size_t *ret_size);
/* The same at once, or -EAGAIN. */
int openfile_try_read(
        struct openfile *openfile, uint64_t offset, void *buffer, size_t size, size_t *ret_size);
void openfile_free(struct openfile *openfile); /* NULL is allowed */

#endif
