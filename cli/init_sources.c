/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sources of a first policy file: those that need no key, guessed from the
 * time zone. Each is proved by its adapter before it is written.
 */
#include <string.h>

#include "adapter.h"
#include "init.h"

/* A country's grid by its main time zone. Others share the zones of the
 * Americas, Asia and Australia: there only a zone of one grid is here. */
static const struct {
	const char *zone, *place;
	const char *adapter, *key, *value; /* asked; adapter NULL = none */
	const char *profile;		   /* of climatology; NULL = none */
} grids[] = {
#define CHARTS(zone, place, code, profile)                                     \
	{                                                                      \
		zone, place, "energy_charts", "country", code, profile         \
	}
    {"Europe/London", "Great Britain", "uk_carbon_intensity", NULL, NULL, "GB"},
    CHARTS("Europe/Amsterdam", "the Netherlands", "nl", "NL"),
    CHARTS("Europe/Athens", "Greece", "gr", "GR"),
    CHARTS("Europe/Berlin", "Germany", "de", "DE"),
    CHARTS("Europe/Bratislava", "Slovakia", "sk", "SK"),
    CHARTS("Europe/Brussels", "Belgium", "be", "BE"),
    CHARTS("Europe/Bucharest", "Romania", "ro", "RO"),
    CHARTS("Europe/Budapest", "Hungary", "hu", "HU"),
    CHARTS("Europe/Copenhagen", "Denmark", "dk", NULL),
    CHARTS("Europe/Dublin", "Ireland", "ie", "IE"),
    CHARTS("Europe/Helsinki", "Finland", "fi", "FI"),
    CHARTS("Europe/Lisbon", "Portugal", "pt", "PT"),
    CHARTS("Europe/Luxembourg", "Luxembourg", "lu", "LU"),
    CHARTS("Europe/Madrid", "Spain", "es", "ES"),
    CHARTS("Europe/Oslo", "Norway", "no", NULL),
    CHARTS("Europe/Paris", "France", "fr", "FR"),
    CHARTS("Europe/Prague", "Czechia", "cz", "CZ"),
    CHARTS("Europe/Riga", "Latvia", "lv", "LV"),
    CHARTS("Europe/Rome", "Italy", "it", NULL),
    CHARTS("Europe/Sofia", "Bulgaria", "bg", "BG"),
    CHARTS("Europe/Stockholm", "Sweden", "se", NULL),
    CHARTS("Europe/Tallinn", "Estonia", "ee", "EE"),
    CHARTS("Europe/Vienna", "Austria", "at", "AT"),
    CHARTS("Europe/Vilnius", "Lithuania", "lt", "LT"),
    CHARTS("Europe/Warsaw", "Poland", "pl", "PL"),
    CHARTS("Europe/Zagreb", "Croatia", "hr", "HR"),
    CHARTS("Europe/Zurich", "Switzerland", "ch", "CH"),
    {"America/Los_Angeles", "California", NULL, NULL, NULL, "US-CAL-CISO"},
    {"Australia/Adelaide", "South Australia", NULL, NULL, NULL, "AU-SA"},
#undef CHARTS
};

/* Who made the machine, and an example of its regions. */
static const struct {
	const char *vendor, *cloud, *region;
} clouds[] = {
    {"Amazon EC2", "aws", "eu-west-2"},
    {"Google", "gcp", "europe-west2"},
    {"Microsoft Corporation", "azure", "uksouth"},
};

/* Is there such an adapter, and does it take this? Zones of a profile are the
 * adapter's: what it does not ship is not written. */
static bool
passes(const char *adapter, const char *const *words)
{
	const struct lt_adapter *const found =
	    adapter != NULL ? lt_adapter_find(adapter) : NULL;
	struct lt_source_options options = {.name = "grid"};

	/* key, value, ..., NULL */
	for (; words[0] != NULL; words += 2, options.count++) {
		options.items[options.count].key = words[0];
		options.items[options.count].value = words[1];
	}
	return found != NULL &&
	       lt_adapter_check(found, &options, NULL) == LT_OK;
}

static void
write_grid(FILE *out, size_t index, bool asked, bool profile)
{
	const char *const name = asked ? "grid" : "profile";

	fprintf(out,
	    "# The grid of %s, as the time zone is %s:\n"
	    "# are the nodes there? No key is needed. Try it with\n"
	    "#   lowtide signals test %s --config FILE\n"
	    "sources:\n",
	    grids[index].place, grids[index].zone, name);
	if (asked && grids[index].key != NULL)
		fprintf(out, "  grid: {adapter: %s, %s: %s}\n",
		    grids[index].adapter, grids[index].key, grids[index].value);
	else if (asked)
		fprintf(out, "  grid: {adapter: %s}\n", grids[index].adapter);
	if (profile)
		fprintf(out,
		    "  # A usual day of each month, from past years; needs no network%s.\n"
		    "  profile: {adapter: climatology, zone: %s}\n",
		    asked ? ". Counts\n  # while grid is stale" : "",
		    grids[index].profile);
}

/* No grid is known: what can be written by hand. */
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
		if (strcmp(site->vendor, clouds[i].vendor) == 0 &&
		    passes("cloud_region",
			(const char *[]){"cloud", clouds[i].cloud, "region",
			    clouds[i].region, NULL}))
			fprintf(out,
			    "# or, as this is a machine of %s, its region's yearly mean (of which?):\n"
			    "#  grid: {adapter: cloud_region, cloud: %s, region: %s}\n",
			    site->vendor, clouds[i].cloud, clouds[i].region);
}

const char *
lt_init_sources(FILE *out, const struct lt_init_site *site)
{
	fputs(
	    "\n# Where signals come from; `lowtide signals adapters` lists what there is.\n",
	    out);
	for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
		if (strcmp(site->zone, grids[i].zone) != 0)
			continue;
		const bool asked = passes(grids[i].adapter,
		    (const char *[]){grids[i].key, grids[i].value, NULL});
		const bool profile =
		    grids[i].profile != NULL &&
		    passes("climatology",
			(const char *[]){"zone", grids[i].profile, NULL});

		if (!asked && !profile)
			break;
		write_grid(out, i, asked, profile);
		return asked && profile ? "[grid, profile]"
		       : asked		? "grid"
					: "profile";
	}
	write_hints(out, site);
	return NULL;
}
