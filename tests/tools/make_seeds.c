/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the fuzzers' seeds of our own files, in today's formats: a whole file, an empty one, one
 * that is cut by a byte and one with a bit turned, of each.
 *
 *   make_seeds CORPUS    (tests/fuzz/corpus; its folders are there)
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "terms.h"
#include "unit/files_fixture.h"

static const char *corpus;

static void
must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "make_seeds: %s\n", what);
	exit(1);
}

static void
put(const char *kind, const char *name, const unsigned char *bytes, size_t size)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s", corpus, kind, name);
	file = fopen(path, "wb");
	must(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, path);
}

static void
put_whole(const char *kind, const char *name, unsigned char *bytes, size_t size)
{
	put(kind, name, bytes, size);
	put(kind, "cut", bytes, size - 1);
	bytes[size / 2] ^= 1;
	put(kind, "damaged", bytes, size);
}

static void
make_markets(void)
{
	unsigned char *bytes;
	size_t size;

	make_market();
	for (int s = 0; s < SERIES; s++) { /* a seed is small */
		series[s].count = 3;
		must(lt_series_prepare(&series[s], NULL) == LT_OK, "series");
	}
	must(lt_market_pack(&market, &bytes, &size, NULL) == LT_OK, "market");
	put_whole("market", "two-partitions", bytes, size);
	free(bytes);
	market = (struct lt_market){.generation = 1, .compiled_utc_s = START};
	market.zone.count = 1;
	market.zone.steps[0].start_utc_s = INT64_MIN;
	must(lt_market_pack(&market, &bytes, &size, NULL) == LT_OK, "market");
	put("market", "empty", bytes, size);
	put("market", "header-only", bytes, 64);
	free(bytes);
}

static void
make_sheets(void)
{
	unsigned char *bytes;
	size_t size;

	make_sheet();
	must(lt_sheet_pack(&snapshot, &bytes, &size, NULL) == LT_OK, "sheet");
	put_whole("sheet", "two-teams", bytes, size);
	free(bytes);
	snapshot = (struct lt_budget_snapshot){.generation = 1};
	must(lt_sheet_pack(&snapshot, &bytes, &size, NULL) == LT_OK, "sheet");
	put("sheet", "empty", bytes, size);
	free(bytes);
}

/* Jobs 1 to `count`, as the bytes of their file. */
static void
make_terms(const char *name, uint32_t count)
{
	static struct lt_terms jobs[LT_TERMS_BLOCK + 1];
	static unsigned char bytes[64 * 1024];
	char path[] = "/tmp/lt-seeds-XXXXXX";
	const int fd = mkstemp(path);
	FILE *file;
	size_t size;

	must(fd >= 0 && count <= LT_TERMS_BLOCK + 1, path);
	close(fd);
	for (uint32_t i = 0; i < count; i++)
		jobs[i] = (struct lt_terms){.job_id = i + 1,
		    .uid = 1000,
		    .quote_id = 77 + i,
		    .hold_money_micros = 3600001,
		    .limit_s = 3600,
		    .tasks = 1,
		    .flags = LT_TERMS_PENDING | LT_TERMS_HAS_MONEY,
		    .start_utc_s = START,
		    .end_utc_s = START + 3600,
		    .partition_count = 1,
		    .asked = {.min_nodes = 1, .tasks = 4, .gpus = 2}};
	must(lt_terms_write(path, jobs, count, 5, NULL) == LT_OK, path);
	file = fopen(path, "rb");
	must(file != NULL, path);
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	unlink(path);
	if (count > LT_TERMS_BLOCK)
		put_whole("terms", name, bytes, size);
	else
		put("terms", name, bytes, size);
}

int
main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: make_seeds CORPUS\n", stderr);
		return 2;
	}
	corpus = argv[1];
	make_markets();
	make_sheets();
	make_terms("empty", 0);
	make_terms("one", 1);
	make_terms("two-blocks", LT_TERMS_BLOCK + 1);
	return 0;
}
