/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is it a currency? And which one may have been meant.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "currency.h"
#include "nearest.h"
#include "reader.h"

bool
lt_currency_is(const char *code)
{
	return lt_currency_find(code) != NULL;
}

const char *
lt_currency_hint(char *out, size_t size, const char *code)
{
	const char *codes[LT_CURRENCIES_MAX + 1];
	int count;
	const struct lt_currency *const table = lt_currency_table(&count);

	for (int i = 0; i < count; i++)
		codes[i] = table[i].code;
	codes[count] = NULL;
	const char *const nearest = lt_nearest_word(code, codes);

	out[0] = '\0';
	if (nearest != NULL && strncasecmp(nearest, code, 2) == 0)
		(void)snprintf(out, size, "; did you mean %s?", nearest);
	return out;
}
