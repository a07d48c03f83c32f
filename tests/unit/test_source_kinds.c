/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kind of figures a source gives: whether its 0 is one, and whether its intensities are direct
 * or life-cycle ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "source.h"
#include "source_fixture.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define EM(value)                                                                                  \
	"{\"zone\":\"IS\",\"history\":[{\"zone\":\"IS\",\"carbonIntensity\":" value                \
	",\"datetime\":\"2026-01-05T10:00:00Z\"},{\"zone\":\"IS\","                                \
	"\"carbonIntensity\":28,\"datetime\":\"2026-01-05T11:00:00Z\"}]}"
#define CHARTS                                                                                     \
	"{\"unix_seconds\":[1767607200,1767608100,1767609000],"                                    \
	"\"co2eq\":[0,5,6],\"co2eq_forecast\":[null,null,null],"                                   \
	"\"deprecated\":false}"
#define MOER                                                                                       \
	"{\"data\":[{\"point_time\":\"2026-01-05T10:00:00+00:00\",\"value\":0.0},"                 \
	"{\"point_time\":\"2026-01-05T10:05:00+00:00\",\"value\":810.0}],"                         \
	"\"meta\":{\"data_point_period_seconds\":300,\"region\":\"CAISO_NORTH\","                  \
	"\"signal_type\":\"co2_moer\",\"units\":\"lbs_co2_per_mwh\"}}"
#define CSV "time,value\n1767607200,0\n1767610800,4\n"

enum { NOW = 1767618000 }; /* 2026-01-05T13:00Z */

/* Two or three values of which the first is 0. */
static const struct {
	const char *why, *adapter, *bytes;
	struct pair pairs[5];
	size_t count;
	const char *note;
} zeros[] = {
    {"no combustion, no direct emissions", "electricity_maps", EM("0"),
	{{"zone", "IS"}, {"emission_factors", "direct"}}, 2, ""},
    {"null is missing", "electricity_maps", EM("null"),
	{{"zone", "IS"}, {"emission_factors", "direct"}}, 1, "1 of 2 hours have no usable value"},
    {"a life cycle always emits", "electricity_maps", EM("0"), {{"zone", "IS"}}, 1,
	"1 of 2 hours have no usable value"},
    {"curtailment", "watttime", MOER, {{"region", "CAISO_NORTH"}}, 2, ""},
    {"what its 0 means is not known", "energy_charts", CHARTS, {{"country", "no"}}, 2, "1 of 3 "},
    {"the admin knows this file", "file", CSV,
	{{"path", "/a"}, {"quantity", "carbon"}, {"zero", "data"}}, 2, ""},
};

static void
test_zero(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(zeros); i++) {
		const struct lt_source_options options = options_of(zeros[i].pairs);
		struct lt_points points = {0};
		struct lt_error err = {0};

		if (lt_adapter_parse(lt_adapter_find(zeros[i].adapter), &options,
			&(struct lt_answer){zeros[i].bytes, strlen(zeros[i].bytes), NOW}, &points,
			&err) != LT_OK)
			fail_msg("%s: %s", zeros[i].why, err.text);
		if (points.count != zeros[i].count ||
		    strncmp(points.note, zeros[i].note, strlen(zeros[i].note)) != 0)
			fail_msg("%s: %zu points, \"%s\"", zeros[i].why, points.count, points.note);
		assert_true(points.count == 1 || strcmp(zeros[i].adapter, "energy_charts") == 0 ||
			    points.points[0].value == 0);
		lt_points_free(&points);
	}
}

static const struct {
	const char *adapter;
	struct pair pairs[5];
	enum lt_basis basis;
	const char *says; /* NULL = good */
} bases[] = {
    {"uk_carbon_intensity", {{"region", "1"}}, LT_BASIS_DIRECT, NULL},
    {"uk_carbon_intensity", {{"emission_factors", "direct"}}, LT_BASIS_DIRECT, "unknown key"},
    {"watttime", {{"region", "CAISO_NORTH"}, {"username", "u"}, {"password_env", "P"}},
	LT_BASIS_DIRECT, NULL},
    {"eia", {{"respondent", "PJM"}}, LT_BASIS_LIFECYCLE, NULL},
    {"eia", {{"respondent", "PJM"}, {"emission_factors", "direct"}}, LT_BASIS_DIRECT, NULL},
    {"energy_charts", {{"country", "fr"}}, LT_BASIS_UNSAID, NULL},
    {"energy_charts", {{"country", "fr"}, {"emission_factors", "lifecycle"}}, LT_BASIS_LIFECYCLE,
	NULL},
    {"energi_data_service", {{"area", "DK1"}}, LT_BASIS_DIRECT, NULL},
    {"rte_eco2mix", {{NULL, NULL}}, LT_BASIS_DIRECT, NULL},
    {"climatology", {{"zone", "FR"}}, LT_BASIS_LIFECYCLE, NULL},
    {"climatology", {{"zone", "FR"}, {"emission_factors", "direct"}}, LT_BASIS_DIRECT, NULL},
    {"cloud_region", {{"cloud", "aws"}, {"region", "eu-west-3"}}, LT_BASIS_DIRECT, NULL},
    {"static", {{"value", "0"}, {"unit", "g_co2_per_kwh"}, {"emission_factors", "direct"}},
	LT_BASIS_DIRECT, NULL},
    {"static", {{"value", "3"}, {"unit", "per_node_hour"}, {"emission_factors", "direct"}},
	LT_BASIS_DIRECT, "emission_factors: node price has none"},
    {"static", {{"value", "3"}, {"unit", "g_co2_per_kwh"}, {"emission_factors", "Direct"}},
	LT_BASIS_UNSAID, "got \"Direct\", want lifecycle or direct"},
};

static void
test_basis(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bases); i++) {
		const struct lt_adapter *const adapter = lt_adapter_find(bases[i].adapter);
		const struct lt_source_options options = options_of(bases[i].pairs);
		struct lt_error err = {0};
		const int code = lt_adapter_check(adapter, &options, &err);

		if ((code == LT_OK) != (bases[i].says == NULL))
			fail_msg("%s %zu: %s", bases[i].adapter, i, err.text);
		if (code != LT_OK)
			assert_says(bases[i].adapter, &err, bases[i].says);
		assert_int_equal(lt_adapter_basis(adapter, &options), bases[i].basis);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_zero),
	    cmocka_unit_test(test_basis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
