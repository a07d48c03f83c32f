/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report --format ood: the file that Open OnDemand's dashboard reads at OOD_BALANCE_PATH,
 * version 1, with the balance of each user in each account. The dashboard shows whole units, of
 * which a file has one: the currency, or kg CO2e at a site without money. Reads GET /v1/balances;
 * prints JSON to standard output.
 */
#include <pwd.h>
#include <time.h>

#include "cli.h"
#include "report.h"
#include "units.h"

/* Rounds down, so that nobody is promised more than they have. */
static json_int_t
whole_units(int64_t millionths)
{
	return millionths / LT_MICROS - (millionths % LT_MICROS < 0);
}

/* Returns the name of the user, by which the dashboard finds them; NULL without one on this host:
 * then they can't log in. */
static json_t *
user_of(const json_t *balance)
{
	int64_t uid;
	const struct passwd *const user =
	    lt_json_int(balance, "uid", &uid) && uid >= 0 && uid <= UINT32_MAX
		? getpwuid((uid_t)uid)
		: NULL;

	return user != NULL ? json_string(user->pw_name) : NULL;
}

json_t *
lt_ood_file(const json_t *answer, int64_t now_utc_s, struct lt_error *err)
{
	const char *const currency = lt_json_text(answer, "currency", "");
	const char *const key = currency[0] ? "available_micros" : "available_mg";
	json_t *const list = json_array();
	size_t index;
	const json_t *balance;

	json_array_foreach(json_object_get(answer, "balances"), index, balance) {
		int64_t available;
		json_t *const user = user_of(balance);

		if (user != NULL && lt_json_int(balance, key, &available))
			json_array_append_new(
			    list, json_pack("{s:O,s:s,s:I}", "user", user, "project",
				      lt_json_text(balance, "account", ""), "value",
				      whole_units(available)));
		json_decref(user);
	}
	json_t *const file = json_pack("{s:i,s:I,s:{s:s,s:s},s:o}", "version", 1, "timestamp",
	    (json_int_t)now_utc_s, "config", "unit", currency[0] ? currency : "kg CO2e",
	    "project_type", "account", "balances", list);

	if (file == NULL)
		lt_fail(err, LT_ENOMEM, "no memory");
	return file;
}

int
lt_report_ood(const struct lt_cli *cli)
{
	json_t *answer = NULL, *file = NULL;
	struct lt_error err = {0};

	if (lt_client_get(&answer, cli, "/v1/balances", &err) == LT_OK)
		file = lt_ood_file(answer, (int64_t)time(NULL), &err);
	json_decref(answer);
	if (err.code)
		return lt_cli_fail(&err);
	const int result = lt_cli_print_json(file);

	json_decref(file);
	return result;
}
