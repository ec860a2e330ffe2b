/* SPDX-License-Identifier: MIT
 *
 * openfile: one of the library's two kinds of handles.
 */
#include "openfile.h"

#include <errno.h>
#include <stdlib.h>

struct openfile {
        struct cdc_content *content; /* or NULL, as the next */
        struct cdc_live *live;
};

int openfile_new(struct cdc_view *view, uint64_t ino, bool is_live, struct openfile **ret_openfile)
{
        struct openfile *openfile = calloc(1, sizeof *openfile);
        if (!openfile)
                return -ENOMEM;
        int r = is_live ? cdc_live_open(view, ino, &openfile->live)
                        : cdc_content_open(view, ino, &openfile->content);
        if (r < 0) {
                free(openfile);
                return r;
        }
        *ret_openfile = openfile;
        return 0;
}

int openfile_read(
        struct openfile *openfile, uint64_t offset, void *buffer, size_t size, size_t *ret_size)
{
        if (openfile->live)
                return cdc_live_read(openfile->live, offset, buffer, size, ret_size);
        return cdc_content_read(openfile->content, offset, buffer, size, ret_size);
}

int openfile_try_read(
        struct openfile *openfile, uint64_t offset, void *buffer, size_t size, size_t *ret_size)
{
        if (openfile->live)
                return cdc_live_try_read(openfile->live, offset, buffer, size, ret_size);
        return cdc_content_try_read(openfile->content, offset, buffer, size, ret_size);
}

void openfile_free(struct openfile *openfile)
{
        if (!openfile)
                return;
        cdc_live_close(openfile->live);
        cdc_content_close(openfile->content);
        free(openfile);
}
