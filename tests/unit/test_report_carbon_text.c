/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report --carbon: the section of the tables, the rows of hours as CSV, and answers that it
 * does not take for zeros. Names are hostile.
 */
#include "report_fixture.h"

#define HEAD                                                                                       \
	"{\"period\":{\"label\":\"2026-11\",\"first_day\":\"2026-11-01\","                         \
	"\"last_day\":\"2026-11-30\",\"state\":\"open\"},"                                         \
	"\"cluster\":\"tide\",\"currency\":\"USD\",\"teams\":[{\"team\":"                          \
	"\"nlp\",\"labels\":{\"cc\":\"17\"}}],\"total\":{}"
static const char answer[] =
    HEAD ",\"carbon\":{\"method\":\"lowtide-1\",\"boundary\":\"facility\","
	 "\"intensity\":\"average\",\"factors\":null,\"gwp\":null,\"rows\":["
	 "{\"zone\":\"=13\\u001b[2J\",\"partition\":\"onprem\",\"source\":\"uk\","
	 "\"market_source\":\"REC\",\"month\":\"2026-11\",\"energy_wh\":2500,"
	 "\"location_mg\":625500,\"market_mg\":30000,\"embodied_mg\":80000,"
	 "\"pue\":1.25,\"estimated_ppm\":500000,\"first\":null,\"last\":null,"
	 "\"hours\":2},"
	 "{\"zone\":null,\"partition\":\"cloud\",\"source\":null,"
	 "\"market_source\":null,\"month\":\"2026-11\",\"energy_wh\":1000,"
	 "\"location_mg\":100500,\"market_mg\":null,\"embodied_mg\":null,"
	 "\"pue\":null,\"estimated_ppm\":null,\"first\":null,\"last\":null,"
	 "\"hours\":1}],\"total\":{\"energy_wh\":3500,\"location_mg\":726000,"
	 "\"market_mg\":null,\"embodied_mg\":80000,\"pue\":null,"
	 "\"estimated_ppm\":999600,\"first\":null,\"last\":null,\"hours\":3}}}";

static char *
render(const char *json, struct lt_error *err)
{
	const struct lt_report_look look = {.format = LT_REPORT_TABLE, .carbon = true};

	return report_text(json_loads(json, 0, NULL), &look, err);
}

/* 0.6255 and 0.1005 kg are 0.726: to the gram both halves go up. */
static void
test_table(void **state)
{
	static const char want[] =
	    "Energy and carbon, method lowtide-1; boundary facility; intensity average; factors not said; GWP not said\n"
	    "ZONE      PARTITION  SOURCE  MONTH    ENERGY kWh  LOCATION kg  MARKET kg  EMBODIED kg    PUE  ESTIMATED\n"
	    "=13?[2J   onprem     uk      2026-11       2.500        0.626      0.030        0.080  1.250     50.0 %\n"
	    "-         cloud      -       2026-11       1.000        0.101        n/a          n/a    n/a        n/a\n";
	struct lt_error err = {0};
	char *const text = render(answer, &err);

	(void)state;
	assert_int_equal(err.code, LT_OK);
	const char *const section = strstr(text, "Energy and carbon, ");
	assert_non_null(section);
	/* The table's own blanks are not the matter. */
	const char *a = section, *b = want;
	while (*b != '\0') {
		while (*a == ' ')
			a++;
		while (*b == ' ')
			b++;
		if (*a != *b)
			fail_msg("got \"%.300s\"", section);
		a++;
		b++;
	}
	const char *const total = strstr(section, "TOTAL");
	assert_non_null(total);
	assert_non_null(strstr(total, " 0.726 "));
	assert_non_null(strstr(total, "100.0 %"));
	assert_non_null(strstr(total, "never one sum"));
	free(text);
}

static void
test_hours(void **state)
{
	static const char hour[] =
	    "{\"job_id\":7,\"submit\":\"2026-11-01T00:00:00Z\",\"account\":"
	    "\"nlp\",\"partition\":\"@x\",\"hour\":\"2026-11-01T01:00:00Z\","
	    "\"seconds\":1800,\"correction\":false,\"zone\":\"=1+1\","
	    "\"source\":\"u\\\"k\",\"quality\":\"measured\",\"g_per_kwh\":"
	    "200.25,\"issued\":\"2026-11-01T01:05:00Z\",\"pue\":1.25,\"market_source\":\"REC, X\","
	    "\"market_g_per_kwh\":0,\"energy_wh\":1250,\"location_mg\":250313,"
	    "\"market_mg\":0,\"embodied_mg\":null,\"carbon_mg\":250313,"
	    "\"money_micros\":-1500000}";
	json_t *const report = json_loads(answer, 0, NULL);
	struct lt_rows rows;
	struct lt_error err = {0};
	char *text = NULL;
	size_t length = 0;
	FILE *const out = open_memstream(&text, &length);

	(void)state;
	assert_non_null(out);
	assert_int_equal(lt_rows_begin(&rows, out, &lt_hour_csv, report, &err), LT_OK);
	assert_int_equal(lt_hour_csv.run(&rows, hour, strlen(hour), &err), LT_OK);
	assert_int_equal(lt_hour_csv.run(&rows, "[]", 2, &err), LT_EINPUT);
	lt_rows_free(&rows);
	fclose(out);
	assert_string_equal(text,
	    "job_id,submit,account,partition,hour,seconds,correction,zone,"
	    "source,quality,g_per_kwh,issued,pue,market_source,market_g_per_kwh,"
	    "energy_kwh,location_kg_co2e,market_kg_co2e,embodied_kg_co2e,"
	    "kg_co2e,cost,period,first_day,last_day,period_state,cluster,"
	    "currency,label_cc\r\n"
	    "7,2026-11-01T00:00:00Z,nlp,'@x,2026-11-01T01:00:00Z,1800,no,'=1+1,"
	    "\"u\"\"k\",measured,200.25,2026-11-01T01:05:00Z,1.25,\"REC, X\",0,1.250,0.250313,"
	    "0.000000,,0.250313,-1.500000,2026-11,2026-11-01,2026-11-30,open,"
	    "tide,USD,17\r\n");
	free(text);
	json_decref(report);
}

/* A section of the statement, and what others wrote escaped. */
static void
test_html(void **state)
{
	json_t *const report = report_load("carbon");
	json_t *const carbon = json_object_get(report, "carbon");
	json_t *const first = json_array_get(json_object_get(carbon, "rows"), 0);
	const struct lt_report_look look = {.format = LT_REPORT_HTML, .carbon = true};
	struct lt_error err = {0};
	char *text = NULL;
	size_t length = 0;
	FILE *const out = open_memstream(&text, &length);

	(void)state;
	json_object_set_new(first, "zone", json_string("<b>&\""));
	json_object_set_new(
	    json_array_get(json_object_get(carbon, "rows"), 1), "version", json_string("v<b>&2"));
	if (lt_report_print(out, report, &look, &err) != LT_OK)
		fail_msg("%s", err.text);
	fclose(out);
	const char *const section = strstr(text, "By grid zone, partition");
	assert_non_null(section);
	assert_non_null(strstr(section, "&lt;b&gt;&amp;&quot;, cloud, 2026-11"));
	assert_null(strstr(text, "<b>&"));
	assert_non_null(strstr(section, "region 13, onprem, 2026-11, REC"));
	assert_non_null(strstr(section, "Boundary: facility"));
	assert_non_null(strstr(section, "warming potentials: not said"));
	/* Once, though two rows are of it; none where no source is. */
	const char *const source =
	    strstr(section, "<p>Source grid: uk_carbon_intensity; version and method: "
			    "v&lt;b&gt;&amp;2.</p>");
	assert_non_null(source);
	assert_ptr_equal(strstr(section, "<p>Source "), source);
	assert_null(strstr(source + 1, "<p>Source "));
	assert_non_null(
	    strstr(section, "recorded from 2026-11-01T00:31:07Z to 2026-11-25T14:30:09Z."));
	/* 47,039,360 mg of the grid by 138,692 Wh; 339, not the 368 that there are with embodied
	 * carbon. */
	assert_non_null(strstr(text, "Mean of its energy, g CO2e per kWh</th><td>339</td>"));
	free(text);
	/* Energy of an unknown intensity thins out nothing. */
	json_object_set_new(first, "location_mg", json_null());
	FILE *const unknown = open_memstream(&text, &length);
	assert_int_equal(lt_report_print(unknown, report, &look, &err), LT_OK);
	fclose(unknown);
	assert_non_null(strstr(text, "per kWh</th><td>331</td>"));
	free(text);
	json_object_del(report, "carbon");
	FILE *const without = open_memstream(&text, &length);
	const struct lt_report_look plain = {.format = LT_REPORT_HTML};
	assert_int_equal(lt_report_print(without, report, &plain, &err), LT_OK);
	fclose(without);
	assert_null(strstr(text, "Carbon by place and method"));
	assert_null(strstr(text, "CO2e per kWh"));
	free(text);
	json_decref(report);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *why, *json, *text;
		enum lt_code code;
	} rows[] = {
	    {"an older lowtided", HEAD "}", "has no carbon", LT_EVERSION},
	    {"no rows", HEAD ",\"carbon\":{}}", "has no carbon", LT_EVERSION},
	    {"no total", HEAD ",\"carbon\":{\"rows\":[]}}", "is none", LT_EINPUT},
	    {"a figure that is not there", HEAD ",\"carbon\":{\"rows\":[{}],\"total\":{}}}",
		"energy_wh of carbon is no number", LT_EINPUT},
	    {"a fraction of a mg",
		HEAD ",\"carbon\":{\"rows\":[{\"energy_wh\":1,"
		     "\"location_mg\":1.5}],\"total\":{}}}",
		"location_mg of carbon is no number", LT_EINPUT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_error err = {0};
		char *const text = render(rows[i].json, &err);

		assert_int_equal(err.code, rows[i].code);
		if (strstr(err.text, rows[i].text) == NULL)
			fail_msg("%s: got \"%s\"", rows[i].why, err.text);
		free(text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_hours),
	    cmocka_unit_test(test_html),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
