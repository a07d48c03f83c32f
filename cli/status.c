/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide status: the daemon, the policy in force, the snapshots and their age, the holds, and a
 * table of the sources with their values and quality. Reads GET /v1/status; --json prints the
 * answer as it came.
 */
#include <math.h>
#include <string.h>

#include "cli.h"
#include "currency.h"
#include "units.h"

static void
print_field(const char *name, const char *text)
{
	printf("%-10s ", name);
	lt_print_safe(stdout, text);
	putchar('\n');
}

static const char *
age_text(char *out, size_t size, const json_t *object, const char *key)
{
	int64_t age_s;

	if (!lt_json_int(object, key, &age_s))
		snprintf(out, size, "never");
	else if (age_s < 1)
		snprintf(out, size, "now");
	else
		lt_duration_text(out, size, age_s);
	return out;
}

static void
print_daemon(const json_t *status)
{
	const bool is_kube = lt_status_is_kube(status);
	char line[512], when[96];
	int64_t pid = 0;

	lt_json_int(status, "pid", &pid);
	snprintf(line, sizeof(line), "%s%s%s, pid %lld on %s, since %s%s",
	    is_kube ? lt_json_text(status, "program", "?") : "", is_kube ? " " : "",
	    lt_json_text(status, "version", "?"), (long long)pid, lt_json_text(status, "host", "?"),
	    lt_local_time(when, sizeof(when), lt_json_text(status, "started", NULL)),
	    json_is_false(json_object_get(status, "acting"))
		? " (standing by: slurmctld acts on another host)"
		: "");
	print_field(is_kube ? "daemon" : "lowtided", line);
	print_field("cluster", lt_json_text(status, "cluster", "?"));
	print_field("mode", lt_json_text(status, "mode", "?"));
	const json_t *const off = json_object_get(status, "off");
	if (json_is_object(off)) {
		snprintf(
		    line, sizeof(line), "%s; lowtide on ends it", lt_json_text(off, "text", "?"));
		print_field("off", line);
	}
	print_field("currency", lt_json_text(status, "currency", "none"));
}

static void
print_policy(const json_t *policy, bool color)
{
	char line[8192], when[96];
	const char *const error = lt_json_text(policy, "error", "");
	const char *const path = lt_json_text(policy, "path", "?");
	const char *const used = lt_json_text(policy, "in_force", path);
	const bool is_last = strcmp(path, used) != 0;

	snprintf(line, sizeof(line), "%s%s, loaded %s", used, is_last ? " (the last good one)" : "",
	    lt_local_time(when, sizeof(when), lt_json_text(policy, "loaded", NULL)));
	print_field("policy", line);
	if (!error[0])
		return;
	printf("%-10s %s%s%s", "", color ? "\033[31m" : "", is_last ? path : "the file",
	    " is not in force: ");
	fputs(color ? "\033[0m" : "", stdout);
	lt_print_safe(stdout, error);
	putchar('\n');
}

/* Prints why a snapshot can't be read, if that is so. */
static void
print_error(const json_t *snapshot)
{
	if (lt_json_text(snapshot, "error", "")[0])
		print_field("", lt_json_text(snapshot, "error", ""));
}

bool
lt_status_is_kube(const json_t *status)
{
	return strcmp(lt_json_text(status, "system", ""), "kubernetes") == 0;
}

/* "v1.36.2, 12 Jobs wait, 3 of them for budget" */
static void
print_kube(const json_t *status)
{
	const json_t *const kube = json_object_get(status, "kubernetes");
	const char *const release = lt_json_text(json_object_get(status, "slurm"), "release", "?");
	int64_t waiting, unheld, budget = 0;
	const json_t *const away = json_object_get(kube, "away");
	int64_t from, to;
	char line[256], since[32], until[32];

	snprintf(line, sizeof(line), "%s", release);
	lt_json_int(kube, "waiting_for_budget", &budget);
	if (lt_json_int(kube, "waiting", &waiting))
		snprintf(line, sizeof(line), "%s, %lld Job%s wait%s, %lld of them for budget",
		    release, (long long)waiting, waiting == 1 ? "" : "s", waiting == 1 ? "s" : "",
		    (long long)budget);
	print_field("kubernetes", line);
	if (lt_json_int(kube, "unheld_pods", &unheld) && unheld > 0) {
		snprintf(line, sizeof(line),
		    "%lld pod%s of no Job run%s: charged each hour, and nothing is held for %s",
		    (long long)unheld, unheld == 1 ? "" : "s", unheld == 1 ? "s" : "",
		    unheld == 1 ? "it" : "them");
		print_field("unheld", line);
	}
	if (!lt_json_int(away, "from_utc_s", &from) || !lt_json_int(away, "to_utc_s", &to))
		return;
	snprintf(line, sizeof(line),
	    "nobody watched from %s to %s: what ended then is charged as estimated",
	    lt_utc_text(since, sizeof(since), from), lt_utc_text(until, sizeof(until), to));
	print_field("away", line);
}

static void
print_slurm(const json_t *slurm)
{
	int64_t queue = 0;
	char line[128];

	lt_json_int(slurm, "dbd_queue", &queue);
	snprintf(line, sizeof(line), "%s, %lld messages wait for slurmdbd",
	    lt_json_text(slurm, "release", "?"), (long long)queue);
	print_field("slurm", line);
}

static void
print_snapshots(const json_t *status)
{
	const json_t *const market = json_object_get(status, "market");
	const json_t *const budget = json_object_get(status, "budget");
	const json_t *const ring = json_object_get(status, "ring");
	const json_t *const holds = json_object_get(status, "holds");
	int64_t generation = 0, ingested = 0, highest = 0, slots = 0, open = 0, refused = 0,
		unproven = 0, pending;
	char line[1024], age[64], money[64] = "", held[160] = "";

	lt_json_int(market, "generation", &generation);
	snprintf(line, sizeof(line), "generation %lld, age on disk %s", (long long)generation,
	    age_text(age, sizeof(age), market, "age_s"));
	print_field("market", line);
	print_error(market);
	generation = 0;
	lt_json_int(budget, "generation", &generation);
	snprintf(line, sizeof(line), "generation %lld, age on disk %s%s", (long long)generation,
	    age_text(age, sizeof(age), budget, "age_s"),
	    json_is_true(json_object_get(budget, "ready"))
		? ""
		: ", not ready: quotes are still being read");
	print_field("budgets", line);
	print_error(budget);
	lt_json_int(ring, "absorbed", &ingested);
	lt_json_int(ring, "highest", &highest);
	lt_json_int(ring, "slots", &slots);
	/* Absent before the first budget snapshot, and for users who may not see all teams. */
	const bool knows_holds = lt_json_int(holds, "open", &open);
	if (lt_json_int(holds, "pending_money_micros", &pending) &&
	    lt_json_text(status, "currency", "")[0])
		lt_money_text(money, sizeof(money), pending, lt_json_text(status, "currency", ""));
	if (knows_holds)
		snprintf(held, sizeof(held), "%lld open%s%s%s; ", (long long)open,
		    money[0] ? ", " : "", money, money[0] ? " of jobs that wait" : "");
	snprintf(line, sizeof(line), "%sring %lld of %lld slots waiting", held,
	    (long long)(highest - ingested), (long long)slots);
	print_field("holds", line);
	if (lt_status_is_kube(status))
		print_kube(status);
	else
		print_slurm(json_object_get(status, "slurm"));
	if (lt_json_text(status, "error", "")[0]) {
		snprintf(line, sizeof(line), "the last step that failed: %s",
		    lt_json_text(status, "error", ""));
		print_field("", line);
	}
	if (lt_json_int(status, "no_smoke", &unproven) && unproven > 0) {
		snprintf(line, sizeof(line),
		    "%lld of the jobs of the last 30 days had no smoke run: mode enforce would have refused them",
		    (long long)unproven);
		print_field("", line);
	}
	if (lt_json_int(status, "adjustments_refused", &refused) && refused > 0) {
		snprintf(line, sizeof(line),
		    "%lld adjustments of the journal are not in the ledger: it can't add them",
		    (long long)refused);
		print_field("", line);
	}
}

/* Prints which month can be closed and is not. */
static void
print_unclosed(const json_t *month)
{
	char line[128];

	if (!json_is_object(month))
		return;
	snprintf(line, sizeof(line), "can be closed since %s, and is not",
	    lt_json_text(month, "since_day", "?"));
	print_field(lt_json_text(month, "label", "?"), line);
}

/* Prints a price with the decimals of amounts; one below ten of their last digits with three
 * figures, as tariffs have. */
static void
price_text(char *out, size_t size, double price, const char *currency, const char *after)
{
	const double step = (double)lt_currency_step(currency) / LT_MICROS;
	const bool small = price != 0 && fabs(price) < 10 * step;

	snprintf(out, size, small ? "%.*g%s%s%s" : "%.*f%s%s%s",
	    small ? 3 : lt_currency_decimals(currency), price, currency[0] ? " " : "", currency,
	    after);
}

/* How people read lowtided's units: "9.87 USD/node-hour". */
static const struct {
	const char *unit, *after;
	bool money;
} units[] = {
    {"g CO2e/kWh", " g/kWh", false},
    {"micros/node-h", "/node-hour", true},
    {"micros/kWh", "/kWh", true},
};

static const char *
value_text(char *out, size_t size, const json_t *source, const char *currency)
{
	const json_t *const value = json_object_get(source, "value_now");
	const char *const unit = lt_json_text(source, "unit", "");
	const double number = json_number_value(value);

	if (!json_is_number(value)) {
		snprintf(out, size, "-");
		return out;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].unit) != 0)
			continue;
		if (units[i].money)
			price_text(out, size, number / 1e6, currency, units[i].after);
		else
			snprintf(out, size, "%.0f%s", number, units[i].after);
		return out;
	}
	snprintf(out, size, "%.6g %s", number, unit);
	return out;
}

static void
print_sources(const json_t *sources, const char *currency, bool color)
{
	static const struct lt_table_column columns[] = {
	    {"SOURCE", false},
	    {"ADAPTER", false},
	    {"QUANTITY", false},
	    {"NOW", true},
	    {"QUALITY", false},
	    {"AGE", true},
	    {"LAST ERROR", false},
	    {NULL, false},
	};
	/* last error, adapter, quantity, age */
	static const int drops[] = {6, 1, 2, 5, -1};
	struct lt_table *const table = lt_table_new(columns);
	size_t index;
	const json_t *source;
	bool replay = false;

	if (table == NULL || !json_array_size(sources)) {
		lt_table_free(table);
		return;
	}
	json_array_foreach(sources, index, source) {
		char value[96], age[64];
		const bool replayed = json_is_true(json_object_get(source, "replay"));
		const char *const cells[] = {
		    lt_json_text(source, "name", "?"),
		    lt_json_text(source, "adapter", "?"),
		    lt_json_text(source, "quantity", "-"),
		    value_text(value, sizeof(value), source, currency),
		    replayed ? "replay" : lt_json_text(source, "quality", "?"),
		    age_text(age, sizeof(age), source, "age_s"),
		    lt_json_text(source, "last_error", ""),
		};

		lt_table_row(table, cells);
		replay = replay || replayed;
	}
	putchar('\n');
	lt_table_fit(table, lt_cli_columns(), 1 << 0 | 1 << 1);
	lt_table_drop(table, drops);
	lt_table_print(stdout, table, color);
	if (replay)
		puts("replayed signals: not real figures");
	lt_table_free(table);
}

size_t
lt_status_drained(char *out, size_t size, const json_t *status)
{
	const json_t *const list = json_object_get(status, "drained");
	size_t i, used = 0;
	const json_t *node;

	out[0] = '\0';
	json_array_foreach(list, i, node) {
		const char *const name = lt_json_text(node, "node", "?");

		if (used + strlen(name) + sizeof(", and 4294967295 more") > size) {
			snprintf(
			    out + used, size - used, ", and %zu more", json_array_size(list) - i);
			break;
		}
		used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", name);
	}
	return json_array_size(list);
}

static void
print_drained(const json_t *status)
{
	char names[200], line[320];

	if (lt_status_drained(names, sizeof(names), status) == 0)
		return;
	snprintf(line, sizeof(line), "%s: taken back; lowtide notice", names);
	print_field("drained", line);
}

int
lt_cli_status(const struct lt_cli *cli)
{
	json_t *status = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (lt_client_get(&status, cli, "/v1/status", &err))
		return lt_cli_fail(&err);
	if (cli->json) {
		result = lt_cli_print_json(status);
	} else {
		print_daemon(status);
		print_policy(json_object_get(status, "policy"), cli->color);
		print_snapshots(status);
		print_unclosed(json_object_get(status, "unclosed"));
		print_drained(status);
		print_sources(json_object_get(status, "sources"),
		    lt_json_text(status, "currency", ""), cli->color);
	}
	json_decref(status);
	return result;
}
