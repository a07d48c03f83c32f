/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sources of a first policy file, only those that need no key, and the prices of its
 * partitions.
 *
 * The grid is guessed from the cloud's region, else from the time zone. Sources of prices and
 * interruption rates are written if the nodes themselves say what machines of which cloud they are,
 * as a Kubernetes cluster's do by their labels. A source of a grid is written only if its adapter
 * accepts it; where nothing is known the file has lines to fill in.
 */
#include <string.h>

#include "adapter.h"
#include "cli.h"
#include "cloud_region.h"
#include "init.h"
#include "limits.h"
#include "text.h"

/* A country's grid by its main time zone. In the Americas, Asia and Australia grids share zones:
 * there only zones with a single grid are listed. */
static const struct {
	const char *zone, *place;	   /* zone: its clocks */
	const char *adapter, *key, *value; /* asked; adapter NULL = none */
	const char *profile;		   /* of climatology; NULL = none */
} grids[] = {
#define CHARTS(zone, place, code, profile)                                                         \
	{                                                                                          \
		zone, place, "energy_charts", "country", code, profile                             \
	}
    {"Europe/London", "Great Britain", "uk_carbon_intensity", NULL, NULL, "GB"},
    CHARTS("Europe/Amsterdam", "the Netherlands", "nl", "NL"),
    CHARTS("Europe/Athens", "Greece", "gr", "GR"),
    CHARTS("Europe/Berlin", "Germany", "de", "DE"),
    CHARTS("Europe/Bratislava", "Slovakia", "sk", "SK"),
    CHARTS("Europe/Brussels", "Belgium", "be", "BE"),
    CHARTS("Europe/Bucharest", "Romania", "ro", "RO"),
    CHARTS("Europe/Budapest", "Hungary", "hu", "HU"),
    CHARTS("Europe/Copenhagen", "Denmark", "dk", "DK"),
    CHARTS("Europe/Dublin", "Ireland", "ie", "IE"),
    CHARTS("Europe/Helsinki", "Finland", "fi", "FI"),
    CHARTS("Europe/Lisbon", "Portugal", "pt", "PT"),
    CHARTS("Europe/Luxembourg", "Luxembourg", "lu", "LU"),
    CHARTS("Europe/Madrid", "Spain", "es", "ES"),
    CHARTS("Europe/Oslo", "Norway", "no", "NO"),
    CHARTS("Europe/Paris", "France", "fr", "FR"),
    CHARTS("Europe/Prague", "Czechia", "cz", "CZ"),
    CHARTS("Europe/Riga", "Latvia", "lv", "LV"),
    CHARTS("Europe/Rome", "Italy", "it", "IT"),
    CHARTS("Europe/Sofia", "Bulgaria", "bg", "BG"),
    CHARTS("Europe/Stockholm", "Sweden", "se", "SE"),
    CHARTS("Europe/Tallinn", "Estonia", "ee", "EE"),
    CHARTS("Europe/Vienna", "Austria", "at", "AT"),
    CHARTS("Europe/Vilnius", "Lithuania", "lt", "LT"),
    CHARTS("Europe/Warsaw", "Poland", "pl", "PL"),
    CHARTS("Europe/Zagreb", "Croatia", "hr", "HR"),
    CHARTS("Europe/Zurich", "Switzerland", "ch", "CH"),
#define USUAL(zone, place, profile)                                                                \
	{                                                                                          \
		zone, place, NULL, NULL, NULL, profile                                             \
	}
    USUAL("America/Los_Angeles", "California", "US-CAL-CISO"),
    USUAL("Australia/Adelaide", "South Australia", "AU-SA"),
    USUAL("Africa/Johannesburg", "South Africa", "ZA"),
    USUAL("America/Argentina/Buenos_Aires", "Argentina", "AR"),
    USUAL("America/Costa_Rica", "Costa Rica", "CR"),
    USUAL("America/Edmonton", "Alberta", "CA-AB"),
    USUAL("America/Lima", "Peru", "PE"),
    USUAL("America/Mexico_City", "Mexico", "MX"),
    USUAL("America/Montevideo", "Uruguay", "UY"),
    USUAL("America/Panama", "Panama", "PA"),
    USUAL("America/Santiago", "Chile", "CL-SEN"),
    USUAL("Asia/Dhaka", "Bangladesh", "BD"),
    USUAL("Asia/Kuala_Lumpur", "West Malaysia", "MY-WM"),
    USUAL("Asia/Nicosia", "Cyprus", "CY"),
    USUAL("Asia/Seoul", "South Korea", "KR"),
    USUAL("Asia/Singapore", "Singapore", "SG"),
    USUAL("Asia/Tbilisi", "Georgia", "GE"),
    USUAL("Atlantic/Reykjavik", "Iceland", "IS"),
    USUAL("Australia/Brisbane", "Queensland", "AU-QLD"),
    USUAL("Australia/Hobart", "Tasmania", "AU-TAS"),
    USUAL("Australia/Melbourne", "Victoria", "AU-VIC"),
    USUAL("Australia/Perth", "Western Australia", "AU-WA"),
    USUAL("Australia/Sydney", "New South Wales", "AU-NSW"),
    USUAL("Europe/Belgrade", "Serbia", "RS"),
    USUAL("Europe/Chisinau", "Moldova", "MD"),
    USUAL("Europe/Sarajevo", "Bosnia and Herzegovina", "BA"),
    USUAL("Pacific/Auckland", "New Zealand", "NZ"),
#undef USUAL
#undef CHARTS
};

/* The maker of the machine, its cloud, and an example of its regions. */
static const struct cloud {
	const char *vendor, *cloud, *region;
} clouds[] = {
    {"Amazon EC2", "aws", "eu-west-2"},
    {"Google", "gcp", "europe-west2"},
    {"Microsoft Corporation", "azure", "uksouth"},
};

static bool
is_of(const struct lt_init_site *site, const struct cloud *cloud)
{
	return strcmp(site->vendor, cloud->vendor) == 0 || strcmp(site->vendor, cloud->cloud) == 0;
}

/* True if the adapter exists and accepts these options. A zone that the profile adapter does not
 * ship is refused by it, and not written. */
static bool
adapter_accepts(const char *adapter, const char *const *words)
{
	const struct lt_adapter *const found = adapter != NULL ? lt_adapter_find(adapter) : NULL;
	struct lt_source_options options = {.name = "grid"};

	/* key, value, ..., NULL */
	for (; words[0] != NULL; words += 2, options.count++) {
		options.items[options.count].key = words[0];
		options.items[options.count].value = words[1];
	}
	return found != NULL && lt_adapter_check(found, &options, NULL) == LT_OK;
}

struct grid { /* what is known of the nodes' grid */
	const char *place;
	const char *why, *because;	   /* "as the time zone is", its name */
	const char *adapter, *key, *value; /* asked; adapter NULL = none */
	bool direct;			   /* are its intensities so? */
	const char *profile;		   /* of climatology; NULL = none */
	const char *zone;		   /* of Electricity Maps; NULL = none */
	const char *cloud, *region;	   /* of cloud_region; NULL = none */
};

static void
write_grid(FILE *out, const struct grid *grid)
{
	const bool asked = grid->adapter != NULL;
	const bool mean = grid->region != NULL;

	fprintf(out,
	    "# The grid of %s, %s %s:\n"
	    "# are the nodes there? No key is needed. Try it with\n"
	    "#   lowtide signals test %s --config FILE\n"
	    "sources:\n",
	    grid->place, grid->why, grid->because,
	    asked  ? "grid"
	    : mean ? "mean"
		   : "profile");
	if (asked && grid->key != NULL)
		fprintf(
		    out, "  grid: {adapter: %s, %s: %s}\n", grid->adapter, grid->key, grid->value);
	else if (asked)
		fprintf(out, "  grid: {adapter: %s}\n", grid->adapter);
	else if (grid->zone != NULL)
		fprintf(out,
		    "  # Measured and forecast, with a key:\n"
		    "  #grid: {adapter: electricity_maps, zone: %s, key_file: FILE}\n",
		    grid->zone);
	if (grid->profile != NULL)
		fprintf(out,
		    "  # A usual day of each month, from past years; needs no network%s.\n"
		    "  profile: {adapter: climatology, zone: %s%s}\n",
		    asked ? ". Counts\n  # while grid is stale" : "", grid->profile,
		    grid->direct ? ", emission_factors: direct" : "");
	if (mean)
		fprintf(out,
		    "  # The mean of a past year; needs no network.\n"
		    "  mean: {adapter: cloud_region, cloud: %s, region: %s}\n",
		    grid->cloud, grid->region);
}

/* Writes what can be filled in by hand if no grid is known. */
static void
write_hints(FILE *out, const struct lt_init_site *site)
{
	fprintf(out,
	    "# No source without a key is known for %s.\n"
	    "# electricity_maps, watttime and entsoe need one; eia (USA) can be tried\n"
	    "# without. Else write the grid's mean as a number below, or keep a file:\n"
	    "#sources:\n"
	    "#  grid: {adapter: file, quantity: carbon, path: /etc/lowtide/carbon.csv}\n",
	    site->zone[0] ? site->zone : "this time zone");
	for (size_t i = 0; i < sizeof(clouds) / sizeof(clouds[0]); i++)
		if (is_of(site, &clouds[i]) &&
		    adapter_accepts("cloud_region", (const char *[]){"cloud", clouds[i].cloud,
							"region", clouds[i].region, NULL}))
			fprintf(out,
			    "# or, as this is a machine of %s, its region's yearly mean (of which?):\n"
			    "#  grid: {adapter: cloud_region, cloud: %s, region: %s}\n",
			    site->vendor, clouds[i].cloud, clouds[i].region);
}

static bool
ships(const char *profile)
{
	return profile != NULL &&
	       adapter_accepts("climatology", (const char *[]){"zone", profile, NULL});
}

/* Sets *grid from grids[]; false: it has nothing that this lowtide can use. */
static bool
take_grid(struct grid *grid, size_t index)
{
	const bool asked = adapter_accepts(
	    grids[index].adapter, (const char *[]){grids[index].key, grids[index].value, NULL});

	grid->place = grids[index].place;
	grid->adapter = asked ? grids[index].adapter : NULL;
	grid->direct = asked && lt_adapter_find(grid->adapter)->basis == LT_BASIS_DIRECT;
	grid->key = grids[index].key;
	grid->value = grids[index].value;
	grid->profile = ships(grids[index].profile) ? grids[index].profile : NULL;
	return asked || grid->profile != NULL;
}

/* True if the zone is the country's, or a part of it, as DK-DK2 is of DK. */
static bool
is_within(const char *zone, const char *profile)
{
	return profile != NULL &&
	       (strcmp(zone, profile) == 0 ||
		   (strlen(profile) == 2 && strncmp(zone, profile, 2) == 0 && zone[2] == '-'));
}

/* Finds the grid of the machine's cloud region. */
static bool
find_by_region(struct grid *grid, const struct lt_init_site *site)
{
	const struct lt_cloud_region *region = NULL;

	for (size_t i = 0; i < sizeof(clouds) / sizeof(clouds[0]); i++)
		if (is_of(site, &clouds[i])) {
			grid->cloud = clouds[i].cloud;
			region = lt_cloud_region_find(grid->cloud, site->region);
		}
	if (region == NULL)
		return false;
	grid->why = "as this machine's region is";
	grid->because = region->name;
	for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++)
		if (is_within(region->zone, grids[i].profile) && take_grid(grid, i))
			return true;
	grid->place = grid->zone = region->zone;
	grid->adapter = NULL;
	grid->profile = ships(region->zone) ? region->zone : NULL;
	grid->region = grid->profile == NULL ? region->name : NULL;
	return true;
}

static bool
find_by_clock(struct grid *grid, const struct lt_init_site *site)
{
	grid->why = "as the time zone is";
	grid->because = site->zone;
	for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++)
		if (strcmp(site->zone, grids[i].zone) == 0)
			return take_grid(grid, i);
	return false;
}

const char *
lt_init_sources(FILE *out, const struct lt_init_site *site)
{
	struct grid grid = {0};

	fputs(
	    "\n# Where signals come from; `lowtide signals adapters` lists what there is.\n", out);
	if (!find_by_region(&grid, site) && !find_by_clock(&grid, site)) {
		write_hints(out, site);
		return NULL;
	}
	write_grid(out, &grid);
	if (grid.adapter != NULL)
		return grid.profile != NULL ? "[grid, profile]" : "grid";
	return grid.profile != NULL ? "profile" : "mean";
}

/* The example in a line where a price is to be filled in. */
static const int64_t node_hour_usd_micros = 12500000;

enum { MACHINE_SIZE = 64, NAME_ROOM = LT_NAME_SIZE - (int)sizeof("price-") };

/* The adapters that list the prices of a cloud's machines, and how often spot machines are
 * interrupted. */
static const struct listed {
	const char *cloud;
	const char *price, *type; /* adapter, and its option for the machine */
	const char *rate;	  /* adapter; NULL = none without a key */
	const char *notice;
	bool is_many; /* the adapter's clouds: which is said */
} lists[] = {
    {"aws", "skypilot_catalog", "instance_type", "aws_spot_advisor", "2m", true},
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

/* Reads "instance-type=p4d.24xlarge,zone=eu-west-2a,spot". */
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

/* Finds the machine of a partition's first node; false: not known, or no adapter lists it. */
static bool
find_machine(struct machine *machine, const json_t *partition, const struct lt_init_site *site)
{
	const json_t *const shape = json_array_get(json_object_get(partition, "shapes"), 0);
	const char *const name = lt_json_text(partition, "name", "");

	*machine = (struct machine){.list = NULL};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (strcmp(site->vendor, lists[i].cloud) == 0)
			machine->list = &lists[i];
	if (machine->list == NULL || site->region[0] == '\0' || strlen(name) >= (size_t)NAME_ROOM ||
	    !read_features(machine, lt_json_text(shape, "features", "")))
		return false;
	lt_json_int(shape, "gpus", &machine->gpus);
	if (strcmp(machine->list->cloud, "gcp") != 0 || machine->gpus == 0)
		return true;
	for (size_t i = 0; i < sizeof(accelerators) / sizeof(accelerators[0]); i++)
		if (strncmp(
			machine->type, accelerators[i].family, strlen(accelerators[i].family)) == 0)
			machine->accelerator = accelerators[i].accelerator;
	return machine->accelerator != NULL;
}

bool
lt_init_has_price(const json_t *partition, const struct lt_init_site *site)
{
	struct machine machine;

	return find_machine(&machine, partition, site);
}

/* Returns the next item of --price; NULL = none. */
static const char *
next_said(const char *at)
{
	const char *const comma = strchr(at, ',');

	return comma != NULL ? comma + 1 : NULL;
}

/* Finds the amount of a pool in --price. Returns its length, 0: none. */
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

	return find_said(&amount, lt_json_text(partition, "name", ""), site->prices) > 0;
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

	json_array_foreach(json_object_get(facts, "partitions"), index, partition) {
		const char *const pool = lt_json_text(partition, "name", "");

		if (strlen(pool) == length && strncmp(pool, name, length) == 0)
			return true;
	}
	return false;
}

int
lt_init_check_said(const json_t *facts, const struct lt_init_site *site, struct lt_error *err)
{
	const char *const kwh = site->electricity;

	if (kwh != NULL && !is_amount(kwh, strlen(kwh)))
		return lt_fail(
		    err, LT_EINPUT, "--electricity: got %s, want money for a kWh, as 0.28", kwh);
	for (const char *at = site->prices; at != NULL; at = next_said(at)) {
		const size_t length = strcspn(at, ",");
		const size_t name = strcspn(at, "=,");

		if (name == length || !is_amount(at + name + 1, length - name - 1))
			return lt_fail(err, LT_EINPUT,
			    "--price: got %.*s, want PARTITION=AMOUNT, as gpu=6.40", (int)length,
			    at);
		if (!is_partition(facts, at, name))
			return lt_fail(
			    err, LT_EINPUT, "--price: Slurm has no partition %.*s", (int)name, at);
	}
	return LT_OK;
}

static void
write_price(
    FILE *out, const char *pool, const struct machine *machine, const struct lt_init_site *site)
{
	const struct listed *const list = machine->list;

	fprintf(out, "  price-%s: {adapter: %s", pool, list->price);
	if (list->is_many)
		fprintf(out, ", cloud: %s", list->cloud);
	fprintf(out, ", region: %s, %s: %s, capacity: %s", site->region, list->type, machine->type,
	    machine->is_spot ? "spot" : "on_demand");
	if (machine->accelerator != NULL)
		fprintf(out, ", accelerator: %s, accelerator_count: %lld", machine->accelerator,
		    (long long)machine->gpus);
	fputs("}\n", out);
	if (machine->is_spot && list->rate != NULL)
		fprintf(out, "  rate-%s: {adapter: %s, region: %s, instance_type: %s}\n", pool,
		    list->rate, site->region, machine->type);
}

void
lt_init_prices(FILE *out, const json_t *facts, const struct lt_init_site *site, bool has_sources)
{
	size_t index;
	const json_t *partition;
	struct machine machine;

	json_array_foreach(json_object_get(facts, "partitions"), index, partition) {
		if (!find_machine(&machine, partition, site))
			continue;
		if (!has_sources)
			fputs("sources:\n", out);
		has_sources = true;
		write_price(out, lt_json_text(partition, "name", ""), &machine, site);
	}
}

void
lt_init_price_of(FILE *out, const json_t *partition, const struct lt_init_site *site)
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
		fprintf(out, "    price_per_node_hour: %.*s\n", (int)said, amount);
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
