/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The price lists that the SkyPilot project keeps of many clouds (no key): one CSV a cloud, its
 * columns found by name. docs/sources/skypilot_catalog.md.
 */
#include <stdio.h>
#include <string.h>

#include "prices.h"
#include "csv.h"
#include "source.h"
#include "units.h"
#include "web.h"

enum {
	INTERVAL_S = 7 * LT_HOUR_S, /* the catalog's makers ask for no more */
	NAME_MAX_BYTES = 100,	    /* of what is looked for in cells */
	/* Layouts: the newest that was read here, from where newer ones are looked for, and the
	 * oldest. Not all clouds are in each. */
	VERSION_KNOWN = 9,
	VERSION_OLDEST = 8,
	OLD_S = 3 * LT_DAY_S, /* a list unchanged for longer: told */
	/* Unchanged for longer, a list counts no more. */
	FRESH_S = 90 * LT_DAY_S,
};

#define BASE_URL                                                                                   \
	"https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/"                         \
	"master/catalogs"

static const struct lt_adapter_option sky_options[] = {
    {"cloud", true, "directory of the catalog: aws, gcp, azure, verda, ...", NULL},
    {"region", true, "as the catalog writes it, such as us-east-1", NULL},
    {"instance_type", false,
	"as p4d.24xlarge; left out only for an accelerator whose row is a whole machine", NULL},
    {"zone", false, "zone, on AWS its id, such as use1-az1", "the dearest zone"},
    {"accelerator", false, "GPU, as A100-80GB: checked; added on gcp", NULL},
    {"accelerator_count", false, "how many of them are in a node", NULL},
    {"capacity", false, "spot or on_demand", "spot"},
    {"url", false, "base URL of a mirror", BASE_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

enum { TYPE, ACCELERATOR, COUNT, REGION, ZONE, PRICE, COLUMN_COUNT };

struct part {			  /* the machine, or GPUs that have rows of their own */
	int found;		  /* rows of it, anywhere */
	int rows, empty, refused; /* where it was asked for */
	double low, high;	  /* USD per hour of the usable rows */
	struct lt_error refusal;  /* the first: lt_fail() keeps it */
	/* Where and what there is else. */
	char regions[LT_PRICE_LIST_NAMES_SIZE], zones[LT_PRICE_LIST_NAMES_SIZE],
	    others[LT_PRICE_LIST_NAMES_SIZE];
};

struct search {
	const char *type, *region, *zone, *accelerator; /* NULL = not given */
	double count;
	bool is_spot;
	struct part host, gpus;
	bool bare;			       /* the machine's rows are without their GPUs */
	long rows;			       /* of the file */
	char family[LT_PRICE_LIST_NAMES_SIZE]; /* what begins as type does */
};

/* ---- options ---- */

/* Machine types of Google Cloud which always have GPUs, that are priced in rows of their own: the
 * host's price alone would be a fifth of the truth. */
static bool
has_gpus_elsewhere(const char *cloud, const char *type)
{
	static const char *const families[] = {"a2-", "a3-", "a4-", "a4x-", "g2-", "g4-"};

	if (strcmp(cloud, "gcp") != 0 || type == NULL)
		return false;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strncmp(type, families[i], strlen(families[i])) == 0)
			return true;
	return false;
}

/* On Google Cloud the row of a GPU is the GPU alone, but for these. */
static bool
lacks_machine(const char *cloud, const char *accelerator)
{
	return strcmp(cloud, "gcp") == 0 && strncmp(accelerator, "tpu-", 4) != 0 &&
	       strcmp(accelerator, "B200") != 0;
}

static int
accelerator_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const accelerator = lt_source_option(options, "accelerator", NULL);
	const char *const count = lt_source_option(options, "accelerator_count", NULL);
	const char *const type = lt_source_option(options, "instance_type", NULL);
	const char *const cloud = lt_source_option(options, "cloud", "");
	double number;

	if ((accelerator == NULL) != (count == NULL))
		return lt_option_fail(options, count == NULL ? "accelerator" : "accelerator_count",
		    err, "%s: want accelerator and accelerator_count together", options->name);
	if (count != NULL && (lt_double_parse(count, &number, NULL) != LT_OK || number <= 0))
		return lt_option_fail(options, "accelerator_count", err,
		    "%s: accelerator_count: got \"%s\", want a number above 0", options->name,
		    count);
	if (type == NULL && accelerator == NULL)
		return lt_fail(err, LT_EINPUT,
		    "%s: instance_type: missing, want it, or an accelerator", options->name);
	if (type == NULL && lacks_machine(cloud, accelerator))
		return lt_option_fail(options, "accelerator", err,
		    "%s: gcp prices %s without its machine: want instance_type, too", options->name,
		    accelerator);
	if (accelerator == NULL && has_gpus_elsewhere(cloud, type))
		return lt_option_fail(options, "instance_type", err,
		    "%s: %s has GPUs, which gcp prices in rows of their own: want accelerator and accelerator_count",
		    options->name, type);
	return LT_OK;
}

static int
sky_check(const struct lt_source_options *options, struct lt_error *err)
{
	static const char *const keys[] = {"region", "instance_type", "zone", "accelerator"};
	const char *const cloud = lt_source_option(options, "cloud", "");
	int code = LT_OK;

	if (cloud[0] == '\0' || strlen(cloud) > 32 ||
	    strspn(cloud, "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(cloud))
		return lt_option_fail(options, "cloud", err,
		    "%s: cloud: got \"%s\", want a directory of the catalog, such as aws",
		    options->name, cloud);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *const text = lt_source_option(options, keys[i], "-");

		if (text[0] == '\0' || strlen(text) > NAME_MAX_BYTES)
			return lt_option_fail(options, keys[i], err,
			    "%s: %s: got \"%s\", want 1 to %d bytes", options->name, keys[i], text,
			    NAME_MAX_BYTES);
	}
	code = accelerator_check(options, err);
	return code;
}

/* ---- one row ---- */

/* SkyPilot's own stand-in where Google tells no price of a TPU v6e. */
static bool
is_placeholder(const char *accelerator, double price)
{
	return price == 700 && strncmp(accelerator, "tpu-v6e", 7) == 0;
}

static int
row_price(
    const struct lt_csv *csv, const struct lt_csv_row *row, double *price, struct lt_error *err)
{
	const char *const text = row->cells[PRICE];

	if (row->cell_count != csv->column_count)
		return lt_fail(err, LT_EINPUT, "a row of %d cells, the header has %d",
		    row->cell_count, csv->column_count);
	if (lt_double_parse(text, price, NULL) != LT_OK || *price < 0)
		return lt_fail(err, LT_EINPUT, "got \"%.40s\", want a price", text);
	if (*price == 0)
		return lt_fail(
		    err, LT_EINPUT, "got %.20s, which stands for an unknown price", text);
	if (is_placeholder(row->cells[ACCELERATOR], *price))
		return lt_fail(
		    err, LT_EINPUT, "got %.20s, the catalog's stand-in for an unknown price", text);
	return LT_OK;
}

/* Adds a row. The dearest of several rows counts: a budget must never be passed because the
 * scheduler put a node into another zone. */
static void
part_add(struct part *part, const struct lt_csv *csv, const struct lt_csv_row *row)
{
	double price;

	part->rows++;
	if (row->cells[PRICE][0] == '\0' && row->cell_count == csv->column_count) {
		part->empty++;
		return;
	}
	if (row_price(csv, row, &price, &part->refusal) != LT_OK) {
		part->refused++;
		return;
	}
	if (part->high == 0 || price < part->low)
		part->low = price;
	if (price > part->high)
		part->high = price;
}

static bool
is_place(const struct search *search, struct part *part, const struct lt_csv_row *row)
{
	part->found++;
	if (strcmp(row->cells[REGION], search->region) != 0) {
		lt_price_list_name(part->regions, row->cells[REGION]);
		return false;
	}
	if (search->zone != NULL && strcmp(row->cells[ZONE], search->zone) != 0) {
		lt_price_list_name(part->zones, row->cells[ZONE]);
		return false;
	}
	return true;
}

/* Has the row the accelerators that were asked for? */
static bool
is_asked(const struct search *search, struct part *part, const struct lt_csv_row *row)
{
	const char *const name = row->cells[ACCELERATOR];
	char other[LT_CSV_CELL_SIZE];
	double count;

	if (strcmp(name, search->accelerator) == 0 &&
	    lt_double_parse(row->cells[COUNT], &count, NULL) == LT_OK && count == search->count)
		return true;
	snprintf(other, sizeof(other), "%.20s x %.80s", row->cells[COUNT], name);
	lt_price_list_name(part->others, other);
	return false;
}

static void
add_host(struct search *search, const struct lt_csv *csv, const struct lt_csv_row *row)
{
	const bool is_bare = row->cells[ACCELERATOR][0] == '\0';

	if (!is_place(search, &search->host, row))
		return;
	if (search->accelerator != NULL && !is_bare && !is_asked(search, &search->host, row))
		return;
	search->bare |= is_bare;
	part_add(&search->host, csv, row);
}

/* Up to the same mark: p4d.24xlarge and p4d.48xlarge, a2-highgpu-1g and -8g. */
static bool
is_family(const char *left, const char *right)
{
	const char *const dot = strchr(left, '.'), *const mark =
						       dot != NULL ? dot : strpbrk(left, "-_");

	return mark != NULL && right[0] != '\0' &&
	       strncmp(left, right, (size_t)(mark - left) + 1) == 0;
}

static void
add_row(struct search *search, const struct lt_csv *csv, const struct lt_csv_row *row)
{
	const char *const type = row->cells[TYPE];

	search->rows++;
	if (row->long_line != 0)
		return; /* longer than anything that can be asked for */
	if (search->type != NULL && strcmp(type, search->type) == 0)
		add_host(search, csv, row);
	else if (search->type != NULL && is_family(search->type, type))
		lt_price_list_name(search->family, type);
	else if (type[0] == '\0' && search->accelerator != NULL &&
		 strcmp(row->cells[ACCELERATOR], search->accelerator) == 0 &&
		 is_place(search, &search->gpus, row) && is_asked(search, &search->gpus, row))
		part_add(&search->gpus, csv, row);
}

/* ---- what the rows came to ---- */

static const char *
capacity_words(const struct search *search)
{
	return search->is_spot ? "spot" : "on-demand";
}

static int
no_place(
    const struct search *search, const struct part *part, const char *what, struct lt_error *err)
{
	if (part->found == 0)
		return lt_fail(err, LT_EINPUT, "no \"%s\" among the %ld rows of this cloud%s%s",
		    what, search->rows,
		    search->family[0] == '\0' ? "" : "; of its family: ", search->family);
	if (part->others[0] != '\0')
		return lt_fail(err, LT_EINPUT, "%s: got %s, want %g x %s", what, part->others,
		    search->count, search->accelerator);
	if (part->zones[0] != '\0')
		return lt_fail(err, LT_EINPUT, "no %s in zone \"%s\" of %s; it is in %s", what,
		    search->zone, search->region, part->zones);
	return lt_fail(err, LT_EINPUT, "no %s in region \"%s\"; it is in %s", what, search->region,
	    part->regions);
}

static int
part_check(
    const struct search *search, const struct part *part, const char *what, struct lt_error *err)
{
	if (part->rows == 0)
		return no_place(search, part, what, err);
	if (part->high > 0)
		return LT_OK;
	if (part->refused > 0)
		return lt_fail(err, LT_EINPUT, "%s in %s: no usable %s price in %d rows: %s", what,
		    search->region, capacity_words(search), part->rows, part->refusal.text);
	return lt_fail(err, LT_EINPUT, "%s in %s: no %s price in %d rows%s", what, search->region,
	    capacity_words(search), part->rows,
	    search->is_spot ? ": it is not offered as spot" : "");
}

static void
part_note(struct lt_points *points, const struct part *part, const char *what)
{
	const int usable = part->rows - part->empty - part->refused;

	if (usable > 1)
		lt_note_add(points, "%s: the highest of %d rows, from %g to %g USD", what, usable,
		    part->low, part->high);
	if (usable < part->rows)
		lt_note_add(points, "%s: %d of %d rows have no usable price", what,
		    part->rows - usable, part->rows);
}

static int
make_points(
    const struct search *search, int64_t now_utc_s, struct lt_points *points, struct lt_error *err)
{
	const bool has_host = search->type != NULL;
	const bool has_gpus = search->accelerator != NULL && (!has_host || search->bare);
	int code = LT_OK;

	if (has_host)
		code = part_check(search, &search->host, search->type, err);
	if (code == LT_OK && has_gpus)
		code = part_check(search, &search->gpus, search->accelerator, err);
	if (code != LT_OK)
		return code;
	strcpy(points->currency, "USD");
	points->note[0] = '\0';
	if (has_host)
		part_note(points, &search->host, search->type);
	if (has_gpus)
		part_note(points, &search->gpus, search->accelerator);
	return lt_price_list_point(points,
	    &(struct lt_list_price){.micros = ((has_host ? search->host.high : 0) +
						  (has_gpus ? search->gpus.high : 0)) *
					      LT_MICROS,
		.quality = LT_QUALITY_ESTIMATED,
		.now_utc_s = now_utc_s,
		.interval_s = INTERVAL_S},
	    err);
}

static struct search
search_of(const struct lt_source_options *options)
{
	struct search search = {
	    .type = lt_source_option(options, "instance_type", NULL),
	    .region = lt_source_option(options, "region", ""),
	    .zone = lt_source_option(options, "zone", NULL),
	    .accelerator = lt_source_option(options, "accelerator", NULL),
	    .is_spot = lt_price_list_is_spot(options),
	};

	(void)lt_double_parse(
	    lt_source_option(options, "accelerator_count", "0"), &search.count, NULL);
	return search;
}

static int
parse_csv(struct search *search, const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	const struct lt_csv_column columns[COLUMN_COUNT] = {
	    [TYPE] = {"InstanceType", true},
	    [ACCELERATOR] = {"AcceleratorName", search->accelerator != NULL},
	    [COUNT] = {"AcceleratorCount", search->accelerator != NULL},
	    [REGION] = {"Region", true},
	    [ZONE] = {"AvailabilityZone", search->zone != NULL},
	    [PRICE] = {search->is_spot ? "SpotPrice" : "Price", true},
	};
	struct lt_csv csv;
	struct lt_csv_row row;
	int code;

	lt_csv_start(&csv, answer->bytes, answer->byte_count);
	if (lt_csv_header(&csv, columns, COLUMN_COUNT, err) != LT_OK) {
		if (err != NULL)
			err->code = LT_EVERSION;
		return LT_EVERSION;
	}
	code = LT_OK;
	while (code == LT_OK) {
		code = lt_csv_row(&csv, &row, err);
		if (code != LT_OK || row.cell_count == 0)
			break;
		add_row(search, &csv, &row);
	}
	return code == LT_OK ? make_points(search, answer->now_utc_s, points, err) : code;
}

static int
sky_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	struct search search = search_of(options);

	if (answer->byte_count == 0)
		return lt_fail(err, LT_EINPUT, "empty, want CSV");
	return lt_error_mend(err, parse_csv(&search, answer, points, err));
}

/* Does `url` end with a version, as a mirror's "/v8"? */
static bool
has_version(const char *url)
{
	size_t length = strlen(url);
	size_t digits = 0;

	while (length > 0 && url[length - 1] == '/')
		length--;
	while (
	    digits < length && url[length - digits - 1] >= '0' && url[length - digits - 1] <= '9')
		digits++;
	return digits > 0 && length >= digits + 2 &&
	       strncmp(url + length - digits - 2, "/v", 2) == 0;
}

/* One file, of version 0 right below `url`; LT_ENOENT: there is none of this cloud. */
static int
fetch_version(struct lt_web *web, int version, const struct lt_window *window, struct lt_error *err)
{
	const struct lt_source_options *const options = web->options;
	char url[LT_URL_SIZE], path[64], folder[16] = "";
	const struct lt_web_request request = {.url = url,
	    .type = LT_WEB_TEXT,
	    .conditional = web->memory->version == 0 || version == web->memory->version};

	if (version > 0)
		snprintf(folder, sizeof(folder), "v%d/", version);
	snprintf(
	    path, sizeof(path), "%s%s/vms.csv", folder, lt_source_option(options, "cloud", ""));
	int code = lt_url_start(url, lt_source_option(options, "url", BASE_URL), path, err);
	if (code == LT_OK)
		code = lt_web_points(web, &request, sky_parse, window->now_utc_s, err);
	/* A store that lists nothing says 403 of what it has not. */
	if (code == LT_ENET && (lt_web_status(web) == 404 || lt_web_status(web) == 403))
		code = LT_ENOENT;
	return code;
}

/* Dates the points by the file and not by the time of the request. */
static void
date_points(struct lt_points *points, const struct lt_source_memory *memory, int64_t now_utc_s)
{
	const int64_t age_s = now_utc_s - memory->changed_utc_s;

	points->issued_utc_s = memory->changed_utc_s;
	if (memory->changed_utc_s != 0 && age_s > OLD_S)
		lt_note_add(
		    points, "the list has not changed for %d days", (int)(age_s / LT_DAY_S));
}

/* The newest version that is there and can be read: one more than the one in use, that, or an older
 * one. A mirror may have but one, under no version. */
static int
sky_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	const char *const mirror = lt_source_option(options, "url", NULL);
	struct lt_error inner = {0};
	struct lt_web web;
	int code, version = VERSION_KNOWN + 1;

	lt_web_start(&web, options, points);
	points->quantity = LT_QUANTITY_PRICE;
	if (mirror != NULL && has_version(mirror))
		version = 0;
	else if (web.memory->version > 0)
		version = web.memory->version + 1;
	for (;;) {
		inner = (struct lt_error){0};
		code = fetch_version(&web, version, window, &inner);
		if ((code != LT_ENOENT && code != LT_EVERSION) ||
		    version == (mirror != NULL ? 0 : VERSION_OLDEST))
			break;
		version = version > VERSION_OLDEST ? version - 1 : 0;
	}
	/* Validators of one version's file do not hold for another's. */
	if (web.memory->version != 0 && web.memory->version != version && code == LT_OK) {
		web.memory->etag[0] = web.memory->last_modified[0] = '\0';
		web.memory->changed_utc_s = 0;
	}
	if (code == LT_OK || code == LT_EINPUT)
		web.memory->version = version;
	if (code == LT_ENOENT)
		code = LT_ENET;
	if (code != LT_OK)
		return lt_error_give(err, code, &inner);
	if (version > VERSION_KNOWN)
		lt_note_add(points, "by version %d of the catalog", version);
	date_points(points, web.memory, window->now_utc_s);
	return LT_OK;
}

const struct lt_adapter lt_adapter_skypilot_catalog = {
    .name = "skypilot_catalog",
    .usage = "machine prices of many clouds, from SkyPilot's catalog; no key",
    .options = sky_options,
    .choices = lt_price_list_choices,
    .interval_s = INTERVAL_S,
    .fresh_s = FRESH_S,
    .gives = LT_QUANTITY_PRICE,
    .currency = lt_price_list_usd,
    .check = sky_check,
    .fetch = sky_fetch,
    .parse = sky_parse,
};
