/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A closing that was undone leaves no trace in figures: a ledger of random runs, whose months were
 * closed, opened and closed again, against one with the same runs in which each month was closed
 * once, at the end.
 */
#include "periods.h"
#include "report_world.h"

static json_t *
post(struct world *w, lt_api_function *answer, json_t *body, int want)
{
	struct lt_policy policy = {.currency = "USD"};
	struct lt_daemon *const d = daemon_of(w, &policy);
	json_t *reply = NULL;

	const int status = answer(d,
	    &(struct lt_api_request){.body = body, .is_admin = true, .now_utc_s = w->now_utc_s},
	    &reply);
	if (status != want)
		fail_msg("%d, want %d: %s", status, want,
		    json_string_value(json_object_get(reply, "error")));
	w->closed_until_utc_s = lt_ledger_closed_until(w->f->ledger);
	json_decref(body);
	free(d);
	return reply;
}

static json_t *
close_period(struct world *w, const char *label, int want)
{
	return post(w, lt_api_close, json_pack("{s:s}", "period", label), want);
}

static json_t *
open_period(struct world *w, const char *label, const char *reason, int want)
{
	return post(
	    w, lt_api_reopen, json_pack("{s:s,s:s}", "period", label, "reason", reason), want);
}

static const char *
text_of(const json_t *json, const char *key)
{
	return json_string_value(json_object_get(json, key));
}

static void
says(const json_t *refused, const char *wanted)
{
	const char *const error = text_of(refused, "error");

	if (strstr(error, wanted) == NULL)
		fail_msg("\"%s\" says nothing of \"%s\"", error, wanted);
}

/* New runs up to that one; of those before it some are priced otherwise, some are another
 * account's, and some are longer. */
static void
live(struct world *w, uint32_t *next, uint32_t until)
{
	for (uint32_t i = 0; i < *next; i++) {
		struct lt_run *const run = &w->runs[i];

		switch (draw(w, 8)) {
		case 0:
			run->money_micros += 1 + draw(w, 500);
			break;
		case 1:
			strcpy(run->account, accounts[draw(w, ACCOUNTS)].name);
			break;
		case 2:
			if (run->end_utc_s - run->start_utc_s < 50 * HOUR)
				run->end_utc_s += draw(w, 3 * HOUR);
			break;
		default:
			continue;
		}
		settle_run(w, run);
	}
	while (*next < until)
		new_run(w, (*next)++);
}

struct dump {
	char *text;
	size_t size;
	FILE *out;
};

static int
dump_row(void *context, int count, char **cells, char **names)
{
	struct dump *const dump = context;

	(void)names;
	for (int i = 0; i < count; i++)
		fprintf(dump->out, "%s|", cells[i] != NULL ? cells[i] : "-");
	fputc('\n', dump->out);
	return 0;
}

static char *
dump_of(struct fixture *f, const char *sql)
{
	struct dump dump = {.text = NULL};
	char path[128];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/ledger.db", f->dir);
	dump.out = open_memstream(&dump.text, &dump.size);
	assert_non_null(dump.out);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, dump_row, &dump, NULL), SQLITE_OK);
	sqlite3_close(db);
	fclose(dump.out);
	return dump.text;
}

static void
same_tables(struct fixture *a, struct fixture *b, uint32_t seed)
{
	static const char *const tables[] = {
	    "SELECT job_id, submit_utc_s, for_utc_s, made_utc_s, account, kind,"
	    " uid, at_utc_s, money_micros, carbon_mg, energy_wh,"
	    " base_money_micros, base_carbon_mg, carbon_charge_micros,"
	    " discount_micros FROM entries"
	    " ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
	    "SELECT * FROM days ORDER BY 1, 2, 3, 4", "SELECT * FROM closed ORDER BY 1, 2",
	    "SELECT * FROM closed_rows ORDER BY 1, 2, 3"};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		char *const one = dump_of(a, tables[i]);
		char *const other = dump_of(b, tables[i]);
		size_t at = 0;

		while (one[at] != '\0' && one[at] == other[at])
			at++;
		if (one[at] != other[at])
			fail_msg("seed %u, %.40s:\n%.200s\nnever opened:\n%.200s", seed, tables[i],
			    one + (at > 80 ? at - 80 : 0), other + (at > 80 ? at - 80 : 0));
		assert_true(at > 100);
		free(one);
		free(other);
	}
}

/* All that a report says but that it was opened. */
static void
same_reports(struct world *a, struct world *b, uint32_t seed)
{
	static const char *const queries[] = {
	    "period=2026-10&runs=all&by=user,partition&corrections=1",
	    "period=2026-11&runs=all&by=user,partition&corrections=1",
	    "period=2026-12&runs=all&by=user,partition&corrections=1"};

	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		json_t *const one = ask(a, queries[i]);
		json_t *const other = ask(b, queries[i]);

		json_object_del(json_object_get(one, "period"), "reopened");
		json_object_del(json_object_get(other, "period"), "reopened");
		json_object_del(one, "as_of");
		json_object_del(other, "as_of");
		if (!json_equal(one, other))
			fail_msg("seed %u, %s:\n%s\nnever opened:\n%s", seed, queries[i],
			    json_dumps(one, JSON_INDENT(1)), json_dumps(other, JSON_INDENT(1)));
		json_decref(one);
		json_decref(other);
	}
}

struct both {		   /* the same runs */
	struct world a, b; /* of b nothing is opened again */
	uint32_t next_a, next_b;
};

static void
live_both(struct both *both, int64_t now_utc_s, uint32_t until)
{
	both->a.now_utc_s = both->b.now_utc_s = now_utc_s;
	live(&both->a, &both->next_a, until);
	live(&both->b, &both->next_b, until);
}

static void
close_both(struct both *both, const char *label)
{
	json_decref(close_period(&both->a, label, 200));
	json_decref(close_period(&both->b, label, 200));
	both->a.now_utc_s = both->b.now_utc_s += 60;
}

/* October stays closed from the first time on, or is opened, too; November is closed, or not; and
 * what is opened is closed and opened once more. */
static void
live_with(struct both *both, bool october_stays, bool has_november, bool twice)
{
	live_both(both, CLOSED_AT, 40);
	json_decref(close_period(&both->a, "2026-10", 200));
	if (october_stays)
		json_decref(close_period(&both->b, "2026-10", 200));
	live_both(both, NOVEMBER + 20 * LT_DAY_S, 60);
	live_both(both, DECEMBER + 5 * LT_DAY_S, 80);
	if (has_november)
		json_decref(close_period(&both->a, "2026-11", 200));
	live_both(both, DECEMBER + 10 * LT_DAY_S, 100);
	for (int i = 0; i <= twice; i++) {
		if (has_november)
			json_decref(open_period(&both->a, "2026-11", "why", 200));
		if (!october_stays)
			json_decref(open_period(&both->a, "2026-10", "why", 200));
		live_both(both, DECEMBER + (11 + 2 * i) * LT_DAY_S, i == 0 ? 105 : 115);
		if (i == twice)
			break;
		if (!october_stays)
			json_decref(close_period(&both->a, "2026-10", 200));
		if (has_november)
			json_decref(close_period(&both->a, "2026-11", 200));
		live_both(both, DECEMBER + 12 * LT_DAY_S, 110);
	}
	live_both(both, JANUARY + 5 * LT_DAY_S, RUNS);
	if (!october_stays)
		close_both(both, "2026-10");
	close_both(both, "2026-11");
}

static void
figures_are_those_of_a_ledger_that_was_never_closed(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 8; seed++) {
		struct both *const both = calloc(1, sizeof(*both));
		void *a = NULL, *b = NULL;

		assert_non_null(both);
		assert_int_equal(set_up(&a), 0);
		assert_int_equal(set_up(&b), 0);
		both->a = (struct world){.f = a, .random = seed};
		both->b = (struct world){.f = b, .random = seed};
		live_with(both, seed & 1, seed & 2, seed & 4);
		same_tables(a, b, seed);
		same_reports(&both->a, &both->b, seed);
		/* What comes later is corrected in the same way, too. */
		live_both(both, JANUARY + 8 * LT_DAY_S, RUNS);
		same_tables(a, b, seed);
		same_reports(&both->a, &both->b, seed);
		assert_int_equal(tear_down(&a), 0);
		assert_int_equal(tear_down(&b), 0);
		free(both);
	}
}

static int64_t
october(struct world *w)
{
	char where[100];

	snprintf(where, sizeof(where), "at_utc_s >= %lld AND at_utc_s < %lld", (long long)OCTOBER,
	    (long long)NOVEMBER);
	return sum_of(w, "money_micros", where);
}

/* Both of them: how it was, and what it is. */
static void
the_second_closing_says_what_differs(void **state)
{
	struct world w = {.f = *state, .random = 5, .now_utc_s = CLOSED_AT};
	uint32_t next = 0;

	live(&w, &next, 60);
	const int64_t before = october(&w);
	json_t *json = close_period(&w, "2026-10", 200);
	char checksum[80];
	snprintf(checksum, sizeof(checksum), "%s", text_of(json, "checksum"));
	assert_int_equal(json_integer_value(json_object_get(json, "closing")), 1);
	assert_true(json_is_null(json_object_get(json, "difference")));
	json_decref(json);

	/* Nothing came: the same to the byte, in the same second. */
	json = open_period(&w, "2026-10", "looked at", 200);
	assert_string_equal(text_of(json, "checksum"), checksum);
	assert_int_equal(json_integer_value(json_object_get(json, "cost_micros")), before);
	json_decref(json);
	json = close_period(&w, "2026-10", 200);
	assert_string_equal(text_of(json, "checksum"), checksum);
	assert_int_equal(json_integer_value(json_object_get(json, "closing")), 2);
	assert_int_equal(
	    json_integer_value(json_object_get(json_object_get(json, "difference"), "cost_micros")),
	    0);
	json_decref(json);

	w.now_utc_s += LT_DAY_S;
	live(&w, &next, RUNS);
	assert_int_equal(october(&w), before); /* all of it is later */
	json_decref(open_period(&w, "2026-10", "late rows", 200));
	assert_int_not_equal(october(&w), before);
	json = close_period(&w, "2026-10", 200);
	assert_string_not_equal(text_of(json, "checksum"), checksum);
	assert_int_equal(json_integer_value(json_object_get(json, "closing")), 3);
	assert_int_equal(
	    json_integer_value(json_object_get(json_object_get(json, "difference"), "cost_micros")),
	    october(&w) - before);
	json_decref(json);

	/* Both are kept, and told by all that show the month. */
	json = post(&w, lt_api_closed, NULL, 200);
	const json_t *const opened = json_object_get(json, "reopened");
	assert_int_equal(json_array_size(opened), 2);
	assert_string_equal(text_of(json_array_get(opened, 1), "reason"), "late rows");
	assert_string_equal(text_of(json_array_get(opened, 0), "checksum"), checksum);
	json_decref(json);
	json = ask(&w, "period=2026-10");
	assert_string_equal(text_of(json_object_get(json, "period"), "state"), "closed");
	assert_int_equal(
	    json_array_size(json_object_get(json_object_get(json, "period"), "reopened")), 2);
	json_decref(json);
}

static void
only_the_end_is_opened_and_for_a_reason(void **state)
{
	struct world w = {.f = *state, .random = 7, .now_utc_s = JANUARY + 5 * LT_DAY_S};
	char reason[LT_REOPEN_REASON_SIZE + 1];
	uint32_t next = 0;
	static const struct {
		const char *label, *says;
	} refused[] = {{"2026-10", "2026-Q4 is closed, too"},
	    {"2026-11", "open that first: lowtide close --reopen 2026-Q4"},
	    {"2026-12", "lowtide close --reopen 2026-Q4"}, {"2026-09", "2026-09 is not closed"},
	    {"2026", "2026 is not closed"}, {"soon", "soon"}};

	live(&w, &next, 30);
	json_decref(close_period(&w, "2026-10", 200));
	json_decref(close_period(&w, "2026-11", 200));
	json_decref(close_period(&w, "2026-12", 200));
	json_decref(close_period(&w, "2026-Q4", 200));
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		json_t *const json = open_period(&w, refused[i].label, "r", 400);

		says(json, refused[i].says);
		json_decref(json);
	}
	memset(reason, 'x', sizeof(reason));
	reason[LT_REOPEN_REASON_SIZE] = '\0';
	static const char *const empty_ones[] = {"", " \t\n"};
	for (int i = 0; i < 2; i++) {
		json_t *const json = open_period(&w, "2026-Q4", empty_ones[i], 400);

		says(json, "want a reason");
		json_decref(json);
	}
	json_t *json = open_period(&w, "2026-Q4", reason, 400);
	says(json, "256 bytes, want at most 255");
	json_decref(json);

	/* The quarter's statement goes alone: its months stay closed. */
	reason[LT_REOPEN_REASON_SIZE - 1] = '\0';
	json_decref(open_period(&w, "2026-Q4", reason, 200));
	assert_int_equal(w.closed_until_utc_s, JANUARY);
	json = open_period(&w, "2026-11", "r", 400);
	says(json, "2026-12 is closed, too");
	json_decref(json);
	json_decref(open_period(&w, "2026-12", "r", 200));
	assert_int_equal(w.closed_until_utc_s, DECEMBER);
	/* A timer leaves it alone, and its name closes it. */
	json = close_period(&w, "last", 409);
	says(json, "lowtide close 2026-12");
	json_decref(json);
	json_decref(close_period(&w, "2026-12", 200));
	json_decref(close_period(&w, "last", 200));
	assert_int_equal(w.closed_until_utc_s, JANUARY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(figures_are_those_of_a_ledger_that_was_never_closed),
	    EACH(the_second_closing_says_what_differs),
	    EACH(only_the_end_is_opened_and_for_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
