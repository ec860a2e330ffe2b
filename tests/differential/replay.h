/* SPDX-License-Identifier: MIT
 *
 * replay: a follower that applies delivered changes one by one, as a consumer would, and must
 * come to the table's content. It uses nothing but the delivered rows.
 */
#ifndef DIFFERENTIAL_REPLAY_H
#define DIFFERENTIAL_REPLAY_H

#include "stream.h"

/* Begins with the rows that stand in the table. 0 or negative errno. */
int replay_begin(struct stream *stream, const struct model_table *table);
/* Columns that the table has no more are NULL from now on, as the table itself shows them. */
void replay_forget_columns(struct stream *stream);
/* Applies one change; NULL, or what is wrong with it. */
const char *replay_apply(struct stream *stream, const struct change *change);
/* The rows that the follower has too many or too few of, 0 if it has the table's content. */
size_t replay_differences(const struct stream *stream, const struct model_table *table);

#endif
