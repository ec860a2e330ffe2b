/* SPDX-License-Identifier: MIT
 *
 * answer: how arguments of SQL are read, and how values and problems go back.
 */
#ifndef CDC_EXTENSION_ANSWER_H
#define CDC_EXTENSION_ANSWER_H

#include <sqlite3.h>
#include <stddef.h>

#include "bytes/value.h"
#include "ground/lsn.h"
#include "ground/problem.h"
#include "ground/text.h"

/* An LSN as BLOB(10) or in any text form. 1 with it, 0 for NULL, -EINVAL. */
int answer_read_lsn(sqlite3_value *value, struct lsn *ret_lsn, struct problem *problem);
/* The words for a negative result: `313: …` where there is a number. sqlite3_free it. */
char *answer_words(int result, const struct problem *problem);
void answer_problem(sqlite3_context *context, int result, const struct problem *problem);
void answer_lsn(sqlite3_context *context, struct lsn lsn);
/* A captured value, its storage class and bytes as they are. */
void answer_value(sqlite3_context *context, const struct value *value, enum text_encoding encoding);

#endif
