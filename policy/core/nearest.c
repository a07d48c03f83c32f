/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Levenshtein's distance, one row.
 */
#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "counts.h"
#include "nearest.h"

enum { WORD_MAX = 64, BEGINNING_MIN = 3 }; /* longer: near to none */

static size_t
distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t row[WORD_MAX + 1];

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			const size_t changed =
			    diagonal + (tolower((unsigned char)a[i - 1]) !=
					   tolower((unsigned char)b[j - 1]));

			diagonal = row[j];
			row[j] =
			    smaller(changed, smaller(row[j], row[j - 1]) + 1);
		}
	}
	return row[b_length];
}

const char *
lt_nearest_word(const char *word, const char *const *names)
{
	const char *nearest = NULL;
	const size_t length = strlen(word);
	size_t limit = (length < 6 ? 2 : length / 3) + 1;

	if (length > WORD_MAX)
		return NULL;
	for (; *names != NULL; names++) {
		const size_t width = strlen(*names);

		if (width > WORD_MAX)
			continue;
		const size_t apart =
		    length >= BEGINNING_MIN &&
			    strncasecmp(word, *names, length) == 0
			? 1
			: distance(word, length, *names, width);

		if (apart < limit && apart < width && apart < length) {
			limit = apart;
			nearest = *names;
		}
	}
	return nearest;
}
