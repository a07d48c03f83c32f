/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows submissions each other's plans: the market is minutes old, and without job_submit only
 * lowtided knows the plans since. The client asks it before the decision and announces its plan
 * after it (POST /v1/plan in docs/api.md); a client that lost the race decides again. Without an
 * answer the plan is made with the market alone.
 */
#include "spank_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

enum {
	ASKED_BYTES = LT_QUOTE_TEXT_SIZE + 512,
	OTHERS_BYTES = 64 * 1024, /* 512 windows of the longest names */
};

/* Parses ["spot",125000,1763700000,1763703600] and returns the text behind it; NULL at the end, or
 * if it is damaged. nodes 0: the partition is not known here. */
static const char *
parse_window(struct lt_planned *window, const struct lt_market *market, const char *text)
{
	char name[LT_NAME_SIZE];
	int64_t values[3];
	int partition;

	if (*text != '[' || (text = lt_json_string(text + 1, name, sizeof(name))) == NULL)
		return NULL;
	for (int i = 0; i < 3; i++)
		if (*text != ',' || (text = lt_json_integer(text + 1, &values[i])) == NULL)
			return NULL;
	if (*text != ']')
		return NULL;
	*window = (struct lt_planned){0};
	partition = lt_market_partition(market, name);
	if (partition >= 0 && values[0] > 0 && values[1] < values[2])
		*window = (struct lt_planned){.partition = (uint16_t)partition,
		    .nodes = (float)((double)values[0] / LT_MICROS),
		    .start_utc_s = values[1],
		    .end_utc_s = values[2]};
	return text + 1;
}

bool
lt_others_parse(struct lt_others *others, const struct lt_market *market, const char *text)
{
	const char *const booked = lt_json_value(text, "booked");
	const char *at = lt_json_value(text, "planned");
	const char *const last = lt_json_value(text, "seen");
	int64_t seen;

	others->known = false;
	if (booked != NULL && strncmp(booked, "true", 4) == 0)
		return true;
	if (at == NULL || *at != '[' || last == NULL || lt_json_integer(last, &seen) == NULL ||
	    seen < 0)
		return false;
	for (at++; *at != ']'; at += *at == ',') {
		struct lt_planned window;

		at = parse_window(&window, market, at);
		if (at == NULL)
			return false;
		if (window.nodes > 0 && others->count < LT_PLANNED_MAX)
			others->windows[others->count++] = window;
	}
	others->seen = (uint64_t)seen;
	others->known = true;
	return false;
}

static bool
put_plan(char *out, size_t size, const struct lt_own_plan *plan)
{
	const struct lt_estimate *const chosen = plan->chosen;
	char quote[LT_QUOTE_TEXT_SIZE];

	return lt_quote_pack(quote, sizeof(quote), plan->quote) == LT_OK &&
	       snprintf(out, size,
		   ",\"nodes_ppm\":%" PRId64 ",\"start\":%" PRId64 ",\"end\":%" PRId64
		   ",\"quote\":\"%s\"",
		   (int64_t)ceil(chosen->node_equivalents * LT_MICROS), chosen->start_utc_s,
		   chosen->free_utc_s, quote) < (int)size;
}

bool
lt_spank_book(
    struct lt_others *others, const struct lt_market *market, const struct lt_own_plan *plan)
{
	static char reply[OTHERS_BYTES];
	char own[ASKED_BYTES] = "", body[sizeof(own) + 128], request[sizeof(body) + 128];
	const char *answer;

	others->known = false;
	if (plan != NULL && !put_plan(own, sizeof(own), plan))
		return false;
	snprintf(body, sizeof(body), "{\"generation\":%" PRIu64 ",\"seen\":%" PRIu64 "%s}",
	    market->generation, others->seen, own);
	snprintf(request, sizeof(request),
	    "POST /v1/plan HTTP/1.0\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
	    strlen(body), body);
	answer = lt_spank_ask(reply, sizeof(reply), request);
	return answer != NULL && lt_others_parse(others, market, answer);
}
