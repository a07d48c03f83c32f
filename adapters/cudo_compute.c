/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CUDO Compute's price list: a machine type of a data center by vCPU, GiB and GPU, without
 * commitment. docs/sources/cudo_compute.md.
 */
#include <string.h>

#include "json_source.h"
#include "lookup.h"
#include "prices.h"
#include "secret.h"
#include "source.h"
#include "units.h"

enum { INTERVAL_S = 6 * LT_HOUR_S };

static const struct lt_adapter_option cudo_options[] = {
    {"data_center", true, "its id, such as no-luster-1", NULL},
    {"machine_type", true, "such as epyc-rome-rtx-a5000", NULL},
    {"vcpus", true, "of a node", NULL},
    {"memory_gib", true, "of a node", NULL},
    {"gpus", false, "of a node", "0"},
    {"key_file", false, "absolute path of a file with the API key", NULL},
    {"key_env", false, "environment variable with it, instead", NULL},
    {"url", false, "base URL of a mirror", "https://rest.compute.cudo.org"},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

enum { VCPU, MEMORY, GPU, AMOUNT_COUNT };

static const struct {
	const char *option, *member;
} amounts[AMOUNT_COUNT] = {
    [VCPU] = {"vcpus", "vcpuPriceHr"},
    [MEMORY] = {"memory_gib", "memoryGibPriceHr"},
    [GPU] = {"gpus", "gpuPriceHr"},
};

static int
cudo_check(const struct lt_source_options *options, struct lt_error *err)
{
	int code = LT_OK;
	int64_t milli[AMOUNT_COUNT] = {0};

	for (int i = 0; i < AMOUNT_COUNT && code == LT_OK; i++)
		code = lt_price_list_milli(options, amounts[i].option, &milli[i], err);
	if (code == LT_OK && (milli[VCPU] == 0 || milli[MEMORY] == 0))
		code = lt_option_fail(options,
		    LT_ROW(amounts, milli[VCPU] == 0 ? VCPU : MEMORY).option, err,
		    "%s: %s: got 0, want more", options->name,
		    LT_ROW(amounts, milli[VCPU] == 0 ? VCPU : MEMORY).option);
	if (code == LT_OK)
		code = lt_secret_check(options, "key", false, err);
	return code;
}

/* The prices without commitment: one of a list by term where there is such a list, else the machine
 * type's own. */
static const json_t *
prices_of(const json_t *machine)
{
	const json_t *price;
	size_t i;

	json_array_foreach(json_object_get(machine, "prices"), i, price) {
		const char *const term =
		    json_string_value(json_object_get(price, "commitmentTerm"));

		if (term != NULL && strcmp(term, "COMMITMENT_TERM_NONE") == 0)
			return price;
	}
	return machine;
}

static int
price_of(const struct lt_source_options *options, const json_t *machine, double *micros,
    struct lt_error *err)
{
	const json_t *const prices = prices_of(machine);

	*micros = 0;
	for (int i = 0; i < AMOUNT_COUNT; i++) {
		const json_t *const value =
		    json_object_get(json_object_get(prices, amounts[i].member), "value");
		int64_t milli;
		double price;

		if (lt_price_list_milli(options, amounts[i].option, &milli, err) != LT_OK)
			return LT_EINPUT;
		if (milli == 0)
			continue;
		if (!lt_json_number(value, &price))
			return lt_fail(err, LT_EINPUT, "no %s", amounts[i].member);
		if (price <= 0)
			return lt_fail(err, LT_EINPUT, "%s: got %g, want more than 0",
			    amounts[i].member, price);
		*micros += price * (double)milli * (LT_MICROS / 1000);
	}
	return LT_OK;
}

struct tally {
	int rows, refused;
	double low_micros, high_micros;
	struct lt_error refusal;	       /* the first: lt_fail() keeps it */
	char others[LT_PRICE_LIST_NAMES_SIZE]; /* of the data center */
	char centers[LT_PRICE_LIST_NAMES_SIZE];
};

static bool
is_text(const json_t *object, const char *key, const char *wanted)
{
	const char *const text = json_string_value(json_object_get(object, key));

	return text != NULL && strcmp(text, wanted) == 0;
}

static void
add_machine(const struct lt_source_options *options, const json_t *machine, struct tally *tally)
{
	const char *const center = json_string_value(json_object_get(machine, "dataCenterId"));
	const char *const type = json_string_value(json_object_get(machine, "machineType"));
	double micros;

	if (center == NULL || type == NULL)
		return;
	if (!is_text(machine, "dataCenterId", lt_source_option(options, "data_center", ""))) {
		lt_price_list_name(tally->centers, center);
		return;
	}
	if (!is_text(machine, "machineType", lt_source_option(options, "machine_type", ""))) {
		lt_price_list_name(tally->others, type);
		return;
	}
	tally->rows++;
	if (price_of(options, machine, &micros, &tally->refusal) != LT_OK) {
		tally->refused++;
		return;
	}
	if (tally->high_micros == 0 || micros < tally->low_micros)
		tally->low_micros = micros;
	if (micros > tally->high_micros)
		tally->high_micros = micros;
}

static int
absent(const struct lt_source_options *options, const struct tally *tally, struct lt_error *err)
{
	const char *const center = lt_source_option(options, "data_center", "");
	const char *const type = lt_source_option(options, "machine_type", "");

	if (tally->others[0] != '\0')
		return lt_fail(err, LT_EINPUT,
		    "no machine type \"%s\" in data center %s, which has %s", type, center,
		    tally->others);
	return lt_fail(err, LT_EINPUT, "no data center \"%s\"%s%s", center,
	    tally->centers[0] == '\0' ? "" : "; there are ", tally->centers);
}

static int
read_list(const struct lt_source_options *options, const json_t *json, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	const json_t *const machines = json_object_get(json, "machineTypes");
	const char *const message = json_string_value(json_object_get(json, "message"));
	const json_t *machine;
	struct tally tally = {0};
	size_t i;

	if (!json_is_array(machines) && message != NULL)
		return lt_fail(err, LT_ENET, "the source says: %.200s", message);
	if (!json_is_array(machines))
		return lt_fail(err, LT_EINPUT, "JSON without \"machineTypes\"");
	json_array_foreach(machines, i, machine)
		add_machine(options, machine, &tally);
	if (tally.rows == 0)
		return absent(options, &tally, err);
	if (tally.refused == tally.rows)
		return lt_fail(err, LT_EINPUT, "%s in %s: %s",
		    lt_source_option(options, "machine_type", ""),
		    lt_source_option(options, "data_center", ""), tally.refusal.text);
	points->note[0] = '\0';
	if (tally.rows - tally.refused > 1)
		lt_note_add(points,
		    "the highest of %d rows of this machine type, from %g to %g USD",
		    tally.rows - tally.refused, tally.low_micros / LT_MICROS,
		    tally.high_micros / LT_MICROS);
	if (tally.refused > 0)
		lt_note_add(
		    points, "%d of %d rows have no usable price", tally.refused, tally.rows);
	strcpy(points->currency, "USD");
	return lt_price_list_point(points,
	    &(struct lt_list_price){.micros = tally.high_micros,
		.quality = LT_QUALITY_MEASURED,
		.now_utc_s = now_utc_s,
		.interval_s = INTERVAL_S},
	    err);
}

const struct lt_adapter lt_adapter_cudo_compute = {
    .name = "cudo_compute",
    .usage = "CUDO Compute's machine types by data center",
    .options = cudo_options,
    .interval_s = INTERVAL_S,
    .gives = LT_QUANTITY_PRICE,
    .currency = lt_price_list_usd,
    .check = cudo_check,
    .json =
	&(const struct lt_json_source){
	    .all = {.path = "v1/vms/machine-types"},
	    .key_header = "Authorization: bearer ",
	    .error_text = lt_json_error_text,
	    .read = read_list,
	},
};
