/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a settled run came to beside what its job was quoted, for the report's
 * measured figures; docs/model.md, eqs. (59) and (60).
 */
#include <string.h>

#include "baseline.h"
#include "budget_state.h"
#include "ledger.h"
#include "market.h"
#include "quoted.h"
#include "quoted_run.h"

static struct lt_amount
of_one_task(const struct lt_quote *quote, const struct lt_amount *all)
{
	const int64_t tasks = quote->tasks > 0 ? quote->tasks : 1;

	return (struct lt_amount){all->has_money, all->has_carbon,
	    all->money_micros / tasks, all->carbon_mg / tasks};
}

static enum lt_compared
compared(const struct lt_quote *quote)
{
	return quote->flags & LT_QUOTE_HELD_OUT	  ? LT_COMPARED_KEPT
	       : quote->flags & LT_QUOTE_COMPARED ? LT_COMPARED_MOVED
						  : LT_COMPARED_NOT;
}

static enum lt_quoted_end
end_of(const char *state)
{
	if (strcmp(state, "COMPLETED") == 0)
		return LT_QUOTED_COMPLETED;
	return strcmp(state, "DEADLINE") == 0 || strcmp(state, "TIMEOUT") == 0
		   ? LT_QUOTED_OUT_OF_TIME
		   : LT_QUOTED_OTHER;
}

/* The ledger has no wishes: they stand on the job. 0 = none. */
static int64_t
deadline_of(const struct lt_quoted_of *of)
{
	const char *const text = of->row->admin_comment;
	struct lt_wish wish = of->quote->wish;
	struct lt_quote told;

	if (!wish.known && text != NULL &&
	    lt_quote_unpack(&told, text, strlen(text), NULL) == LT_OK &&
	    told.id == of->quote->id)
		wish = told.wish;
	return wish.known && wish.deadline_utc_s != LT_UNSET_64
		   ? wish.deadline_utc_s
		   : 0;
}

/* Not known where it is another partition's: (30) does not know that one. */
static struct lt_amount
expected_at_home(const struct lt_quote *quote)
{
	return quote->flags & LT_QUOTE_NOT_HOME
		   ? (struct lt_amount){.has_money = false}
		   : of_one_task(quote, &quote->home_expected);
}

int
lt_quoted_settled(const struct lt_market *market, struct lt_ledger *ledger,
    struct lt_budget_state *budget, const struct lt_quoted_of *of,
    struct lt_error *err)
{
	const struct lt_run *const run = of->run;
	const struct lt_quote *const quote = of->quote;
	const bool has_base = lt_baseline_known(run);

	if (quote->objective == LT_OBJECTIVE_OFF ||
	    !lt_mode_may(quote->mode, LT_MAY_EDIT) ||
	    run->end_utc_s < of->open_since_utc_s)
		return LT_OK;
	struct lt_quoted quoted = {.run = run->key,
	    .quote_id = quote->id,
	    .compared = compared(quote),
	    .draw = lt_holdout_draw(
		&budget->snapshot.holdout, run->uid, run->key.submit_utc_s),
	    .plan = of_one_task(quote, &quote->plan_expected),
	    .home = expected_at_home(quote),
	    .charged = {run->priced, run->has_carbon,
		lt_before_discount(run->money_micros, &run->parts),
		run->carbon_mg},
	    .base = {run->priced && has_base, run->has_carbon && has_base,
		run->baseline_money_micros, run->baseline_carbon_mg},
	    .end_utc_s = run->end_utc_s,
	    .end = end_of(run->state_text),
	    .deadline_utc_s = deadline_of(of)};

	(void)lt_work_at_home(&quoted.work, run, quote, market, ledger);
	memcpy(quoted.account, run->account, sizeof(quoted.account));
	quoted.left = quoted.compared == LT_COMPARED_KEPT &&
		      strcmp(run->partition, quote->home) != 0;
	if (quoted.deadline_utc_s != 0)
		quoted.stated_ppm = lt_class_confidence_ppm(
		    lt_market_class(market,
			&(struct lt_class_of){.account = run->account,
			    .qos = of->row->qos,
			    .name = of->row->name,
			    .partition =
				lt_market_partition(market, quote->home)}),
		    market);
	return lt_ledger_put_quoted(ledger, &quoted, err);
}
