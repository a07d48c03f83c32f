/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the runs that the asking user may see from the ledger, and writes them as rows of the
 * answer, or adds them to its groups, its carbon or its unused hours. users=0 erases the users
 * first. A reader that is gone ends it with LT_EIO.
 */
#include <string.h>

#include "report_parts.h"
#include "run_json.h"

/* True if the run is shown; else it only counts in the sums of its team. */
static bool
is_shown(const struct lt_report_work *w, const struct lt_run *run, const struct lt_booked *booked)
{
	const struct lt_report_account *const account = lt_report_account_of(w, booked->account);

	return run->uid == w->uid || account == NULL || !account->own_runs;
}

static int
take_row(
    void *context, const struct lt_run *whose, const struct lt_booked *booked, struct lt_error *err)
{
	struct lt_report_rows *const rows = context;
	const struct lt_run *run = whose;
	struct lt_run nobodys;

	if (rows->view->work->users.are_hidden) {
		nobodys = *whose;
		lt_run_erase_user(&nobodys);
		run = &nobodys;
	}
	if (rows->unused != NULL) {
		const int code = lt_report_unused_run(rows->unused, run, booked, err);

		if (code != LT_OK)
			return code;
	}
	if (rows->groups != NULL)
		return lt_report_groups_run(
		    rows->groups, run, booked, is_shown(rows->view->work, whose, booked), err);
	if (rows->carbon != NULL)
		return lt_report_carbon_run(rows->carbon, run, booked->account, err);
	lt_out_text(rows->out, rows->count++ > 0 ? ",\n" : "\n");
	lt_run_write(rows->out, run, booked, &rows->view->work->offsets);
	if (rows->left > 0 && --rows->left == 0) {
		rows->last = *run;
		rows->last_late = booked->is_late;
	}
	return rows->out->failed ? lt_fail(err, LT_EIO, "nobody takes the answer") : LT_OK;
}

/* Leaves out runs of accounts that no statement has. */
static int
take_seen(
    void *context, const struct lt_run *run, const struct lt_booked *booked, struct lt_error *err)
{
	struct lt_report_rows *const rows = context;

	return lt_report_account_of(rows->view->work, booked->account) != NULL
		   ? take_row(rows, run, booked, err)
		   : LT_OK;
}

static struct lt_runs_asked
asked_of(const struct lt_report_rows *rows)
{
	return (struct lt_runs_asked){.from_utc_s = rows->view->period->start_utc_s,
	    .to_utc_s = rows->view->period->end_utc_s,
	    .closed_utc_s = rows->view->runs_utc_s};
}

/* Takes each account in turn until the page is full. */
int
lt_report_rows_page(struct lt_report_rows *rows, uint32_t most, struct lt_error *err)
{
	const struct lt_report_work *const w = rows->view->work;
	bool begun = !w->has_after;
	int code = LT_OK;

	rows->left = most;
	for (uint32_t i = 0; code == LT_OK && i < w->account_count; i++) {
		const struct lt_report_account *const account = &w->accounts[i];
		struct lt_runs_asked asked = asked_of(rows);

		const struct lt_span span = lt_report_asked(account, rows->view->period);

		if (!account->is_seen || span.from_utc_s == span.to_utc_s)
			continue;
		if (!begun && strcmp(account->name, w->after.account) == 0) {
			asked.after = &w->after;
			asked.after_late = w->after_late;
		} else if (!begun) {
			continue;
		}
		begun = true;
		asked.from_utc_s = span.from_utc_s;
		asked.to_utc_s = span.to_utc_s;
		asked.account = account->name;
		asked.most = rows->left;
		asked.of_one = rows->are_sums ? account->own_sums : account->own_runs;
		asked.uid = w->uid;
		code = lt_ledger_runs(rows->view->ledger, &asked, take_row, rows, err);
		if (most > 0 && rows->left == 0) {
			memcpy(rows->last.account, account->name, sizeof(rows->last.account));
			break;
		}
	}
	return code;
}

int
lt_report_rows(struct lt_report_rows *rows, struct lt_error *err)
{
	const struct lt_runs_asked asked = asked_of(rows);

	return rows->view->work->is_everyones
		   ? lt_ledger_runs(rows->view->ledger, &asked, take_seen, rows, err)
		   : lt_report_rows_page(rows, 0, err);
}
