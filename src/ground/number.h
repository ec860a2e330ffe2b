/* SPDX-License-Identifier: MIT
 *
 * number: REALs as the shortest decimal digits that read back as the same double.
 */
#ifndef CDC_NUMBER_H
#define CDC_NUMBER_H

enum { NUMBER_SIZE = 32 };

/* Always with `.` or `e`, never locale dependent: 9.0, 0.1, 1e+300, -0.0. Finite values only.
 * Digits are the fewest of 15, 16 and 17 that round-trip. Returns the length. */
int number_format_real(double value, char ret_text[NUMBER_SIZE]);

#endif
