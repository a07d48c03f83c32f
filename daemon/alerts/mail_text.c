/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mails to users: what was, what is, why, and what to type.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lookup.h"
#include "mail_text.h"
#include "replan.h"
#include "text.h"
#include "units.h"

static const char *
reason_of(const char *why)
{
	static const char *const reasons[LT_REPLAN_WHY_COUNT] = {
	    [LT_REPLAN_BETTER] =
		"by today's forecasts it costs less, or emits less, then",
	    [LT_REPLAN_NO_ROOM] =
		"there is no room any more where it was to go",
	    [LT_REPLAN_CANNOT_RUN] = "it can't run any more where it was to go",
	    [LT_REPLAN_CANNOT_START] =
		"Slurm can't start it where it was to go",
	    [LT_REPLAN_TOGETHER] =
		"other jobs made room, and all together this is better",
	    [LT_REPLAN_DEADLINE] =
		"its deadline leaves no more time to wait for those nodes",
	    [LT_REPLAN_INTERRUPTED] =
		"it was interrupted as often as it may be",
	};
	const int found = lt_replan_find(why);

	return LT_WORD_OR(reasons, found, "the plan was made again");
}

static void
put_name(struct lt_text *text, const struct lt_mail_facts *facts)
{
	char address[LT_JOB_ADDRESS_SIZE], name[LT_NAME_SIZE];

	/* It is its user's: no lines of his in a mail of the site's. */
	lt_copy(name, sizeof(name), facts->job->name);
	lt_text_line(name);
	lt_text_put(text, "Job %s", lt_job_address(address, facts->job));
	if (name[0] != '\0')
		lt_text_put(text, " (%s)", name);
}

static void
put_expected(struct lt_text *text, const struct lt_mail_facts *facts)
{
	char amount[128];

	lt_amount_text(amount, sizeof(amount), &facts->quote->plan_expected,
	    facts->currency, "");
	if (amount[0] != '\0')
		lt_text_put(text, "Expected: %s.\n", amount);
}

static const char *
when(char out[64], const struct lt_mail_facts *facts, int64_t utc_s)
{
	return utc_s <= facts->now_utc_s ? "as soon as there is room"
					 : lt_zone_text(out, 64, facts->zone,
					       utc_s, facts->now_utc_s);
}

void
lt_mail_moved(struct lt_message *message, const struct lt_mail_facts *facts,
    const struct lt_plan_made *was, const char *why)
{
	struct lt_text text = {
	    .out = message->text, .size = sizeof(message->text)};
	char address[LT_JOB_ADDRESS_SIZE], then[64], now[64];
	const int64_t start_utc_s = facts->quote->plan_start_utc_s;

	lt_job_address(address, facts->job);
	lt_zone_text(then, sizeof(then), facts->zone, was->start_utc_s,
	    facts->now_utc_s);
	message->kind = LT_MESSAGE_MOVED;
	snprintf(message->subject, sizeof(message->subject),
	    "lowtide: job %s starts %s, not %s", address,
	    when(now, facts, start_utc_s), then);
	put_name(&text, facts);
	lt_text_put(&text, " was to start %s in %s.\nIt starts %s in %s: %s.\n",
	    then, was->partition, when(now, facts, start_utc_s),
	    facts->quote->partition, reason_of(why));
	put_expected(&text, facts);
	lt_text_put(&text,
	    "\nWhy:       lowtide explain %s\n"
	    "At once:   lowtide now %s\n"
	    "Cancel it: scancel %s\n",
	    address, address, address);
	lt_message_clean(message);
}

void
lt_mail_interrupted(struct lt_message *message,
    const struct lt_mail_facts *facts, int64_t done_s)
{
	struct lt_text text = {
	    .out = message->text, .size = sizeof(message->text)};
	const struct lt_batch_job *const job = facts->job;
	char address[LT_JOB_ADDRESS_SIZE], since[64], kept[32];

	lt_job_address(address, job);
	lt_zone_text(since, sizeof(since), facts->zone, job->start_utc_s,
	    facts->now_utc_s);
	message->kind = LT_MESSAGE_INTERRUPTED;
	snprintf(message->subject, sizeof(message->subject),
	    "lowtide: job %s was interrupted, and runs again", address);
	put_name(&text, facts);
	lt_text_put(&text,
	    " lost its nodes%s, and runs again since %s in %s on %s.\n",
	    job->restarts > 1 ? ", not for the first time" : "", since,
	    job->partition, job->node_list != NULL ? job->node_list : "?");
	if (done_s > 0)
		lt_text_put(&text,
		    "Of its work %s need not be done again, if it resumes.\n",
		    lt_duration_text(kept, sizeof(kept), done_s));
	else
		lt_text_put(&text,
		    "Nothing of its work is known to be kept: it starts over.\n");
	lt_text_put(&text,
	    "\nHow it went: lowtide explain %s\n"
	    "Fewer of them, for the next job: sbatch --max-interruptions=1 ...\n",
	    address);
	lt_message_clean(message);
}
