/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What mails to users say.
 */
#ifndef LT_LIFE_MAIL_TEXT_H
#define LT_LIFE_MAIL_TEXT_H

#include "batch.h"
#include "ledger.h"
#include "message.h"
#include "quote.h"
#include "zone.h"

struct lt_mail_facts {
	const struct lt_batch_job *job;
	const struct lt_quote *quote; /* the plan as it is now */
	const struct lt_zone *zone;
	const char *currency;
	int64_t now_utc_s;
};

/* Where it was to start, and from when, by what its user knows. why: a word of
 * lt_replan_word(). */
void lt_mail_moved(struct lt_message *message,
    const struct lt_mail_facts *facts, const struct lt_plan_made *was,
    const char *why);
/* done_s: of its work, that need not be done again; 0: nothing is known to be
 * kept. */
void lt_mail_interrupted(struct lt_message *message,
    const struct lt_mail_facts *facts, int64_t done_s);

#endif
