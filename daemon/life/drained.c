/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "batch.h"
#include "drained.h"
#include "ledger.h"
#include "log.h"
#include "notice.h"
#include "site.h"
#include "units.h"

enum {
	REASON_SIZE = 96,
	/* Nodes that are gone: so many are asked for, so often. */
	LOOK_MAX = 32,
	LOOK_EVERY_S = 10,
};

static const char *
reason_text(char out[REASON_SIZE], int64_t end_utc_s)
{
	char end[32];

	snprintf(out, REASON_SIZE, LT_NOTICE_REASON " at %s",
	    lt_utc_text(end, sizeof(end), end_utc_s));
	return out;
}

/* Is it our text? An admin who changed it has taken the node over. */
static bool
is_our_reason(const char *reason)
{
	static const char start[] = LT_NOTICE_REASON " at ";
	char text[REASON_SIZE];
	int64_t end_utc_s;

	return strncmp(reason, start, sizeof(start) - 1) == 0 &&
	       lt_utc_parse(reason + sizeof(start) - 1, &end_utc_s, NULL) ==
		   LT_OK &&
	       strcmp(reason, reason_text(text, end_utc_s)) == 0;
}

static bool
is_drained_by_other(const struct lt_batch_node *at)
{
	return at->is_drained && !is_our_reason(at->reason);
}

int
lt_drained_check(const char *node, struct lt_error *err)
{
	struct lt_batch_node at = {0};
	const int code = lt_batch_node(&at, node, err);

	return code != LT_OK ? code
	       : at.is_drained && is_our_reason(at.reason)
		   ? LT_OK
		   : lt_fail(err, LT_ENOENT, "node %s: not drained by lowtide",
			 node);
}

/* Is it another machine than the one that was taken, or none? */
static bool
is_back(const struct lt_batch_node *at, const struct lt_notice *notice)
{
	return at->is_powered_down ||
	       (at->responds && at->boot_utc_s > notice->end_utc_s);
}

/* Written before it is done. */
int
lt_drained_put(struct lt_ledger *ledger, struct lt_notice_state *notices,
    struct lt_notice *notice, enum lt_notice_stage stage, struct lt_error *err)
{
	notice->stage = stage;
	notices->look_utc_s = 0;
	return lt_ledger_put_notice(ledger, notice, err);
}

/* A drain of somebody else's keeps its reason. */
int
lt_drained_drain(const struct lt_notice *notice, struct lt_error *err)
{
	struct lt_batch_node at = {0};
	char reason[REASON_SIZE];
	const int code = lt_batch_node(&at, notice->node, err);

	if (code != LT_OK || is_drained_by_other(&at))
		return code;
	return lt_batch_drain(
	    notice->node, reason_text(reason, notice->end_utc_s), err);
}

/* What could not be told, or was not when we ended. A node whose end passed
 * meanwhile may be a new machine: it and its jobs are left alone. */
void
lt_drained_all(struct lt_ledger *ledger, struct lt_notice_state *notices,
    int64_t now_utc_s, struct lt_error *err)
{
	notices->is_undrained = false;
	for (uint32_t i = 0; i < notices->notice_count; i++) {
		struct lt_notice *const notice = &notices->notices[i];
		struct lt_batch_node at = {0};
		struct lt_error failed = {0};

		if (notice->stage != LT_NOTICE_LEAVES)
			continue;
		int code = lt_batch_node(&at, notice->node, &failed);
		if (code == LT_ENOENT ||
		    (code == LT_OK && now_utc_s >= notice->end_utc_s &&
			is_back(&at, notice)))
			code = lt_drained_put(
			    ledger, notices, notice, LT_NOTICE_GONE, &failed);
		else if (code == LT_OK)
			code = lt_drained_drain(notice, &failed);
		if (code == LT_OK)
			continue;
		*err = failed;
		notices->is_undrained = true;
		if (code == LT_ENET)
			return;
	}
}

/* *is_done: lowtide has nothing to do with it any more. Killed after the
 * resume, the next one finds no drain and forgets it. */
int
lt_drained_give_back(struct lt_site *site, struct lt_ledger *ledger,
    const struct lt_notice *notice, bool *is_done, struct lt_error *err)
{
	struct lt_batch_node at = {0};
	const char *why = "not ours";
	int code = lt_batch_node(&at, notice->node, err);

	*is_done = false;
	if (code == LT_ENOENT) {
		*err = (struct lt_error){0};
		why = "no such node";
	} else if (code != LT_OK) {
		return code;
	} else if (at.is_drained && is_our_reason(at.reason)) {
		if (notice->stage != LT_NOTICE_STAYS && !is_back(&at, notice))
			return LT_OK;
		code = lt_batch_resume(notice->node, err);
		if (code != LT_OK)
			return code;
		why = notice->stage == LT_NOTICE_STAYS ? "withdrawn" : "back";
		site->next.tables = site->next.market = 0;
	}
	code = lt_ledger_drop_notice(ledger, notice->node, err);
	*is_done = code == LT_OK;
	if (*is_done)
		lt_log("notice_done", "node=%s why=\"%s\"", notice->node, why);
	return code;
}

/* A few at a time, in turn: a thousand nodes are asked for within minutes. */
bool
lt_drained_look(struct lt_site *site, struct lt_ledger *ledger,
    struct lt_notice_state *notices, int64_t now_utc_s, struct lt_error *err)
{
	uint32_t asked = 0;
	bool any_done = false;

	if (now_utc_s < notices->look_utc_s)
		return false;
	notices->look_utc_s = now_utc_s + LOOK_EVERY_S;
	for (uint32_t i = 0; i < notices->notice_count && asked < LOOK_MAX;
	     i++) {
		const struct lt_notice *const notice =
		    &notices->notices[notices->look_next++ %
				      notices->notice_count];
		struct lt_error failed = {0};
		bool is_done;

		if (notice->stage == LT_NOTICE_LEAVES)
			continue;
		asked++;
		if (lt_drained_give_back(
			site, ledger, notice, &is_done, &failed) != LT_OK)
			*err = failed;
		any_done |= is_done;
		if (failed.code == LT_ENET)
			break;
	}
	return any_done;
}

/* What is still there at the end would hang until SlurmdTimeout. LT_ENET:
 * slurmctld is away, and is told later. */
int
lt_drained_down(const struct lt_notice *notice)
{
	struct lt_batch_node at = {0};
	struct lt_error failed = {0};
	char reason[REASON_SIZE];
	const int code = lt_batch_node(&at, notice->node, &failed);

	return code != LT_OK ? code
			     : lt_batch_down(notice->node,
				   is_drained_by_other(&at)
				       ? NULL
				       : reason_text(reason, notice->end_utc_s),
				   &failed);
}
