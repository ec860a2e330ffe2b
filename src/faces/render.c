/* SPDX-License-Identifier: MIT
 *
 * render: the table of formats, and what is prepared once for all rows of a result.
 *
 * It knows which formats there are and nothing of their bytes.
 */
#include "faces/render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faces/render_formats.h"
#include "faces/scalar.h"
#include "ground/cleanup.h"

/* First the newest version of each format, in the order of the listing, then older ones. */
static const struct renderer *const renderers[] = {&render_csv, &render_jsonl, &render_debezium,
        &render_qlik, &render_net_csv, &render_net_jsonl};

enum { FORMATS = 4, FILE_FORMATS = 6 };

unsigned render_count(void)
{
        return FORMATS;
}

unsigned render_file_formats(void)
{
        return FILE_FORMATS;
}

const struct renderer *render_at(unsigned format)
{
        return format < FILE_FORMATS ? renderers[format] : NULL;
}

const struct renderer *render_find(const char *name)
{
        for (unsigned i = 0; i < FILE_FORMATS; i++) {
                if (strcmp(renderers[i]->name, name) == 0)
                        return renderers[i];
        }
        return NULL;
}

const struct renderer *render_find_version(const char *name, unsigned version)
{
        for (unsigned i = 0; i < COUNT(renderers); i++) {
                if (strcmp(renderers[i]->name, name) == 0 && renderers[i]->version == version)
                        return renderers[i];
        }
        return NULL;
}

static uint32_t formats_of(const char *folder, size_t size)
{
        uint32_t formats = 0;
        for (unsigned i = 0; i < FILE_FORMATS; i++) {
                if (strlen(renderers[i]->folder) == size &&
                        strncmp(renderers[i]->folder, folder, size) == 0)
                        formats |= UINT32_C(1) << i;
        }
        return formats;
}

int render_parse_formats(const char *list, uint32_t *ret_formats)
{
        uint32_t formats = 0;
        for (const char *word = list;; word++) {
                size_t size = strcspn(word, ":");
                uint32_t found = formats_of(word, size);
                if (!found)
                        return -EINVAL;
                formats |= found;
                word += size;
                if (!*word)
                        break;
        }
        *ret_formats = formats;
        return 0;
}

int render_init(
        struct render *render, const struct renderer *renderer, const struct result_shape *shape)
{
        *render = (struct render){.renderer = renderer, .shape = shape};
        render->lead_ends = calloc(shape->count + 1, sizeof(*render->lead_ends));
        if (!render->lead_ends)
                return -ENOMEM;
        for (unsigned i = 0; i < shape->count; i++) {
                renderer->lead(&render->leads, i, shape->columns[i].name);
                render->lead_ends[i + 1] = render->leads.size;
        }
        int r = buf_error(&render->leads);
        if (r < 0)
                render_release(render);
        return r;
}

void render_release(struct render *render)
{
        buf_release(&render->leads);
        free(render->lead_ends);
        *render = (struct render){0};
}

void render_header(const struct render *render, struct buf *buf)
{
        render->renderer->header(render, buf);
}

void render_row(const struct render *render, const struct value *values, struct buf *buf)
{
        render->renderer->row(render, values, buf);
}

void render_append_lead(const struct render *render, unsigned column, struct buf *buf)
{
        size_t start = render->lead_ends[column];
        buf_append(buf, render->leads.data + start, render->lead_ends[column + 1] - start);
}

bool render_is_odd_text(const struct value *value, enum text_encoding encoding)
{
        struct scalar_text text;
        if (value->type != VALUE_TEXT || scalar_text_read(value, encoding, &text) < 0)
                return false;
        bool is_odd = text.care == SCALAR_ODD;
        scalar_text_release(&text);
        return is_odd;
}
