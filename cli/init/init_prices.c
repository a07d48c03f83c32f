/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sources of prices and interruption rates of a first policy file, where
 * the nodes themselves say what machines of which cloud they are: a Kubernetes
 * cluster's do, by their labels. Only those that need no key.
 */
#include <string.h>

#include "cli.h"
#include "init.h"
#include "limits.h"
#include "text.h"

/* Stands where a price is to be filled in. */
static const int64_t node_hour_usd_micros = 12500000;

enum { MACHINE_SIZE = 64, NAME_ROOM = LT_NAME_SIZE - (int)sizeof("price-") };

/* Who lists what a cloud's machines cost, and how often spot ones go. */
static const struct listed {
	const char *cloud;
	const char *price, *type; /* adapter, and its option for the machine */
	const char *rate;	  /* adapter; NULL = none without a key */
	const char *notice;
	bool is_many; /* the adapter's clouds: which is said */
} lists[] = {
    {"aws", "skypilot_catalog", "instance_type", "aws_spot_advisor", "2m",
	true},
    {"gcp", "skypilot_catalog", "instance_type", NULL, "30s", true},
    {"azure", "azure_retail_price", "sku", NULL, "30s", false},
};

/* Machines whose GPUs are rows of their own in the catalog of Google Cloud. */
static const struct {
	const char *family, *accelerator;
} accelerators[] = {
    {"a2-highgpu-", "A100"},
    {"a2-megagpu-", "A100"},
    {"a2-ultragpu-", "A100-80GB"},
    {"a3-highgpu-", "H100"},
    {"a3-megagpu-", "H100-MEGA"},
    {"a3-ultragpu-", "H200"},
    {"g2-standard-", "L4"},
};

struct machine {
	const struct listed *list;
	const char *accelerator; /* NULL = part of the machine */
	int64_t gpus;
	char type[MACHINE_SIZE];
	bool is_spot;
};

/* "instance-type=p4d.24xlarge,zone=eu-west-2a,spot" */
static bool
read_features(struct machine *machine, const char *features)
{
	static const char key[] = "instance-type=";
	const char *const at = strstr(features, key);

	if (at == NULL)
		return false;
	const char *const type = at + strlen(key);
	const size_t length = strcspn(type, ",");

	if (length == 0 || length >= sizeof(machine->type))
		return false;
	memcpy(machine->type, type, length);
	machine->is_spot = lt_text_is_among("spot", features);
	return true;
}

/* What a partition's first node is; false: not known, or none lists it. */
static bool
find_machine(struct machine *machine, const json_t *partition,
    const struct lt_init_site *site)
{
	const json_t *const shape =
	    json_array_get(json_object_get(partition, "shapes"), 0);
	const char *const name = lt_json_text(partition, "name", "");

	*machine = (struct machine){.list = NULL};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (strcmp(site->vendor, lists[i].cloud) == 0)
			machine->list = &lists[i];
	if (machine->list == NULL || site->region[0] == '\0' ||
	    strlen(name) >= (size_t)NAME_ROOM ||
	    !read_features(machine, lt_json_text(shape, "features", "")))
		return false;
	lt_json_int(shape, "gpus", &machine->gpus);
	if (strcmp(machine->list->cloud, "gcp") != 0 || machine->gpus == 0)
		return true;
	for (size_t i = 0; i < sizeof(accelerators) / sizeof(accelerators[0]);
	     i++)
		if (strncmp(machine->type, accelerators[i].family,
			strlen(accelerators[i].family)) == 0)
			machine->accelerator = accelerators[i].accelerator;
	return machine->accelerator != NULL;
}

bool
lt_init_has_price(const json_t *partition, const struct lt_init_site *site)
{
	struct machine machine;

	return find_machine(&machine, partition, site);
}

/* Behind an item of --price; NULL = it was the last. */
static const char *
next_said(const char *at)
{
	const char *const comma = strchr(at, ',');

	return comma != NULL ? comma + 1 : NULL;
}

/* What --price says of a pool; its length, 0: nothing. */
static size_t
find_said(const char **amount, const char *pool, const char *prices)
{
	const size_t length = strlen(pool);

	for (const char *at = prices; at != NULL; at = next_said(at)) {
		if (strncmp(at, pool, length) != 0 || at[length] != '=')
			continue;
		*amount = at + length + 1;
		return strcspn(*amount, ",");
	}
	return 0;
}

bool
lt_init_is_said(const json_t *partition, const struct lt_init_site *site)
{
	const char *amount;

	return find_said(&amount, lt_json_text(partition, "name", ""),
		   site->prices) > 0;
}

static bool
is_amount(const char *text, size_t length)
{
	return length > 0 && strspn(text, "0123456789.") >= length;
}

static bool
is_partition(const json_t *facts, const char *name, size_t length)
{
	size_t index;
	const json_t *partition;

	json_array_foreach(
	    json_object_get(facts, "partitions"), index, partition) {
		const char *const pool = lt_json_text(partition, "name", "");

		if (strlen(pool) == length && strncmp(pool, name, length) == 0)
			return true;
	}
	return false;
}

int
lt_init_check_said(
    const json_t *facts, const struct lt_init_site *site, struct lt_error *err)
{
	const char *const kwh = site->electricity;

	if (kwh != NULL && !is_amount(kwh, strlen(kwh)))
		return lt_fail(err, LT_EINPUT,
		    "--electricity: got %s, want money for a kWh, as 0.28",
		    kwh);
	for (const char *at = site->prices; at != NULL; at = next_said(at)) {
		const size_t length = strcspn(at, ",");
		const size_t name = strcspn(at, "=,");

		if (name == length ||
		    !is_amount(at + name + 1, length - name - 1))
			return lt_fail(err, LT_EINPUT,
			    "--price: got %.*s, want PARTITION=AMOUNT, as gpu=6.40",
			    (int)length, at);
		if (!is_partition(facts, at, name))
			return lt_fail(err, LT_EINPUT,
			    "--price: Slurm has no partition %.*s", (int)name,
			    at);
	}
	return LT_OK;
}

static void
write_price(FILE *out, const char *pool, const struct machine *machine,
    const struct lt_init_site *site)
{
	const struct listed *const list = machine->list;

	fprintf(out, "  price-%s: {adapter: %s", pool, list->price);
	if (list->is_many)
		fprintf(out, ", cloud: %s", list->cloud);
	fprintf(out, ", region: %s, %s: %s, capacity: %s", site->region,
	    list->type, machine->type, machine->is_spot ? "spot" : "on_demand");
	if (machine->accelerator != NULL)
		fprintf(out, ", accelerator: %s, accelerator_count: %lld",
		    machine->accelerator, (long long)machine->gpus);
	fputs("}\n", out);
	if (machine->is_spot && list->rate != NULL)
		fprintf(out,
		    "  rate-%s: {adapter: %s, region: %s, instance_type: %s}\n",
		    pool, list->rate, site->region, machine->type);
}

void
lt_init_prices(FILE *out, const json_t *facts, const struct lt_init_site *site,
    bool has_sources)
{
	size_t index;
	const json_t *partition;
	struct machine machine;

	json_array_foreach(
	    json_object_get(facts, "partitions"), index, partition) {
		if (!find_machine(&machine, partition, site))
			continue;
		if (!has_sources)
			fputs("sources:\n", out);
		has_sources = true;
		write_price(
		    out, lt_json_text(partition, "name", ""), &machine, site);
	}
}

void
lt_init_price_of(
    FILE *out, const json_t *partition, const struct lt_init_site *site)
{
	const char *const pool = lt_json_text(partition, "name", "");
	const char *amount;
	char example[LT_INIT_AMOUNT_SIZE];
	const size_t said = find_said(&amount, pool, site->prices);
	struct machine machine;

	if (site->electricity != NULL)
		fprintf(out,
		    "    owned: true # its nodes are there anyway: a decision weighs their energy\n"
		    "    electricity_price_per_kwh: %s\n",
		    site->electricity);
	if (said > 0) {
		fprintf(
		    out, "    price_per_node_hour: %.*s\n", (int)said, amount);
		return;
	}
	if (!find_machine(&machine, partition, site)) {
		fprintf(out, "    #price_per_node_hour: %s\n",
		    lt_init_amount(example, node_hour_usd_micros, site));
		return;
	}
	fprintf(out, "    price_per_node_hour: price-%s\n", pool);
	if (!machine.is_spot)
		return;
	if (machine.list->rate != NULL)
		fprintf(out,
		    "    preemptible: {interruptions_per_hour: rate-%s, notice: %s, restart: 6m} # restart: yours\n",
		    pool, machine.list->notice);
	else
		fprintf(out,
		    "    #preemptible: {interruptions_per_hour: 0.004, notice: %s, restart: 6m} # how often do they go?\n",
		    machine.list->notice);
}
