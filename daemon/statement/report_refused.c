/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The jobs that were refused in a report's period, by team: of those teams
 * whose sums are seen. A period without any has no such member, so that what
 * was closed before they were counted stays.
 */
#include "api.h"
#include "out.h"
#include "report_parts.h"

struct refused {
	const struct lt_report_work *work;
	json_t *teams;
	const struct lt_report_account *last; /* of the last of them */
	int64_t jobs;
};

/* An lt_refused_function: hours of an account come one after the other. */
static int
take(void *context, const char *name, int64_t at_utc_s, int64_t jobs,
    struct lt_error *err)
{
	struct refused *const refused = context;
	const struct lt_report_account *const account =
	    lt_report_account_of(refused->work, name);

	if (!lt_report_is_seen(account, at_utc_s) || account->own_sums)
		return LT_OK;
	refused->jobs += jobs;
	if (account != refused->last && json_array_append_new(refused->teams,
					    json_pack("{s:s,s:I}", "team", name,
						"jobs", (json_int_t)0)) != 0)
		return lt_fail(err, LT_ENOMEM, "report: out of memory");
	refused->last = account;
	json_t *const team =
	    json_array_get(refused->teams, json_array_size(refused->teams) - 1);
	json_t *const sum = json_object_get(team, "jobs");
	json_integer_set(sum, json_integer_value(sum) + (json_int_t)jobs);
	return LT_OK;
}

int
lt_report_refused(
    json_t **json, const struct lt_report_view *view, struct lt_error *err)
{
	struct refused refused = {.work = view->work, .teams = json_array()};
	const int code = lt_ledger_refused(
	    view->ledger, lt_report_span(view->period), take, &refused, err);

	*json = NULL;
	if (code == LT_OK && refused.jobs > 0)
		*json = json_pack("{s:I,s:O}", "jobs", (json_int_t)refused.jobs,
		    "teams", refused.teams);
	json_decref(refused.teams);
	return code;
}

int
lt_report_put_refused(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	json_t *json;
	const int code = lt_report_refused(&json, view, err);

	if (code == LT_OK && json != NULL) {
		lt_out_text(out, ",");
		lt_report_put_members(out, json_pack("{s:o}", "refused", json));
	}
	return code;
}
