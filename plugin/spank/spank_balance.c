/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A team's balance from the lowtided of this host. docs/api.md has the fields.
 */
#include "spank_parts.h"

#include <stdio.h>
#include <string.h>

enum { BALANCE_BYTES = 8192 };

static bool
figure_of(const char *text, const char *name, const char *unit, int64_t *value)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_%s", name, unit);
	text = lt_json_value(text, key);
	return text != NULL && lt_json_integer(text, value) != NULL;
}

static void
figures_of(struct lt_balance_of *of, const char *text, const char *unit)
{
	of->is_limited = figure_of(text, "available", unit, &of->available);
	if (!figure_of(text, "limit", unit, &of->limit) ||
	    !figure_of(text, "spent", unit, &of->spent) ||
	    !figure_of(text, "held", unit, &of->held))
		of->limit = -1; /* another budget's, or an older lowtided */
}

/* Names of teams and periods: an escape in them is not ours, so none. */
static void
name_of(const char *text, const char *key, char *out, size_t size)
{
	text = lt_json_value(text, key);
	out[0] = '\0';
	if (text != NULL)
		(void)lt_json_string(text, out, size);
}

bool
lt_balance_parse(struct lt_balance *balance, const char *text)
{
	const char *const budgeted = lt_json_value(text, "budgeted");

	memset(balance, 0, sizeof(*balance));
	if (budgeted == NULL)
		return false;
	if (strncmp(budgeted, "false", 5) == 0)
		return true;
	if (strncmp(budgeted, "true", 4) != 0)
		return false;
	balance->budgeted = true;
	name_of(text, "team", balance->team, sizeof(balance->team));
	name_of(text, "label", balance->label, sizeof(balance->label));
	name_of(text, "currency", balance->currency, sizeof(balance->currency));
	figures_of(&balance->money, text, "micros");
	figures_of(&balance->carbon, text, "mg");
	return true;
}

/* "/v1/balance?account=name", everything but plain characters encoded. */
static void
make_request(char *out, size_t size, const char *account)
{
	char encoded[3 * LT_ACCOUNT_SIZE] = "";
	size_t used = 0;

	for (const unsigned char *p = (const unsigned char *)account; *p; p++) {
		if ((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') ||
		    *p == '_' || *p == '-' || *p == '.')
			encoded[used++] = (char)*p;
		else
			used += (size_t)snprintf(encoded + used,
			    sizeof(encoded) - used, "%%%02X", *p);
	}
	encoded[used] = '\0';
	snprintf(out, size,
	    "GET /v1/balance%s%s HTTP/1.0\r\nHost: localhost\r\n\r\n",
	    used ? "?account=" : "", encoded);
}

bool
lt_spank_balance(struct lt_balance *balance, const char *account)
{
	char request[512], reply[BALANCE_BYTES];
	const char *body;

	make_request(request, sizeof(request), account);
	body = lt_spank_ask(reply, sizeof(reply), request);
	return body != NULL && lt_balance_parse(balance, body);
}
