/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lt_replan() says of jobs that wait, from the market that the plugins have and from the jobs'
 * own quotes: to compare with what lowtided did. Jobs of one CPU where there is room for all.
 *
 *   decide_again MARKET FIGURES NOW < LINES
 *
 * FIGURES: of kinds of runs by name, a line each: hash, runs, median, upper, is that the longest,
 * low, high. A line in: job id, time limit (s), submission (s), text with a quote. A line out: job
 * id, why (keep, better, ...), partition and start, the new ones or those that stand.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "quote.h"
#include "replan.h"
#include "units.h"

enum { KINDS = 64 };

static struct lt_market market;
static struct kind {
	uint64_t hash;
	struct lt_history_figures figures;
} kinds[KINDS];

static void
fail(const char *what, const struct lt_error *err)
{
	fprintf(stderr, "decide_again: %s: %s\n", what, err->text);
	exit(1);
}

static void
read_figures(const char *path)
{
	FILE *const file = fopen(path, "re");
	int longest, count = 0;
	int64_t hash;

	if (file == NULL) {
		perror(path);
		exit(1);
	}
	for (struct kind *k = kinds; count < KINDS; k++, count++) {
		struct lt_history_figures *const f = &k->figures;

		if (fscanf(file,
			"%" SCNd64 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %d %" SCNu32 " %" SCNu32,
			&hash, &f->runs, &f->median, &f->upper, &longest, &f->low, &f->high) != 7)
			break;
		k->hash = (uint64_t)hash;
		f->upper_is_longest = longest != 0;
	}
	fclose(file);
}

/* What has run by now counts, not what had when the job was submitted. */
static struct lt_expected
learned(const struct lt_quote_run *run, int64_t limit_s)
{
	const struct lt_run_kind kind = {
	    .account = "", .name = "", .hash = run->kind, .limit_s = limit_s};
	const uint64_t hash = lt_history_key(&kind, LT_HISTORY_NAME).hash;
	struct lt_history_figures groups[LT_HISTORY_GROUPS] = {0};
	struct lt_expected expected;

	for (int i = 0; i < KINDS; i++)
		if (kinds[i].hash == hash)
			groups[LT_HISTORY_NAME] = kinds[i].figures;
	expected = lt_history_expect(groups, limit_s);
	return expected.expected_s > 0 ? expected : run->expected;
}

static struct lt_request
request_of(const struct lt_quote *quote, int64_t limit_s, int64_t submit_utc_s)
{
	struct lt_quote_run run = {.expected.from = LT_HISTORY_NONE};
	struct lt_request request = {.account = "vision",
	    .qos = "normal",
	    .min_nodes = 1,
	    .max_nodes = 1,
	    .tasks = 1,
	    .cpus = 1,
	    .array_tasks = 1,
	    .limit_s = limit_s,
	    .objective = quote->objective,
	    .home = lt_market_partition(&market, quote->home),
	    .latest_utc_s = submit_utc_s + market.max_delay_s};

	lt_wish_lay(&request, &quote->wish);
	(void)lt_quote_run_unpack(&run, quote->run, strlen(quote->run), NULL);
	request.learned = learned(&run, limit_s);
	if (!quote->wish.movable) {
		request.pins |= LT_PIN_PARTITION;
		request.home = lt_market_partition(&market, quote->partition);
	}
	return request;
}

static void
again(uint32_t job_id, const struct lt_quote *quote, const struct lt_request *request,
    int64_t now_utc_s)
{
	static struct lt_replanned out;
	struct lt_error err = {0};
	struct lt_replan of = {.request = request,
	    .market = &market,
	    .partition = lt_market_partition(&market, quote->partition),
	    .start_utc_s = quote->plan_start_utc_s,
	    .now_utc_s = now_utc_s};

	if (lt_replan(&out, &of, &err) != LT_OK)
		fail("lt_replan", &err);
	const bool keeps = out.why == LT_REPLAN_KEEP;
	printf("%" PRIu32 " %s %s %" PRId64 "\n", job_id, lt_replan_word(out.why),
	    keeps ? quote->partition : market.partitions[out.plan.chosen.partition].name,
	    keeps ? quote->plan_start_utc_s : out.plan.chosen.start_utc_s);
}

int
main(int argc, char **argv)
{
	static char line[LT_QUOTE_TEXT_SIZE + 256];
	struct lt_error err = {0};
	int64_t now_utc_s;

	if (argc != 4 || lt_int64_parse(argv[3], 0, INT64_MAX, &now_utc_s, &err) != LT_OK) {
		fprintf(stderr, "usage: decide_again MARKET FIGURES NOW < LINES\n");
		return 2;
	}
	read_figures(argv[2]);
	if (lt_market_load(&market, argv[1], NULL, &err) != LT_OK)
		fail(argv[1], &err);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		int64_t limit_s, submit_utc_s;
		struct lt_quote quote;
		uint32_t job_id;

		if (sscanf(line, "%" SCNu32 " %" SCNd64 " %" SCNd64, &job_id, &limit_s,
			&submit_utc_s) != 3 ||
		    lt_quote_unpack(&quote, line, strlen(line), &err) != LT_OK)
			fail("a line", &err);
		const struct lt_request request = request_of(&quote, limit_s, submit_utc_s);

		again(job_id, &quote, &request, now_utc_s);
	}
	lt_market_free(&market);
	return 0;
}
