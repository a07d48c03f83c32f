/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Charges as lowtided makes them in two partitions, reported as an auditor asks for them.
 */
#ifndef LT_TEST_CARBON_FIXTURE_H
#define LT_TEST_CARBON_FIXTURE_H

#include <jansson.h>

#include "api_ask.h"
#include "ledger_fixture.h"
#include "log.h"
#include "settling.h"

enum { PARTITIONS = 2 };

static struct lt_account accounts[] = {{.name = "nlp"}, {.name = "vision"}};
static const char *const names[PARTITIONS] = {"cloud", "onprem"};

static const struct lt_adapter grid_adapter = {
    .name = "grid_api", .version = "API v9, with imports"};

struct world {
	struct fixture *f;
	struct lt_daemon *d;
	uint64_t random;
	struct lt_policy policy;
	struct lt_policy_partition of_policy[PARTITIONS];
	struct lt_partition partitions[PARTITIONS];
	struct lt_shape shapes[PARTITIONS];
	struct lt_policy_source source_policy;
	struct lt_source source;
};

static inline void
put(struct world *w, int partition, enum lt_rate rate, int64_t from_utc_s, double value,
    const char *source)
{
	struct lt_rate_step step = {.start_utc_s = from_utc_s,
	    .end_utc_s = INT64_MAX,
	    .value = value,
	    .quality = LT_QUALITY_CONSTANT};

	strcpy(step.source, source);
	must(w->f, lt_ledger_put_rates(w->f->ledger, names[partition], rate,
		       &(struct lt_rates){1, &step}, &w->f->err));
}

static inline struct world *
make_world(struct fixture *f)
{
	struct world *const w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->f = f;
	w->d = calloc(1, sizeof(*w->d));
	assert_non_null(w->d);
	w->policy = (struct lt_policy){
	    .currency = "USD", .partition_count = PARTITIONS, .partitions = w->of_policy};
	for (int i = 0; i < PARTITIONS; i++) {
		strcpy(w->of_policy[i].name, names[i]);
		w->shapes[i] =
		    (struct lt_shape){.node_count = 9, .cpus = 64, .gpus = 8, .memory_mib = 1};
		w->partitions[i] = (struct lt_partition){.flags = LT_PARTITION_MANAGED,
		    .first_shape = (uint32_t)i,
		    .shape_count = 1,
		    .node_idle_w = 1000,
		    .node_gpu_w = 1e-6, /* known, and as good as none */
		    .pue = 1.25,
		    .embodied_g_per_node_hour = i == 1 ? 40 : 0};
		strcpy(w->partitions[i].name, names[i]);
		put(w, i, LT_RATE_PRICE, 1, 3600000, "");
	}
	strcpy(w->source_policy.name, "grid");
	w->source = (struct lt_source){.policy = &w->source_policy,
	    .adapter = &grid_adapter,
	    .options = {.count = 1, .items = {{.key = "region", .value = "13"}}}};
	w->d->ledger = f->ledger;
	w->d->site.policy = &w->policy;
	w->d->site.tables.conf.gpus_counted = true;
	w->d->site.market = (struct lt_market){.partition_count = PARTITIONS,
	    .partitions = w->partitions,
	    .shape_count = PARTITIONS,
	    .shapes = w->shapes};
	w->d->signals = (struct lt_signals_state){.source_count = 1, .sources = &w->source};
	w->d->budget.has_snapshot = true;
	w->d->charges.settled_until_utc_s = INT64_MAX / 2;
	w->d->budget.snapshot.accounts = accounts;
	w->d->budget.snapshot.account_count = sizeof(accounts) / sizeof(accounts[0]);
	lt_log_open("/dev/null");
	return w;
}

static inline void
free_world(struct world *w)
{
	free(w->d);
	free(w);
}

static inline struct lt_batch_run
make_row(uint32_t job_id, int partition, int64_t start_s, int64_t seconds)
{
	struct lt_batch_run row = {.job_id = job_id,
	    .array_task = UINT32_MAX,
	    .uid = UID,
	    .account = "vision",
	    .user = "ada",
	    .state_text = "COMPLETED",
	    .finished = true,
	    .submit_utc_s = NOVEMBER + start_s,
	    .start_utc_s = NOVEMBER + start_s,
	    .end_utc_s = NOVEMBER + start_s + seconds,
	    .limit_s = 600,
	    .nodes = 1,
	    .cpus = 64,
	    .gpus = 8,
	    .has_gpus = true,
	    .energy_joules = -1};

	strcpy(row.partition, names[partition]);
	return row;
}

static inline void
settle_row(struct world *w, const struct lt_batch_run *row, int64_t now_utc_s)
{
	struct lt_batch_run copy = *row;
	struct lt_batch_runs list = {.count = 1, .runs = &copy};

	must(w->f, settle_rows(w->d, &list, now_utc_s, &w->f->err));
}

static inline json_t *
ask(struct world *w, const char *query, int want)
{
	char uri[256];

	snprintf(uri, sizeof(uri), "/v1/report?%s", query);
	json_t *const json = api_ask(w->d, uri, want);
	return json;
}

static inline json_t *
carbon_of(json_t *report)
{
	return json_object_get(report, "carbon");
}

static inline int64_t
figure(const json_t *row, const char *key)
{
	if (!json_is_integer(json_object_get(row, key)))
		fail_msg("%s is no integer", key);
	return json_integer_value(json_object_get(row, key));
}

static inline const char *
text_of(const json_t *row, const char *key)
{
	const char *const text = json_string_value(json_object_get(row, key));

	return text != NULL ? text : "null";
}

static inline bool
is_null(const json_t *row, const char *key)
{
	return json_is_null(json_object_get(row, key));
}

#endif
