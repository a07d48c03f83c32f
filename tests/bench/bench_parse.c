/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time to parse the two large answers of AWS: the Spot Advisor file (given,
 * or one made up of the same size), and 100,000 spot price records laid out
 * as EC2 does. Medians of RUNS, in processor time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapter.h"
#include "units.h"

enum {
	RUNS = 7,
	RECORDS = 100000,
	REGIONS = 33,
	TYPES = 389, /* a region and system: 0.9 MB in all */
	BYTES_MAX = 64 * 1024 * 1024,
	NOW_UTC_S = 1750000000,
};

static double
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int
compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void
measure(const char *name, const char *adapter_name, const struct lt_source_options *options,
    const char *bytes, size_t byte_count)
{
	const struct lt_adapter *const adapter = lt_adapter_find(adapter_name);
	double took_ms[RUNS];

	for (int i = 0; i < RUNS; i++) {
		struct lt_points points = {0};
		struct lt_error err = {0};
		const double begin_ms = now_ms();

		if (lt_adapter_parse(adapter, options,
			&(struct lt_answer){bytes, byte_count, NOW_UTC_S}, &points,
			&err) != LT_OK) {
			fprintf(stderr, "bench_parse: %s: %s\n", name, err.text);
			exit(1);
		}
		took_ms[i] = now_ms() - begin_ms;
		lt_points_free(&points);
	}
	qsort(took_ms, RUNS, sizeof(took_ms[0]), compare);
	printf("%s %.1f\n", name, took_ms[RUNS / 2]);
}

static size_t
make_advisor(char *out)
{
	size_t length =
	    (size_t)sprintf(out, "{\"ranges\": [{\"index\": 0, \"label\": \"<5%%\", \"dots\": 0, "
				 "\"max\": 5}], \"spot_advisor\": {");

	for (int region = 0; region < REGIONS; region++) {
		length += (size_t)sprintf(
		    out + length, "%s\"region-%d\": {", region == 0 ? "" : ", ", region);
		for (int os = 0; os < 2; os++) {
			length += (size_t)sprintf(out + length, "%s\"%s\": {", os == 0 ? "" : ", ",
			    os == 0 ? "Linux" : "Windows");
			for (int type = 0; type < TYPES; type++)
				length += (size_t)sprintf(out + length,
				    "%s\"m%d.xlarge\": {\"s\": 59, \"r\": 0}",
				    type == 0 ? "" : ", ", type);
			length += (size_t)sprintf(out + length, "}");
		}
		length += (size_t)sprintf(out + length, "}");
	}
	return length + (size_t)sprintf(out + length, "}}");
}

static void
bench_advisor(char *bytes, const char *path)
{
	const struct lt_source_options given = {.name = "bench",
	    .count = 2,
	    .items = {{"region", "us-east-1", 1, 1}, {"instance_type", "g5.xlarge", 2, 1}}};
	const struct lt_source_options made = {.name = "bench",
	    .count = 2,
	    .items = {{"region", "region-9", 1, 1}, {"instance_type", "m9.xlarge", 2, 1}}};
	size_t length;

	if (path == NULL) {
		length = make_advisor(bytes);
	} else {
		FILE *const file = fopen(path, "rb");

		if (file == NULL) {
			perror(path);
			exit(1);
		}
		length = fread(bytes, 1, BYTES_MAX, file);
		fclose(file);
	}
	measure("advisor_ms", "aws_spot_advisor", path == NULL ? &made : &given, bytes, length);
}

/* Newest first, six zones in turn, a change each minute. */
static void
bench_records(char *bytes)
{
	const struct lt_source_options options = {.name = "bench",
	    .count = 3,
	    .items = {{"region", "us-west-2", 1, 1}, {"instance_type", "g5.xlarge", 2, 1},
		{"zone", "any", 3, 1}}};
	size_t length = (size_t)sprintf(bytes,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<DescribeSpotPriceHistoryResponse "
	    "xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">\n"
	    "    <requestId>59dbff89-35bd-4eac-99ed-be587EXAMPLE</requestId>\n"
	    "    <spotPriceHistorySet>\n");

	for (int i = 0; i < RECORDS; i++) {
		char time_text[32];

		lt_utc_text(time_text, sizeof(time_text), NOW_UTC_S - 60 * i);
		length += (size_t)sprintf(bytes + length,
		    "        <item>\n"
		    "            <instanceType>g5.xlarge</instanceType>\n"
		    "            <productDescription>Linux/UNIX"
		    "</productDescription>\n"
		    "            <spotPrice>0.4%05d</spotPrice>\n"
		    "            <timestamp>%.19s.000Z</timestamp>\n"
		    "            <availabilityZone>us-west-2%c"
		    "</availabilityZone>\n"
		    "            <availabilityZoneId>usw2-az%d"
		    "</availabilityZoneId>\n"
		    "        </item>\n",
		    i * 7919 % 100000, time_text, 'a' + i % 6, i % 6 + 1);
	}
	length += (size_t)sprintf(bytes + length,
	    "    </spotPriceHistorySet>\n    <nextToken></nextToken>\n"
	    "</DescribeSpotPriceHistoryResponse>");
	measure("spot_records_ms", "aws_spot_price", &options, bytes, length);
}

int
main(int argc, char **argv)
{
	char *const bytes = malloc(BYTES_MAX);

	if (bytes == NULL)
		return 1;
	bench_advisor(bytes, argc > 1 ? argv[1] : NULL);
	bench_records(bytes);
	free(bytes);
	return 0;
}
