/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job's class says of it. Between explain.c and the market.
 */
#include <stdio.h>

#include "batch.h"
#include "daemon.h"
#include "explain_class.h"

void
lt_explain_class(char *out, size_t size, const struct lt_daemon *d,
    const struct lt_story *story)
{
	const struct lt_quote *const quote = &story->hold.quote;
	struct lt_request request = {0};
	char words[512];

	out[0] = '\0';
	const char *const qos = story->job != NULL ? story->job->qos
				: story->count > 0 ? story->runs[0].qos
						   : NULL;

	if (qos == NULL || !story->has_hold || quote->home[0] == '\0')
		return;
	request.home = lt_market_partition(&d->site.market, quote->home);
	snprintf(
	    request.account, sizeof(request.account), "%s", quote->account);
	snprintf(request.qos, sizeof(request.qos), "%s", qos);
	lt_class_text(words, sizeof(words), &request, &d->site.market);
	if (words[0] != '\0')
		snprintf(out, size, "Its %s.\n%s", words,
		    quote->flags & LT_QUOTE_NO_SMOKE
			? "It had no smoke run when it was submitted: mode enforce would have refused it.\n"
			: "");
}
