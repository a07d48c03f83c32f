/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that other programs take for nothing, for a separator or for the end of a line: each reader
 * and writer has them as they are.
 */
#include "invoice_fixture.h"
#include "associations.h"
#include "csv.h"
#include "ended.h"
#include "jobs.h"
#include "ledger_fixture.h"
#include "paths.h"
#include "run_lines.h"
#include "simulate_site.h"
#include "text.h"
#include "trace.h"
#include "units.h"

static const char *const names[] = {"NULL", "null", "Null", "None", "none", "nan", "N/A", "(null)",
    "-", "total", "TOTAL", "unknown", "other", "(none)", "a\tb", "\u8a13\u7df4", "a b", "a\"b",
    "a,b", "a;b", "\\N", "true", "0", "007", "1e5", "~"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* ---- traces: a user and a job's name are known by their hash ---- */

static void
test_trace(void **state)
{
	const struct lt_sim_trace_look look = {
	    .path = "t", .from_utc_s = 1000, .unit_s = 1, .tick_s = 5};

	(void)state;
	for (int i = 0; i < NAMES; i++) {
		struct lt_sim_trace trace;
		struct lt_error err = {0};
		char bytes[512];

		snprintf(bytes, sizeof(bytes),
		    "JobIDRaw|User|JobName|Submit|ElapsedRaw|AllocCPUS\n"
		    "1|%s|%s|1666195200|60|1\n2||%s|1666195201|60|1\n",
		    names[i], names[(i + 1) % NAMES], names[i]);
		if (lt_sim_trace_parse(&trace, bytes, strlen(bytes), &look, &err) != LT_OK)
			fail_msg("%s: %s", names[i], err.text);
		assert_int_equal(trace.count, 2);
		assert_int_equal(trace.bad, 0);
		assert_int_equal(trace.jobs[0].user, lt_name_hash(names[i]));
		assert_int_equal(trace.jobs[0].name, lt_name_hash(names[(i + 1) % NAMES]));
		/* Only an empty cell says nothing. */
		assert_int_equal(trace.jobs[1].user, 0);
		assert_int_equal(trace.jobs[1].name, lt_name_hash(names[i]));
		lt_sim_trace_free(&trace);
	}
}

/* sacct -P does not quote: a | in a name moves what is behind it, so the row is left out and told,
 * and the rows beside it are not touched. SWF has numbers of users, and -1 is nobody. */
static void
test_trace_told(void **state)
{
	static const struct {
		const char *bytes, *says;
		uint32_t count;
	} cases[] = {
	    {"JobIDRaw|User|Submit|ElapsedRaw|AllocCPUS\n1|a|b|1666195200|60|1\n"
	     "2|NULL|1666195200|60|1\n",
		"t:2: got 6 cells, want 5, as many as the header has", 1},
	    {"; SWF\n1 30 5 60 4 -1 -1 8 7200 -1 1 NULL 1 12 1 -1 -1 -1\n"
	     "2 30 5 60 4 -1 -1 8 7200 -1 1 -1 1 12 1 -1 -1 -1\n",
		"t:2: column 12: got \"NULL\", want a number", 1},
	};
	const struct lt_sim_trace_look look = {
	    .path = "t", .from_utc_s = 1000, .unit_s = 1, .tick_s = 5};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_sim_trace trace;
		struct lt_error err = {0};

		assert_int_equal(
		    lt_sim_trace_parse(&trace, cases[i].bytes, strlen(cases[i].bytes), &look, &err),
		    LT_OK);
		assert_int_equal(trace.count, cases[i].count);
		assert_int_equal(trace.bad, 1);
		assert_string_equal(trace.bad_first[0].text, cases[i].says);
		assert_int_equal(trace.jobs[0].user, i == 0 ? lt_name_hash("NULL") : 0);
		lt_sim_trace_free(&trace);
	}
}

/* ---- sacct, as simulate --from-slurm asks: its delimiter is drawn ---- */

static void
test_site(void **state)
{
	static const char d[] = "\x1f"
				"0badcafe"
				"\x1f";
	struct lt_partition partition = {.name = "NULL"};
	struct lt_site_page page = {.market = {.partitions = &partition, .partition_count = 1}};
	const struct lt_site_span span = {0, 2000, true, d};
	struct lt_error err = {0};

	(void)state;
	for (int i = 0; i < NAMES + 2; i++) {
		const char *const name = i < NAMES    ? names[i]
					 : i == NAMES ? "ps | grep hot"
						      : "two\nlines\x1f|";
		char *const text = malloc(1024);
		const char *const cells[] = {"7", "501", name, "NULL", name, "1000", "1000", "1010",
		    "1070", "60", "1", "4", "cpu=4,mem=8G", "", name, name, "sbatch NULL"};
		size_t used = 0;

		assert_non_null(text);
		for (size_t c = 0; c < sizeof(cells) / sizeof(cells[0]); c++)
			used += (size_t)snprintf(text + used, 1024 - used, "%s%s", cells[c], d);
		snprintf(text + used, 1024 - used, "\n");
		if (lt_site_rows_take(&page, text, &span, &err) != LT_OK)
			fail_msg("%s: %s", name, err.text);
		assert_int_equal(page.rows.count, i + 1);
		const struct lt_site_run *const run = &page.rows.runs[i];
		assert_string_equal(run->account, name);
		assert_string_equal(run->qos, name);
		assert_string_equal(run->name, name);
		assert_string_equal(run->features, name);
		assert_int_equal(run->partition, 0);
	}
	lt_site_rows_free(&page.rows);
}

/* ---- invoices ---- */

static struct lt_invoice
read_filtered(const char *bytes, const struct lt_invoice_filter *filter)
{
	struct lt_invoice invoice;
	struct lt_invoice_ask ask = plain;
	struct lt_error err = {0};

	ask.filter = *filter;
	if (read_bytes(&invoice, bytes, strlen(bytes), &ask, &err) != LT_OK)
		fail_msg("%s", err.text);
	return invoice;
}

/* One row of each name and one of none: the filter takes the one that is called so, whatever that
 * is, with NULL in columns that say nothing. */
static void
test_invoice_account(void **state)
{
	(void)state;
	for (int i = 0; i < NAMES; i++) {
		char bytes[8192];
		size_t used = (size_t)snprintf(bytes, sizeof(bytes),
		    "BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,"
		    "ChargePeriodEnd,ChargeCategory,ServiceCategory,SkuMeter,"
		    "SkuPriceDetails,ConsumedQuantity,ConsumedUnit,BilledCost,"
		    "EffectiveCost,BillingCurrency,SubAccountId\n");

		if (strchr(names[i], ',') != NULL)
			continue; /* --account is a list */
		for (int k = 0; k <= NAMES; k++) {
			char quoted[64] = "";
			size_t at = 0;

			for (const char *c = k < NAMES ? names[k] : ""; *c; c++) {
				quoted[at++] = *c;
				if (*c == '"')
					quoted[at++] = '"';
			}
			used += (size_t)snprintf(bytes + used, sizeof(bytes) - used,
			    DAY_7 "Usage,NULL,null,NULL,NULL,Null,1,1,USD,"
				  "%s%s%s\n",
			    strpbrk(quoted, ",\"") != NULL ? "\"" : "", quoted,
			    strpbrk(quoted, ",\"") != NULL ? "\"" : "");
		}
		struct lt_invoice invoice =
		    read_filtered(bytes, &(struct lt_invoice_filter){.accounts = names[i]});
		assert_int_equal(invoice.rows, 1);
		assert_int_equal(invoice.left_out_rows, NAMES);
		lt_invoice_free(&invoice);
	}
}

#define CUR_TAGS                                                                                   \
	"bill/BillingPeriodStartDate,bill/BillingPeriodEndDate,"                                   \
	"lineItem/UsageStartDate,lineItem/UsageEndDate,lineItem/LineItemType,"                     \
	"lineItem/ProductCode,lineItem/UsageType,product/instanceType,"                            \
	"lineItem/UsageAmount,pricing/unit,lineItem/UnblendedCost,"                                \
	"lineItem/CurrencyCode,resourceTags/user:team\n"
#define CUR_ROW(tag)                                                                               \
	DAY_7 "Usage,AmazonEC2,BoxUsage:p4d.24xlarge,p4d.24xlarge,1,Hrs,1,"                        \
	      "USD," tag "\n"

/* A tag's value that is NULL is that text; tags that are NULL are none. */
static void
test_invoice_tag(void **state)
{
	struct lt_invoice_filter filter = {0};
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_invoice_only_parse(&filter, "tag:team=NULL", &err), LT_OK);
	struct lt_invoice invoice = read_filtered(
	    CUR_TAGS CUR_ROW("NULL") CUR_ROW("") CUR_ROW("null") CUR_ROW("x"), &filter);
	assert_int_equal(invoice.rows, 1);
	assert_int_equal(invoice.left_out_rows, 3);
	lt_invoice_free(&invoice);
	invoice =
	    read_filtered("BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,"
			  "ChargePeriodEnd,ChargeCategory,ServiceCategory,SkuMeter,"
			  "ConsumedQuantity,ConsumedUnit,BilledCost,BillingCurrency,Tags\n" DAY_7
			  "Usage,Compute,x,NULL,NULL,1,USD,NULL\n" DAY_7
			  "Usage,Compute,x,NULL,NULL,1,USD,\"{\"\"team\"\":\"\"NULL\"\"}\"\n" DAY_7
			  "Usage,Compute,x,NULL,NULL,1,USD,\"{\"\"team\"\":null}\"\n",
		&filter);
	assert_int_equal(invoice.rows, 1);
	assert_int_equal(invoice.left_out_rows, 2);
	lt_invoice_free(&invoice);
}

/* ---- what we write ---- */

/* A cell of each name comes back as it is, and by its quotes is not taken for nothing; by both ways
 * that write one. */
static void
test_written(void **state)
{
	static const struct lt_csv_column columns[] = {{"a", true}, {"b", true}};
	static struct lt_csv_row row;
	char *text = NULL;
	size_t size = 0;
	FILE *const out = open_memstream(&text, &size);
	struct lt_csv csv;

	(void)state;
	assert_non_null(out);
	fputs("a,b\r\n", out);
	for (int i = 0; i < NAMES; i++) {
		json_t *const json = json_string(names[i]);
		char *const dumped = json_dumps(json, JSON_ENCODE_ANY);

		lt_csv_text(out, names[i]);
		fputc(',', out);
		lt_field_csv(out, &(struct lt_field){dumped, strlen(dumped)});
		fputs("\r\n", out);
		free(dumped);
		json_decref(json);
	}
	fclose(out);
	lt_csv_start(&csv, text, size);
	assert_int_equal(lt_csv_header(&csv, columns, 2, NULL), LT_OK);
	for (int i = 0; i < NAMES; i++) {
		char cells[64];

		snprintf(cells, sizeof(cells), "\"%s\",\"%s\"", names[i], names[i]);
		if (lt_csv_seems_missing(names[i], strlen(names[i])))
			assert_non_null(strstr(text, cells));
		assert_int_equal(lt_csv_row(&csv, &row, NULL), LT_OK);
		/* "-" could begin a formula. */
		const bool guarded = names[i][0] == '-';

		assert_string_equal(row.cells[0] + guarded, names[i]);
		assert_string_equal(row.cells[1] + guarded, names[i]);
	}
	free(text);
}

/* ---- what lowtided keeps for its next start ---- */

static void
test_word(void **state)
{
	(void)state;
	for (int i = 0; i < NAMES + 256; i++) {
		const char byte[] = {(char)(i - NAMES), 'x', '\0'};
		const char *const name = i < NAMES ? names[i] : byte;
		char word[3 * LT_NAME_SIZE], again[3 * LT_NAME_SIZE], rest;

		lt_name_word(word, sizeof(word), name);
		assert_int_equal(strcspn(word, " \t\r\n\v\f"), strlen(word));
		lt_name_of_word(again, sizeof(again), word);
		assert_string_equal(again, name);
		assert_int_equal(sscanf(word, "%191s%c", again, &rest), 1);
	}
	/* What is no word of ours stays, and none is longer than its room. */
	static const char *const others[] = {"50%", "%zz", "%0", "%", "a%4"};
	char out[6];

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		lt_name_of_word(out, sizeof(out), others[i]);
		assert_string_equal(out, others[i]);
	}
	lt_name_of_word(out, sizeof(out), "a%20%20long");
	assert_string_equal(out, "a  lo");
}

/* Accounts, users and partitions of each name; and nobody's. */
static void
test_associations(void **state)
{
	struct fixture *const f = *state;
	struct lt_batch_account accounts[NAMES];
	struct lt_batch_pair pairs[NAMES];
	struct lt_batch_tie ties[NAMES];
	struct lt_batch_manager managers[NAMES];
	const struct lt_tables tables = {.accounts = accounts,
	    .account_count = NAMES,
	    .pairs = pairs,
	    .pair_count = NAMES,
	    .ties = ties,
	    .tie_count = NAMES,
	    .managers = managers,
	    .manager_count = NAMES};
	struct lt_tables again = {0};
	char path[LT_PATH_SIZE];

	for (int i = 0; i < NAMES; i++) {
		const char *const next = i + 1 < NAMES ? names[i + 1] : "";

		accounts[i] = (struct lt_batch_account){.name = ""};
		lt_copy(accounts[i].name, LT_ACCOUNT_SIZE, names[i]);
		lt_copy(accounts[i].parent, LT_ACCOUNT_SIZE, next);
		pairs[i] = (struct lt_batch_pair){.uid = (uint32_t)i};
		lt_copy(pairs[i].account, LT_ACCOUNT_SIZE, names[i]);
		lt_copy(pairs[i].user, sizeof(pairs[i].user), names[i]);
		lt_copy(pairs[i].default_qos, LT_ACCOUNT_SIZE, next);
		lt_copy(ties[i].account, LT_ACCOUNT_SIZE, names[i]);
		lt_copy(ties[i].partition, sizeof(ties[i].partition), names[i]);
		managers[i] = (struct lt_batch_manager){.uid = (uint32_t)i};
		lt_copy(managers[i].account, LT_ACCOUNT_SIZE, next);
	}
	must(f, lt_associations_save(&tables, f->dir, &f->err));
	must(f, lt_associations_load(&again, f->dir, &f->err));
	assert_int_equal(again.account_count, NAMES);
	assert_int_equal(again.pair_count, NAMES);
	assert_int_equal(again.tie_count, NAMES);
	assert_int_equal(again.manager_count, NAMES);
	for (int i = 0; i < NAMES; i++) {
		assert_string_equal(again.accounts[i].name, names[i]);
		assert_string_equal(again.accounts[i].parent, accounts[i].parent);
		assert_string_equal(again.pairs[i].account, names[i]);
		assert_string_equal(again.pairs[i].user, names[i]);
		assert_int_equal(again.pairs[i].uid, i);
		assert_string_equal(again.pairs[i].default_qos, pairs[i].default_qos);
		assert_string_equal(again.ties[i].account, names[i]);
		assert_string_equal(again.ties[i].partition, names[i]);
		assert_string_equal(again.managers[i].account, managers[i].account);
	}
	snprintf(path, sizeof(path), "%s/associations", f->dir);
	unlink(path);
	free(again.accounts);
	free(again.pairs);
	free(again.ties);
	free(again.managers);
}

/* Jobs whose ends slurmctld told, and slurmdbd not yet. */
static void
test_ended(void **state)
{
	struct fixture *const f = *state;
	struct lt_ended ended[NAMES + 1];
	struct lt_jobs_state jobs = {.ended = ended, .ended_count = NAMES + 1};
	struct lt_jobs_state again = {0};

	for (int i = 0; i <= NAMES; i++) {
		struct lt_batch_run *const run = &ended[i].run;
		const char *const name = i < NAMES ? names[i] : "";

		ended[i] = (struct lt_ended){.seen_utc_s = NOVEMBER};
		run->job_id = (uint32_t)i + 1;
		run->end_utc_s = NOVEMBER + i;
		run->suspended_s = i;
		lt_copy(run->user, sizeof(run->user), name);
		lt_copy(run->account, sizeof(run->account), name);
		lt_copy(run->partition, sizeof(run->partition), name);
		lt_copy(run->state_text, sizeof(run->state_text), name);
	}
	must(f, lt_ended_save(&jobs, f->ledger, &f->err));
	lt_ended_load(&again, f->ledger);
	assert_int_equal(again.ended_count, NAMES + 1);
	for (int i = 0; i <= NAMES; i++) {
		const struct lt_batch_run *const run = &again.ended[i].run;
		const char *const name = i < NAMES ? names[i] : "";

		assert_int_equal(run->job_id, i + 1);
		assert_int_equal(run->end_utc_s, NOVEMBER + i);
		assert_int_equal(run->suspended_s, i);
		assert_string_equal(run->user, name);
		assert_string_equal(run->account, name);
		assert_string_equal(run->partition, name);
		assert_string_equal(run->state_text, name);
	}
	free(again.ended);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_trace),
	    cmocka_unit_test(test_trace_told),
	    cmocka_unit_test(test_site),
	    cmocka_unit_test(test_invoice_account),
	    cmocka_unit_test(test_invoice_tag),
	    cmocka_unit_test(test_written),
	    cmocka_unit_test(test_word),
	    cmocka_unit_test_setup_teardown(test_associations, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_ended, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
