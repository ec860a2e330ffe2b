/* SPDX-License-Identifier: MIT
 *
 * document_private: what the files of the room "document" share. Nobody else includes it.
 */
#ifndef CDC_DOCUMENT_PRIVATE_H
#define CDC_DOCUMENT_PRIVATE_H

#include <jansson.h>

#include "faces/document.h"

/* A name is other people's: one that is no UTF-8 is shown as \X and hex, as in the files. NULL is
 * null. NULL: no memory. */
json_t *document_text(const char *name);
/* Appends a JSON document and a line's end. 0 or -ENOMEM. */
int document_append_json(const json_t *json, struct buf *buf);

#endif
