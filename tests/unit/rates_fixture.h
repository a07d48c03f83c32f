/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A policy that is loaded at a time, and what is recorded for charges then. */
#ifndef LT_TEST_RATES_FIXTURE_H
#define LT_TEST_RATES_FIXTURE_H

#include "daemon.h"
#include "ledger_fixture.h"
#include "log.h"
#include "nodes_there.h"
#include "policy_follow.h"
#include "policy_load.h"
#include "rates.h"

static const int64_t now = NOVEMBER + 30 * LT_HOUR_S;

struct site {
	struct lt_daemon d;
	char path[64];
};

static inline void
load(struct site *site, const char *text, int64_t now_utc_s)
{
	struct lt_error err = {0};
	FILE *const file = fopen(site->path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	if (lt_daemon_load_policy(&site->d, now_utc_s, &err) != LT_OK)
		fail_msg("%s", err.text);
}

static inline struct site *
site_new(struct fixture *f)
{
	struct site *const site = calloc(1, sizeof(*site));

	assert_non_null(site);
	strcpy(site->path, "/tmp/lowtide-rates.XXXXXX");
	close(mkstemp(site->path));
	lt_log_open("/dev/null");
	site->d.ledger = f->ledger;
	site->d.args.config = site->path;
	return site;
}

static inline void
site_free(struct site *site)
{
	lt_policy_drop(&site->d.site, &site->d.signals);
	free(site->d.site.rates.recorded);
	lt_there_free(site->d.site.there);
	unlink(site->path);
	free(site);
}

static inline void
record(struct site *site, int64_t now_utc_s)
{
	struct lt_error err = {0};

	if (lt_rates_record(&site->d.site, &site->d.signals, site->d.ledger, &site->d.jobs.list,
		now_utc_s, &err) != LT_OK)
		fail_msg("%s", err.text);
}

static inline struct lt_rate_step
step_at(struct site *site, enum lt_rate rate, int64_t utc_s)
{
	struct lt_rate_step *steps, step = {.quality = LT_QUALITY_NONE};
	uint32_t count;

	assert_int_equal(
	    lt_ledger_rates(site->d.ledger, &(struct lt_rates_asked){"a", rate, {utc_s, utc_s + 1}},
		&steps, &count, NULL),
	    LT_OK);
	if (count == 1)
		step = steps[0];
	free(steps);
	return step;
}

#endif
