/* SPDX-License-Identifier: MIT
 *
 * model_changeset: how the model takes a changeset of the session extension.
 */
#ifndef DIFFERENTIAL_MODEL_CHANGESET_H
#define DIFFERENTIAL_MODEL_CHANGESET_H

#include "model.h"

/* Reads one changeset (a blob of the record) and applies it. 0, or -EBADMSG if it does not fit
 * the state. Only keys and new values are used: what rows were before, the model knows. */
int model_apply_changeset(struct model *model, struct reader *reader);
/* Remembers that a row was touched; copies both images. */
void model_note_delta(
        struct model_table *table, const struct model_row *before, const struct model_row *after);

#endif
