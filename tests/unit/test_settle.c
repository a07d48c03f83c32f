/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of slurmdbd into charges, for several users and teams: who is charged, whose hold ends, what
 * a changed or damaged row may not do.
 */
#include "daemon.h"
#include "ledger_fixture.h"
#include "log.h"
#include "settle.h"
#include "settling.h"

enum { ADA = 1000, BOB = 1001, SECOND = 1000 /* micros, of a whole node */ };

struct world {
	struct fixture *f;
	struct lt_daemon *d;
	struct lt_policy policy;
	struct lt_policy_partition row;
	struct lt_partition partition;
	struct lt_shape shape;
};

static struct world *
make_world(struct fixture *f)
{
	struct world *const w = calloc(1, sizeof(*w));
	const struct lt_rate_step price = {.start_utc_s = NOVEMBER - HOUR,
	    .end_utc_s = INT64_MAX,
	    .value = 3600000,
	    .quality = LT_QUALITY_CONSTANT};

	assert_non_null(w);
	w->f = f;
	w->d = calloc(1, sizeof(*w->d));
	assert_non_null(w->d);
	w->row = (struct lt_policy_partition){.name = "ondemand"};
	w->policy =
	    (struct lt_policy){.currency = "USD", .partition_count = 1, .partitions = &w->row};
	w->shape = (struct lt_shape){.node_count = 2, .cpus = 64, .gpus = 8, .memory_mib = 512000};
	w->partition = (struct lt_partition){.name = "ondemand",
	    .flags = LT_PARTITION_MANAGED,
	    .shape_count = 1,
	    .node_idle_w = 200,
	    .pue = 1};
	w->d->ledger = f->ledger;
	w->d->site.policy = &w->policy;
	w->d->site.tables.conf.gpus_counted = true;
	w->d->site.tables.conf.shards_counted = true;
	w->d->site.market = (struct lt_market){.partition_count = 1,
	    .partitions = &w->partition,
	    .shape_count = 1,
	    .shapes = &w->shape};
	lt_log_open("/dev/null");
	must(f, lt_ledger_put_rates(
		    f->ledger, "ondemand", LT_RATE_PRICE, &(struct lt_rates){1, &price}, &f->err));
	return w;
}

static void
free_world(struct world *w)
{
	free(w->d);
	free(w);
}

static struct lt_batch_run
make_row(uint32_t job_id, uint32_t uid, const char *account, int64_t start_s, int64_t seconds,
    uint32_t gpus)
{
	struct lt_batch_run row = {.job_id = job_id,
	    .array_task = UINT32_MAX,
	    .uid = uid,
	    .partition = "ondemand",
	    .state_text = "COMPLETED",
	    .finished = true,
	    .submit_utc_s = NOVEMBER + start_s,
	    .start_utc_s = NOVEMBER + start_s,
	    .end_utc_s = NOVEMBER + start_s + seconds,
	    .limit_s = 600,
	    .nodes = 1,
	    .cpus = 1,
	    .gpus = gpus,
	    .has_gpus = gpus > 0,
	    .energy_joules = -1};

	(void)snprintf(row.account, sizeof(row.account), "%s", account);
	(void)snprintf(row.user, sizeof(row.user), "u%u", uid);
	return row;
}

static void
settle_all(struct world *w, const struct lt_batch_run *rows, uint32_t count)
{
	struct lt_batch_run copy[8]; /* they are sorted there */
	struct lt_batch_runs list = {.count = count, .runs = copy};

	assert_true(count >= 1 && count <= 8);
	memcpy(copy, rows, count * sizeof(*rows));
	must(w->f, settle_rows(w->d, &list, NOVEMBER + 10 * HOUR, &w->f->err));
}

static int64_t
sum_of(struct world *w, const char *account, uint32_t uid)
{
	struct lt_account_sum *sums;
	uint32_t count;
	int64_t sum = 0;

	must(w->f, lt_ledger_sums(
		       w->f->ledger, (struct lt_span){0, INT64_MAX}, &sums, &count, &w->f->err));
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(sums[i].account, account) == 0 && sums[i].uid == uid)
			sum += sums[i].money_micros;
	free(sums);
	return sum;
}

/* A hold of the job's owner; its text for the row. */
static char *
hold_for(struct world *w, uint64_t id, uint32_t job_id, uint32_t uid, const char *account,
    int64_t money_micros)
{
	char text[LT_QUOTE_TEXT_SIZE];
	struct lt_ledger_hold hold = make_hold(id, 1);

	hold.uid = uid;
	hold.job_id = job_id;
	hold.quote.hold_per_task.money_micros = money_micros;
	(void)strcpy(hold.quote.partition, "ondemand");
	(void)snprintf(hold.quote.account, sizeof(hold.quote.account), "%s", account);
	must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
	assert_int_equal(lt_quote_pack(text, sizeof(text), &hold.quote), LT_OK);
	return strdup(text);
}

static enum lt_hold_state
state_of(struct world *w, uint64_t id)
{
	struct lt_ledger_hold hold;

	must(w->f, lt_ledger_hold(w->f->ledger, id, &hold, &w->f->err));
	return hold.state;
}

static struct lt_run
run_of(struct world *w, const struct lt_batch_run *row)
{
	struct lt_run run;
	const struct lt_run_key key = {row->job_id, row->submit_utc_s};

	must(w->f, lt_ledger_run(w->f->ledger, key, &run, &w->f->err));
	return run;
}

static void
each_pays_for_his_own(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_run rows[] = {
	    make_row(1, ADA, "vision", 0, 100, 8), make_row(2, BOB, "vision", 0, 100, 4),
	    make_row(3, ADA, "nlp", 50, 100, 1),
	    make_row(4, BOB, "nlp", 50, 0, 8), /* it never ran */
	};

	for (int i = 0; i < 3; i++) { /* however often it is read */
		settle_all(w, rows, 4);
		assert_int_equal(sum_of(w, "vision", ADA), 100 * SECOND);
		assert_int_equal(sum_of(w, "vision", BOB), 50 * SECOND);
		assert_int_equal(sum_of(w, "nlp", ADA), 100 * SECOND / 8);
		assert_int_equal(sum_of(w, "nlp", BOB), 0);
	}
	/* An admin moves a run to another team: all of it, and its owner stays. */
	(void)strcpy(rows[1].account, "nlp");
	settle_all(w, rows, 4);
	assert_int_equal(sum_of(w, "vision", BOB), 0);
	assert_int_equal(sum_of(w, "nlp", BOB), 50 * SECOND);
	assert_int_equal(sum_of(w, "vision", ADA), 100 * SECOND);
	free_world(w);
}

static void
each_run_ends_its_owners_hold(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_run rows[] = {
	    make_row(1, ADA, "vision", 0, 100, 8),
	    make_row(2, BOB, "nlp", 0, 100, 8),
	    make_row(3, BOB, "nlp", 0, 100, 8),
	};
	char *const adas = hold_for(w, 11, 1, ADA, "vision", 100 * SECOND);
	char *const bobs = hold_for(w, 12, 2, BOB, "nlp", 100 * SECOND);

	/* Ada's quote on a run of Bob's is none of his. */
	rows[2].admin_comment = adas;
	settle_all(w, &rows[2], 1);
	assert_int_equal(state_of(w, 11), LT_HOLD_OPEN);
	assert_int_equal(run_of(w, &rows[2]).quote_id, 0);
	/* By its text, and by its job where the text was replaced. */
	rows[0].admin_comment = adas;
	rows[1].admin_comment = (char *)"JS1:Short";
	settle_all(w, rows, 1);
	assert_int_equal(state_of(w, 11), LT_HOLD_SETTLED);
	assert_int_equal(state_of(w, 12), LT_HOLD_OPEN);
	settle_all(w, &rows[1], 1);
	assert_int_equal(state_of(w, 12), LT_HOLD_SETTLED);
	assert_int_equal(run_of(w, &rows[1]).quote_id, 12);
	/* Known once, another's text changes nothing. */
	rows[0].admin_comment = bobs;
	settle_all(w, rows, 1);
	assert_int_equal(run_of(w, &rows[0]).quote_id, 11);
	/* Job ids begin again: the old owner's hold is not the new one's. */
	struct lt_batch_run later = make_row(1, BOB, "nlp", 5000, 10, 8);
	settle_all(w, &later, 1);
	assert_int_equal(run_of(w, &later).quote_id, 0);
	free(adas);
	free(bobs);
	free_world(w);
}

/* settle_all() is ten hours after the month began. */
static void
hours_to_come_are_not_priced_again(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_rate_step dear = {.start_utc_s = NOVEMBER,
	    .end_utc_s = INT64_MAX,
	    .value = 7200000,
	    .quality = LT_QUALITY_MEASURED};
	const struct lt_batch_run rows[] = {
	    make_row(1, ADA, "vision", 10 * HOUR - 200, 100, 8),
	    make_row(2, BOB, "vision", 10 * HOUR - 50, 100, 8),
	};

	settle_all(w, rows, 2);
	must(w->f, lt_ledger_put_rates(w->f->ledger, "ondemand", LT_RATE_PRICE,
		       &(struct lt_rates){1, &dear}, &w->f->err));
	settle_all(w, rows, 2);
	assert_int_equal(sum_of(w, "vision", ADA), 200 * SECOND);
	assert_int_equal(sum_of(w, "vision", BOB), 100 * SECOND);
	free_world(w);
}

static void
a_row_that_changes(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_run row = make_row(1, ADA, "vision", 0, 100, 8);

	/* It still runs: its end is only its limit. */
	row.finished = false;
	settle_all(w, &row, 1);
	assert_int_equal(sum_of(w, "vision", ADA), 0);
	row.finished = true;
	settle_all(w, &row, 1);
	/* Rewritten at a requeue: its end had been. */
	row.end_utc_s += 500;
	settle_all(w, &row, 1);
	assert_int_equal(sum_of(w, "vision", ADA), 100 * SECOND);
	/* Earlier is a correction. */
	row.end_utc_s -= 540;
	settle_all(w, &row, 1);
	assert_int_equal(sum_of(w, "vision", ADA), 60 * SECOND);
	/* Ended once more, by a slurmctld that had forgotten it. */
	struct lt_batch_run small = make_row(2, BOB, "vision", 0, 64, 0);
	settle_all(w, &small, 1);
	small.cpus = 0;
	settle_all(w, &small, 1);
	assert_int_equal(sum_of(w, "vision", BOB), SECOND);
	assert_int_equal(run_of(w, &small).cpus, 1);
	/* 40 of 60 s suspended: the GPUs stay its own. */
	row.suspended_s = 40;
	row.gpus = 4;
	row.cpus = 64;
	settle_all(w, &row, 1);
	assert_int_equal(sum_of(w, "vision", ADA), 20 * SECOND + 40 * SECOND / 2);
	free_world(w);
}

/* slurmdbd had its end before its start: nobody knew whose it was. */
static void
a_start_that_comes_late(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_run row = make_row(9, 0, "vision", 0, 100, 8);

	settle_all(w, &row, 1);
	assert_int_equal(sum_of(w, "vision", 0), 100 * SECOND);
	assert_true(w->d->budget.dirty);
	row.uid = ADA;
	settle_all(w, &row, 1);
	assert_int_equal(sum_of(w, "vision", 0), 0);
	assert_int_equal(sum_of(w, "vision", ADA), 100 * SECOND);
	row.array_job_id = 8;
	row.array_task = 0;
	settle_all(w, &row, 1);
	settle_all(w, &row, 1);
	assert_int_equal(sum_of(w, "vision", ADA), 100 * SECOND);
	assert_int_equal(run_of(w, &row).array_job_id, 8);
	assert_int_equal(run_of(w, &row).array_task, 0);
	free_world(w);
}

/* The same row, another price: only who prices again sees it. */
static void
a_price_that_changes(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_batch_run rows[] = {
	    make_row(1, ADA, "vision", 0, 100, 8),
	    make_row(2, BOB, "vision", 0, 100, 8),
	};
	struct lt_rate_step twice = {.start_utc_s = NOVEMBER - HOUR,
	    .end_utc_s = NOVEMBER + HOUR,
	    .value = 7200000,
	    .quality = LT_QUALITY_MEASURED};

	settle_all(w, rows, 2);
	must(w->f, lt_ledger_put_rates(w->f->ledger, "ondemand", LT_RATE_PRICE,
		       &(struct lt_rates){1, &twice}, &w->f->err));
	settle_all(w, rows, 1);
	assert_int_equal(sum_of(w, "vision", ADA), 200 * SECOND);
	assert_int_equal(sum_of(w, "vision", BOB), 100 * SECOND);
	free_world(w);
}

/* 32 shards on the node's 8 GPUs; AllocTRES of a job with 8 of them. */
static void
shards_of_gpus(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_run row = make_row(1, ADA, "vision", 0, 100, 0);
	struct lt_batch_run unseen = make_row(2, BOB, "vision", 0, 100, 0);
	struct lt_batch_run seen = make_row(3, BOB, "nlp", 0, 100, 0);
	const struct lt_run_key key = {3, NOVEMBER};

	w->shape.shards = 32;
	row.cpus = unseen.cpus = seen.cpus = 1;
	row.shards = 8;
	row.has_gpus = true;
	settle_all(w, &row, 1);
	assert_int_equal(run_of(w, &row).shards, 8);
	assert_int_equal(sum_of(w, "vision", ADA), 25 * SECOND);
	/* Where slurmdbd does not count them. */
	w->d->site.tables.conf.shards_counted = false;
	must(w->f, lt_ledger_put_gpus(w->f->ledger, key, (struct lt_run_gpus){.shards = 16},
		       NOVEMBER, &w->f->err));
	settle_all(w, &unseen, 1);
	assert_false(run_of(w, &unseen).priced);
	settle_all(w, &seen, 1);
	assert_int_equal(run_of(w, &seen).gpus_from, LT_GPUS_SLURMCTLD);
	assert_int_equal(sum_of(w, "nlp", BOB), 50 * SECOND);
	free_world(w);
}

static void
gpus_that_nobody_counts(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_run row = make_row(1, ADA, "vision", 0, 100, 0);
	struct lt_batch_run seen = make_row(2, BOB, "vision", 0, 100, 0);
	const struct lt_run_key key = {2, NOVEMBER};

	w->d->site.tables.conf.gpus_counted = false;
	must(w->f, lt_ledger_put_gpus(
		       w->f->ledger, key, (struct lt_run_gpus){.gpus = 4}, NOVEMBER, &w->f->err));
	settle_all(w, &row, 1);
	settle_all(w, &seen, 1);
	assert_false(run_of(w, &row).priced);
	assert_int_equal(run_of(w, &row).gpus_from, LT_GPUS_UNKNOWN);
	assert_int_equal(sum_of(w, "vision", ADA), 0);
	assert_int_equal(run_of(w, &seen).gpus_from, LT_GPUS_SLURMCTLD);
	assert_int_equal(sum_of(w, "vision", BOB), 50 * SECOND);
	/* Nodes without GPUs have nothing to count. */
	w->shape.gpus = 0;
	struct lt_batch_run plain = make_row(3, ADA, "nlp", 0, 64, 0);
	settle_all(w, &plain, 1);
	assert_int_equal(sum_of(w, "nlp", ADA), SECOND);
	free_world(w);
}

/* Rows of before GPUs were looked for, and of after they are counted. */
static void
gpus_counted_since(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_run old = make_row(1, ADA, "vision", 0, 128, 0);
	struct lt_batch_run lost = make_row(2, BOB, "vision", 0, 128, 0);

	settle_all(w, &old, 1); /* charged for its one CPU */
	assert_int_equal(sum_of(w, "vision", ADA), 2 * SECOND);
	w->d->site.tables.conf.gpus_counted = false;
	settle_all(w, &lost, 1);
	for (int i = 0; i < 2; i++) {
		settle_all(w, &old, 1);
		settle_all(w, &lost, 1);
		assert_int_equal(sum_of(w, "vision", ADA), 2 * SECOND);
		assert_int_equal(run_of(w, &old).gpus_from, LT_GPUS_SLURMDBD);
		/* What nobody counted then is not 0 now. */
		assert_int_equal(sum_of(w, "vision", BOB), 0);
		assert_false(run_of(w, &lost).priced);
		assert_int_equal(run_of(w, &lost).gpus_from, LT_GPUS_UNKNOWN);
		w->d->site.tables.conf.gpus_counted = true;
	}
	free_world(w);
}

/* Rows of one run: the hold's share ends with the last. */
static void
a_run_that_is_resized(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_run rows[] = {
	    make_row(1, ADA, "vision", 0, 100, 8),
	    make_row(1, ADA, "vision", 100, 50, 8),
	};
	char *const text = hold_for(w, 11, 1, ADA, "vision", 600 * SECOND);

	rows[0].admin_comment = rows[1].admin_comment = text;
	rows[0].goes_on = rows[1].resized = true;
	settle_all(w, &rows[0], 1);
	assert_int_equal(sum_of(w, "vision", ADA), 100 * SECOND);
	assert_int_equal(state_of(w, 11), LT_HOLD_OPEN);
	settle_all(w, rows, 2);
	assert_int_equal(sum_of(w, "vision", ADA), 150 * SECOND);
	assert_int_equal(state_of(w, 11), LT_HOLD_SETTLED);
	free(text);
	free_world(w);
}

/* The row after a resize, as 24.11 writes it: its GPUs are those last seen, unless the row before
 * is another's or had ended. */
static void
gpus_of_a_resized_run(void **state)
{
	static const struct {
		const char *ended;
		uint32_t uid;
		bool priced;
	} cases[] = {{"RESIZING", ADA, true}, {"COMPLETED", ADA, false}, {"RESIZING", BOB, false}};
	struct world *const w = make_world(*state);

	w->d->site.tables.conf.gpus_counted = false;
	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t id = 40 + i;
		struct lt_batch_run rows[] = {
		    make_row(id, cases[i].uid, "vision", 0, 100, 0),
		    make_row(id, ADA, "vision", 100, 50, 0),
		};
		const struct lt_run_key key = {id, NOVEMBER};
		const struct lt_run_gpus eight = {.gpus = 8};

		(void)strcpy(rows[0].state_text, cases[i].ended);
		rows[0].goes_on = true;
		must(w->f, lt_ledger_put_gpus(w->f->ledger, key, eight, NOVEMBER, &w->f->err));
		settle_all(w, rows, 2);
		assert_int_equal(run_of(w, &rows[0]).money_micros, 100 * SECOND);
		assert_int_equal(run_of(w, &rows[1]).priced, cases[i].priced);
		assert_int_equal(
		    run_of(w, &rows[1]).money_micros, cases[i].priced ? 50 * SECOND : 0);
	}
	free_world(w);
}

static void
above_its_hold(void **state)
{
	static const struct {
		const char *why;
		int64_t held, seconds, limit_s;
		uint32_t gpus;
		const char *reason;
	} cases[] = {
	    {"within", 600 * SECOND, 600, 600, 8, ""},
	    {"longer than its limit", 600 * SECOND, 660, 600, 8, "OverTimeLimit"},
	    {"more time than was held", 600 * SECOND, 700, 900, 8, "admin"},
	    {"a share that was not paid for", 75 * SECOND, 600, 600, 8, "size"},
	};
	struct world *const w = make_world(*state);

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t id = 20 + i;
		struct lt_batch_run row = make_row(
		    30 + i, i % 2 ? ADA : BOB, "vision", 0, cases[i].seconds, cases[i].gpus);
		char *const text = hold_for(w, id, row.job_id, row.uid, "vision", cases[i].held);
		const struct lt_amount held = {.has_money = true, .money_micros = cases[i].held};
		const struct lt_admission admission = {
		    .admitted = held, .price = 3600000, .limit_s = 600};

		must(
		    w->f, lt_ledger_put_admission(w->f->ledger, id, &held, &admission, &w->f->err));
		print_message("%s\n", cases[i].why);
		row.limit_s = cases[i].limit_s;
		row.admin_comment = text;
		settle_all(w, &row, 1);
		assert_string_equal(run_of(w, &row).over_reason, cases[i].reason);
		/* And again: what was found stays. */
		settle_all(w, &row, 1);
		assert_string_equal(run_of(w, &row).over_reason, cases[i].reason);
		free(text);
	}
	free_world(w);
}

/* After a quiet year as after a busy hour: a day at most, an hour or so at least. */
static void
windows_are_a_day_at_most(void **state)
{
	int64_t window_s = LT_DAY_S;

	(void)state;
	for (int i = 0; i < 365; i++)
		window_s = lt_settle_window(window_s, 0, LT_SETTLE_ROWS);
	assert_int_equal(window_s, LT_DAY_S);
	window_s = lt_settle_window(window_s, 100000, LT_SETTLE_ROWS);
	assert_int_equal(window_s, LT_DAY_S / 2);
	assert_int_equal(lt_settle_window(window_s, 10000, LT_SETTLE_ROWS), window_s);
	for (int i = 0; i < 365; i++)
		window_s = lt_settle_window(window_s, 100000, LT_SETTLE_ROWS);
	assert_in_range(window_s, 30, 60);
	assert_int_equal(lt_settle_window(window_s, 0, LT_SETTLE_ROWS), 2 * window_s);
	assert_int_equal(lt_settle_first_window(0), LT_DAY_S);
	assert_int_equal(lt_settle_first_window(100), LT_DAY_S);
	assert_int_equal(lt_settle_first_window(32000), LT_HOUR_S / 2);
	assert_int_equal(lt_settle_first_window(INT64_MAX), 60);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(windows_are_a_day_at_most),
	    EACH(each_pays_for_his_own),
	    EACH(each_run_ends_its_owners_hold),
	    EACH(hours_to_come_are_not_priced_again),
	    EACH(a_row_that_changes),
	    EACH(a_start_that_comes_late),
	    EACH(a_price_that_changes),
	    EACH(gpus_that_nobody_counts),
	    EACH(gpus_counted_since),
	    EACH(a_run_that_is_resized),
	    EACH(gpus_of_a_resized_run),
	    EACH(shards_of_gpus),
	    EACH(above_its_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
