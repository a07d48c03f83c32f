/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A partition that left the policy: its last facts, for what ran there, and texts that were
 * damaged.
 */
#include "daemon.h"
#include "ledger_fixture.h"
#include "log.h"
#include "price.h"

static void
texts(void **state)
{
	static const char *const damaged[] = {"", "1 2 3", "1 2 3 4 5 0 64", "1 2 3 4 5 0 64:8",
	    "1 2 3 4 5 0 64:8:x", "1 2 3 4 5 0 64:8:9", "1 2 3 4 5 0 64:8:9:x",
	    "1 2 3 4 5 0 64:8:9:0:m1", "x 2 3 4 5 0 64:8:9:0"};
	struct lt_place place = {.idle_w = 200.1,
	    .cpu_w = 288,
	    .gpu_w = 2400,
	    .pue = 1.15,
	    .embodied_g_per_node_hour = 1e-3,
	    .exclusive = true,
	    .shape_count = LT_PLACE_SHAPES_MAX};
	struct lt_place back;
	char text[4096], again[4096];

	(void)state;

	for (uint32_t i = 0; i < place.shape_count; i++)
		place.shapes[i] = (struct lt_shape){
		    .cpus = 64 + i, .gpus = i % 9, .shards = 4 * i, .memory_mib = 512000};
	place.shapes[7].exact = (struct lt_exact){71500, 524288001, 8142857};
	lt_place_pack(text, sizeof(text), &place);
	assert_true(lt_place_unpack(&back, text));
	assert_true(back.known && back.exclusive);
	assert_true(back.pue == 1.15 && back.idle_w == 200.1);
	assert_int_equal(back.shapes[63].cpus, 127);
	assert_int_equal(back.shapes[63].shards, 252);
	assert_int_equal(back.shapes[7].exact.cpu_milli, 71500);
	assert_int_equal(back.shapes[7].exact.memory_kib, 524288001);
	assert_int_equal(back.shapes[7].exact.gpu_micro, 8142857);
	assert_int_equal(back.shapes[8].exact.cpu_milli, 0);
	lt_place_pack(again, sizeof(again), &back);
	assert_string_equal(text, again);
	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++)
		assert_false(lt_place_unpack(&back, damaged[i]));
}

static void
what_left_keeps_its_facts(void **state)
{
	struct fixture *const f = *state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_partition partition = {.name = "spot",
	    .flags = LT_PARTITION_MANAGED,
	    .shape_count = 1,
	    .node_idle_w = 200,
	    .pue = 1.5};
	struct lt_shape shape = {.cpus = 64, .gpus = 8, .memory_mib = 512000};
	struct lt_policy_partition row = {.name = "spot"};
	struct lt_policy policy = {.partition_count = 1, .partitions = &row};
	struct lt_place place;
	struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, 100);

	assert_non_null(d);
	d->ledger = f->ledger;
	d->site.policy = &policy;
	d->site.market = (struct lt_market){
	    .partition_count = 1, .partitions = &partition, .shape_count = 1, .shapes = &shape};
	lt_log_open("/dev/null");
	must(f, lt_places_note(&d->site.market, d->ledger, d->site.policy, NOVEMBER, &f->err));
	lt_place_of(&place, &d->site.market, d->ledger, "spot");
	assert_true(place.known && place.left_utc_s == 0 && place.pue == 1.5);
	/* The policy has it no more; Slurm has. */
	policy.partition_count = 0;
	partition.flags = 0;
	partition.node_idle_w = 0;
	partition.pue = 1;
	must(
	    f, lt_places_note(&d->site.market, d->ledger, d->site.policy, NOVEMBER + 100, &f->err));
	must(
	    f, lt_places_note(&d->site.market, d->ledger, d->site.policy, NOVEMBER + 200, &f->err));
	lt_place_of(&place, &d->site.market, d->ledger, "spot");
	assert_true(place.known && place.pue == 1.5 && place.idle_w == 200);
	assert_int_equal(place.left_utc_s, NOVEMBER + 100);
	assert_int_equal(place.shapes[0].gpus, 8);
	assert_true(lt_place_charges(&place, &run, d->ledger));
	run.start_utc_s = NOVEMBER + 100; /* in the second in which it left */
	assert_true(lt_place_charges(&place, &run, d->ledger));
	run.start_utc_s = NOVEMBER + 101; /* submitted before it is not enough */
	assert_true(run.key.submit_utc_s < place.left_utc_s);
	assert_false(lt_place_charges(&place, &run, d->ledger));
	/* A second run of what was promised before it left. */
	struct lt_ledger_hold hold = make_hold(9, 1);
	hold.made_utc_s = NOVEMBER + 50;
	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	run.quote_id = 9;
	assert_true(lt_place_charges(&place, &run, d->ledger));
	hold.quote.rev++;
	hold.made_utc_s = NOVEMBER + 100; /* in the pass in which it left */
	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	assert_true(lt_place_charges(&place, &run, d->ledger));
	hold.quote.rev++;
	hold.made_utc_s = NOVEMBER + 101;
	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	assert_false(lt_place_charges(&place, &run, d->ledger));
	/* Slurm has it no more either. */
	d->site.market.partition_count = 0;
	lt_place_of(&place, &d->site.market, d->ledger, "spot");
	assert_true(place.known && place.shape_count == 1);
	lt_place_of(&place, &d->site.market, d->ledger, "never");
	assert_false(place.known);
	assert_int_equal(place.left_utc_s, 0);
	/* And back. */
	d->site.market.partition_count = 1;
	policy.partition_count = 1;
	partition.flags = LT_PARTITION_MANAGED;
	must(
	    f, lt_places_note(&d->site.market, d->ledger, d->site.policy, NOVEMBER + 300, &f->err));
	lt_place_of(&place, &d->site.market, d->ledger, "spot");
	assert_int_equal(place.left_utc_s, 0);
	free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(texts), EACH(what_left_keeps_its_facts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
