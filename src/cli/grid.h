/* SPDX-License-Identifier: MIT
 *
 * grid: rows as a table for the eye: aligned columns, long values cut, control bytes escaped.
 *
 * Not a format to read back: that is what csv and jsonl are for.
 */
#ifndef CDCCTL_GRID_H
#define CDCCTL_GRID_H

#include <cdc.h>
#include <stdio.h>

/* Prints all remaining rows. Widths are those of the first rows (a result may be larger than
 * memory), and later rows keep to them. 0 or negative errno. */
int grid_print(struct cdc_rows *rows, FILE *file);

#endif
