/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes adapters/climatology_table.c: means by month and UTC hour of recorded
 * life-cycle intensities. Argument: the directory of the recordings named in
 * carbon_profile.h. Run it through clang-format.
 */
#include "tools/carbon_profile.h"

static void
print_zone(const struct profile_zone *profile, double means[12][24])
{
	printf("    {\"%s\", \"%s\",\n\t{", profile->zone.name, profile->years);
	for (int month = 0; month < 12; month++) {
		printf("%s{", month == 0 ? "" : ", ");
		for (int hour = 0; hour < 24; hour++)
			printf("%s%.0f", hour == 0 ? "" : ", ",
			    means[month][hour]);
		printf("}");
	}
	printf("}},\n");
}

int
main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_climatology DIRECTORY\n");
		return 2;
	}
	printf("/* SPDX-License-Identifier: GPL-2.0-or-later */\n"
	       "/*\n"
	       " * Written by tests/tools/make_climatology.c. Facts from "
	       "Electricity Maps by way\n"
	       " * of public research data, which docs/licenses/climatology.md "
	       "names with its\n"
	       " * licences.\n"
	       " */\n"
	       "#include <stddef.h>\n\n#include \"climatology.h\"\n\n"
	       "const struct lt_climatology lt_climatologies[] = {\n");
	for (int i = 0; i < PROFILE_ZONES; i++) {
		double means[12][24];

		if (!zone_load(&profile_zones[i].zone, argv[1])) {
			fprintf(stderr, "%s/%s: not as expected\n", argv[1],
			    profile_zones[i].zone.file);
			return 1;
		}
		profile_make(&profile_zones[i], PROFILE_ALL, false, means);
		print_zone(&profile_zones[i], means);
	}
	printf("    {NULL, NULL, {{0}}},\n};\n");
	return 0;
}
