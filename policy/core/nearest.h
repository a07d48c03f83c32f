/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was meant by a word that is wrong.
 */
#ifndef LT_NEAREST_H
#define LT_NEAREST_H

/*
 * The nearest of names (ended by NULL) to a word: the fewest letters changed,
 * added or left out, whatever the case; of equals the first. A beginning of
 * three letters or more counts as one change. NULL: more than a third of the
 * letters (of less than six: more than two) would have to change, or all.
 */
const char *lt_nearest_word(const char *word, const char *const *names)
    __attribute__((nonnull));

#endif
