/* SPDX-License-Identifier: MIT
 *
 * render_formats: the renderers that the table in render.c lists, one file each. Private to
 * render.c and those files.
 */
#ifndef CDC_RENDER_FORMATS_H
#define CDC_RENDER_FORMATS_H

#include "faces/render.h"

extern const struct renderer render_csv;
extern const struct renderer render_jsonl;
extern const struct renderer render_debezium;
extern const struct renderer render_qlik;
extern const struct renderer render_net_csv;
extern const struct renderer render_net_jsonl;

/* Appends what renderer->lead made for this column. */
void render_append_lead(const struct render *render, unsigned column, struct buf *buf);

#endif
