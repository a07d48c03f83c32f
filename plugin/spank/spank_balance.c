/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a team's balance from the lowtided of this host (GET /v1/balance in docs/api.md). Without
 * an answer the balance is unknown.
 */
#include "spank_parts.h"

#include <stdio.h>
#include <string.h>

enum { BALANCE_BYTES = 8192 };

struct where { /* in the answer: "warn_" + name + "_micros" */
	const char *text, *prefix;
};

static bool
figure_of(const struct where *where, const char *name, const char *unit, int64_t *value)
{
	char key[40];

	snprintf(key, sizeof(key), "%s%s_%s", where->prefix, name, unit);
	const char *const text = lt_json_value(where->text, key);
	return text != NULL && lt_json_integer(text, value) != NULL;
}

static void
figures_of(struct lt_balance_of *of, const struct where *where, const char *unit)
{
	of->is_limited = figure_of(where, "available", unit, &of->available);
	if (!figure_of(where, "limit", unit, &of->limit) ||
	    !figure_of(where, "spent", unit, &of->spent) ||
	    !figure_of(where, "held", unit, &of->held))
		of->limit = -1; /* another budget's, or an older lowtided */
}

/* Names of teams and periods: an escape in them is not ours, so none. */
static void
name_of(const struct where *where, const char *name, char *out, size_t size)
{
	char key[40];

	snprintf(key, sizeof(key), "%s%s", where->prefix, name);
	const char *const text = lt_json_value(where->text, key);
	out[0] = '\0';
	if (text != NULL)
		(void)lt_json_string(text, out, size);
}

static void
by_rule(struct lt_balance_by_rule *of, const struct where *where)
{
	name_of(where, "team", of->team, sizeof(of->team));
	name_of(where, "label", of->label, sizeof(of->label));
	figures_of(&of->money, where, "micros");
	figures_of(&of->carbon, where, "mg");
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
	by_rule(&balance->binding, &(struct where){.text = text, .prefix = ""});
	by_rule(&balance->warning, &(struct where){.text = text, .prefix = "warn_"});
	return true;
}

/* "/v1/balance?account=name", everything but plain characters encoded. */
static void
make_request(char *out, size_t size, const char *account)
{
	char encoded[3 * LT_ACCOUNT_SIZE] = "";
	size_t used = 0;

	for (const unsigned char *p = (const unsigned char *)account; *p; p++) {
		if ((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_' ||
		    *p == '-' || *p == '.')
			encoded[used++] = (char)*p;
		else
			used +=
			    (size_t)snprintf(encoded + used, sizeof(encoded) - used, "%%%02X", *p);
	}
	encoded[used] = '\0';
	snprintf(out, size, "GET /v1/balance%s%s HTTP/1.0\r\nHost: localhost\r\n\r\n",
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
