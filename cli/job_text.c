/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The texts of a job for "jobs" and "watch": its costs, times, state and place, short enough for a
 * column. They are made from one object of GET /v1/jobs. A figure that lowtided does not give is
 * "-", or left out.
 */
#include <string.h>
#include <time.h>

#include "job.h"
#include "quote.h"
#include "units.h"

enum { WEEK_S = 6 * 86400 };

const char *
lt_job_amount(char *out, size_t size, const json_t *amount, const char *currency)
{
	int64_t value;

	if (currency[0] != '\0' && lt_json_int(amount, "money_micros", &value))
		return lt_money_text(out, size, value, currency);
	if (currency[0] == '\0' && lt_json_int(amount, "carbon_mg", &value))
		return lt_carbon_text(out, size, value);
	snprintf(out, size, "-");
	return out;
}

const char *
lt_job_expected(char *out, size_t size, const json_t *job, const char *currency)
{
	return lt_job_amount(out, size, json_object_get(job, "expected"), currency);
}

const char *
lt_job_so_far(char *out, size_t size, const json_t *job, const char *currency)
{
	const json_t *const charged = json_object_get(job, "charged");
	const json_t *const so_far = json_object_get(job, "so_far");

	return lt_job_amount(out, size, json_is_object(so_far) ? so_far : charged, currency);
}

const char *
lt_job_zone(char *out, size_t size)
{
	const time_t now = time(NULL);
	struct tm local;

	if (localtime_r(&now, &local) == NULL || strftime(out, size, "%Z", &local) == 0)
		snprintf(out, size, "UTC");
	return out;
}

const char *
lt_job_time(char *out, size_t size, const json_t *object, const char *key)
{
	const char *const iso = lt_json_text(object, key, NULL);
	char zone[16];
	struct tm local;
	int64_t utc_s;

	if (iso == NULL) {
		snprintf(out, size, "-");
		return out;
	}
	if (lt_utc_parse(iso, &utc_s, NULL) != LT_OK ||
	    localtime_r(&(time_t){(time_t)utc_s}, &local) == NULL) {
		snprintf(out, size, "%s", iso);
		return out;
	}
	const int64_t from_now_s = utc_s - (int64_t)time(NULL);
	const bool near = from_now_s > -WEEK_S && from_now_s < WEEK_S;

	/* The table's title names the present zone, say summer time. */
	lt_job_zone(zone, sizeof(zone));
	if (local.tm_zone != NULL && strcmp(local.tm_zone, zone) == 0)
		zone[0] = '\0';
	else
		strftime(zone, sizeof(zone), " %Z", &local);
	if (strftime(out, size, near ? "%a %H:%M" : "%d %b %H:%M", &local) == 0)
		snprintf(out, size, "%s", iso);
	else
		snprintf(out + strlen(out), size - strlen(out), "%s", zone);
	return out;
}

const char *
lt_job_start(char *out, size_t size, const json_t *job)
{
	return lt_json_text(job, "start", NULL) != NULL ||
		       json_is_true(json_object_get(job, "ended"))
		   ? lt_job_time(out, size, job, "start")
		   : lt_job_time(out, size, json_object_get(job, "plan"), "start");
}

/* ", paused until Sat 02:00: saves 1.2 kg CO2e"; "" if it is not paused. */
static const char *
pause_text(char *out, size_t size, const json_t *job, const char *currency)
{
	const json_t *const pause = json_object_get(job, "pause");
	const json_t *const said = json_object_get(pause, "saves");
	struct lt_amount saves = {.has_money = false};
	char until[32], text[96];

	out[0] = '\0';
	if (!json_is_object(pause))
		return out;
	saves.has_money =
	    currency[0] != '\0' && lt_json_int(said, "money_micros", &saves.money_micros);
	saves.has_carbon = lt_json_int(said, "carbon_mg", &saves.carbon_mg);
	snprintf(out, size, ", paused until %s: saves %s",
	    lt_job_time(until, sizeof(until), pause, "until"),
	    lt_amount_text(text, sizeof(text), &saves, currency, "?"));
	return out;
}

/* "held: budget until Tue 00:00"; "" if it is not held. */
static const char *
held_text(char *out, size_t size, const json_t *job)
{
	const json_t *const held = json_object_get(job, "held");
	char until[32];

	out[0] = '\0';
	if (!json_is_object(held))
		return out;
	snprintf(out, size, "held: %s", lt_json_text(held, "by", "?"));
	if (lt_json_text(held, "until", NULL) != NULL)
		snprintf(out + strlen(out), size - strlen(out), " until %s",
		    lt_job_time(until, sizeof(until), held, "until"));
	return out;
}

const char *
lt_job_state_word(char *out, size_t size, const json_t *job)
{
	const json_t *const pause = json_object_get(job, "pause");
	const char *const awaited = lt_json_text(job, "awaited_node", "");
	char until[32], held[64];

	if (held_text(held, sizeof(held), job)[0] != '\0') {
		snprintf(out, size, "%s, %s", lt_json_text(job, "state", "?"), held);
		return out;
	}
	snprintf(out, size, "%s%s%s", lt_json_text(job, "state", "?"),
	    json_is_object(pause) ? " until "
	    : awaited[0]	  ? " for "
				  : "",
	    json_is_object(pause) ? lt_job_time(until, sizeof(until), pause, "until") : awaited);
	return out;
}

void
lt_job_state(char *out, size_t size, const json_t *job, const char *currency)
{
	const bool ended = json_is_true(json_object_get(job, "ended"));
	const bool started = lt_json_text(job, "start", NULL) != NULL;
	char held[64];
	const char *const reason =
	    held_text(held, sizeof(held), job)[0] != '\0' ? held : lt_json_text(job, "reason", "");
	const bool waits = !ended && !started;
	const bool has_reason = waits && reason[0] != '\0' && strcmp(reason, "None") != 0;
	const char *const awaited = lt_json_text(job, "awaited_node", "");
	char start[32], pause[160];

	lt_job_start(start, sizeof(start), job);
	snprintf(out, size, "%s%s%s%s, %s%s%s%s%s%s%s", lt_json_text(job, "state", "?"),
	    has_reason ? " (" : "", has_reason ? reason : "", has_reason ? ")" : "",
	    lt_job_place(job),
	    ended && !started ? ""
	    : waits	      ? " from "
			      : " since ",
	    ended && !started ? "" : start, pause_text(pause, sizeof(pause), job, currency),
	    awaited[0] ? "; it named node " : "", awaited,
	    awaited[0] ? ", which was taken back: it waits until the node is there again" : "");
}

/* The parts of the charge that are not for nodes: " (with $0.01 for carbon,
 * less $0.02 for having waited)"; "" if there are none. */
static const char *
parts_text(char *out, size_t size, const json_t *charged, const char *currency)
{
	int64_t carbon = 0, discount = 0;
	char with[48], less[48];

	lt_json_int(charged, "carbon_charge_micros", &carbon);
	lt_json_int(charged, "discount_micros", &discount);
	out[0] = '\0';
	if (currency[0] == '\0' || (carbon == 0 && discount == 0))
		return out;
	lt_money_text(with, sizeof(with), carbon, currency);
	lt_money_text(less, sizeof(less), discount, currency);
	if (discount == 0)
		snprintf(out, size, " (with %s for carbon)", with);
	else if (carbon == 0)
		snprintf(out, size, " (less %s for having waited)", less);
	else
		snprintf(out, size, " (with %s for carbon, less %s for having waited)", with, less);
	return out;
}

void
lt_job_costs(char *out, size_t size, const json_t *job, const char *currency)
{
	const json_t *const charged = json_object_get(job, "charged");
	const json_t *const so_far = json_object_get(job, "so_far");
	char cost[48], expected[48], saves[48], parts[160];
	bool knows;

	lt_job_expected(expected, sizeof(expected), job, currency);
	lt_job_amount(saves, sizeof(saves), json_object_get(job, "saves"), currency);
	/* A job that has ended has no expected cost. */
	knows = strcmp(expected, "-") != 0 && !json_is_true(json_object_get(job, "ended"));
	if (json_is_object(so_far))
		snprintf(out, size, ", so far %s%s%s%s",
		    lt_job_amount(cost, sizeof(cost), so_far, currency), knows ? " of " : "",
		    knows ? expected : "", knows ? " expected" : "");
	else if (json_is_object(charged))
		snprintf(out, size, ", charged %s%s%s%s",
		    lt_job_amount(cost, sizeof(cost), charged, currency),
		    parts_text(parts, sizeof(parts), charged, currency),
		    strcmp(saves, "-") != 0 ? ", saved " : "",
		    strcmp(saves, "-") != 0 ? saves : "");
	else
		snprintf(out, size, "%s%s", knows ? ", expected " : "", knows ? expected : "");
}

const char *
lt_job_place(const json_t *job)
{
	return lt_json_text(job, "partition", "?");
}
