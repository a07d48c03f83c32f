/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The market snapshot: lowtided packs and saves it, plugins and commands load it. Its records:
 * market_records.c; docs/formats.md, "market".
 */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "container.h"
#include "files.h"
#include "files_check.h"
#include "market_records.h"
#include "units.h"

static const char magic[LT_MAGIC_BYTES + 1] = "LTMKT14\n";
/* Magic of version 0.2, which login and compute nodes may have a while
 * longer. */
static const char magic_before[LT_MAGIC_BYTES + 1] = "LTMKT09\n";

enum section_id {
	SECTION_SETTINGS = 1,
	SECTION_PARTITIONS,
	SECTION_LISTS, /* four texts a partition */
	SECTION_SHAPES,
	SECTION_GPUS,
	SECTION_CLASSES,
	SECTION_POWER_CAPS,
	SECTION_PRECISION_RULES,
	SECTION_BARS,
	SECTION_SERIES,			 /* heads */
	SECTION_STEPS,			 /* one section a series, so that each is read only
					  * when it changed */
	STEPS_FIRST = SECTION_STEPS - 1, /* index in the table */
};

/* One malloc: this, the tables, then the steps of all series. */
struct arena {
	/* Series as stored, for the next load; prepare may merge steps. */
	struct lt_section steps[LT_SERIES_MAX];
};

/* Sections of records; the mirror of unpack_tables(). */
static void
pack_tables(struct lt_builder *builder, const struct lt_market *m)
{
	struct lt_coder *const coder = &builder->coder;
	const uint32_t lists = coder->is_before ? LT_LISTS_BEFORE : LT_LISTS;
	struct lt_market settings = *m;

	lt_code_settings(coder, &settings);
	lt_builder_end_section(builder, SECTION_SETTINGS, 1);
	for (uint32_t i = 0; i < m->partition_count; i++) {
		struct lt_partition copy = m->partitions[i];

		lt_code_partition(coder, &copy);
	}
	lt_builder_end_section(builder, SECTION_PARTITIONS, m->partition_count);
	for (uint32_t i = 0; i < m->partition_count; i++)
		lt_pack_lists(coder, &m->partitions[i]);
	lt_builder_end_section(builder, SECTION_LISTS, lists * m->partition_count);
	for (uint32_t i = 0; i < m->shape_count; i++) {
		struct lt_shape copy = m->shapes[i];

		lt_code_shape(coder, &copy);
	}
	lt_builder_end_section(builder, SECTION_SHAPES, m->shape_count);
	for (uint32_t i = 0; i < m->gpu_count; i++) {
		struct lt_gpu copy = m->gpus[i];

		lt_code_gpu(coder, &copy);
	}
	lt_builder_end_section(builder, SECTION_GPUS, m->gpu_count);
	for (uint32_t i = 0; i < m->class_count; i++) {
		struct lt_class copy = m->classes[i];

		lt_code_class(coder, &copy);
	}
	lt_builder_end_section(builder, SECTION_CLASSES, m->class_count);
	for (uint32_t i = 0; i < m->power_cap_count; i++) {
		struct lt_power_cap copy = m->power_caps[i];

		lt_code_power_cap(coder, &copy);
	}
	lt_builder_end_section(builder, SECTION_POWER_CAPS, m->power_cap_count);
	for (uint32_t i = 0; i < m->precision_rule_count; i++) {
		struct lt_precision_rule copy = m->precision_rules[i];

		lt_code_precision_rule(coder, &copy);
	}
	lt_builder_end_section(builder, SECTION_PRECISION_RULES, m->precision_rule_count);
	for (uint32_t i = 0; !coder->is_before && i < m->bar_count; i++) {
		struct lt_bar copy = m->bars[i];

		lt_code_bar(coder, &copy);
	}
	if (!coder->is_before)
		lt_builder_end_section(builder, SECTION_BARS, m->bar_count);
	for (uint32_t i = 0; i < m->series_count; i++) {
		struct lt_series copy = m->series[i];

		lt_code_series_head(coder, &copy);
	}
	lt_builder_end_section(builder, SECTION_SERIES, m->series_count);
}

/* Sections behind the bars, which 0.2 has not, have an id less there. */
static void
number_before(struct lt_builder *builder)
{
	for (uint32_t i = 0; i < builder->ended; i++)
		builder->sections[i].id -= builder->sections[i].id > SECTION_BARS;
}

static int
pack_market(const struct lt_market *market, bool is_before, unsigned char **bytes,
    size_t *byte_count, struct lt_error *err)
{
	int code = lt_market_check(market, err);

	if (code != LT_OK)
		return code;
	struct lt_builder builder;
	code = lt_builder_begin(&builder, STEPS_FIRST - is_before + market->series_count, err);
	if (code != LT_OK)
		return code;
	builder.coder.is_before = is_before;
	pack_tables(&builder, market);
	for (uint32_t i = 0; i < market->series_count; i++) {
		struct lt_series copy = market->series[i];

		lt_code_steps(&builder.coder, &copy);
		lt_builder_end_section(&builder, SECTION_STEPS, copy.count);
	}
	if (is_before)
		number_before(&builder);
	return lt_builder_finish(&builder,
	    &(struct lt_stamp){
		is_before ? magic_before : magic, market->generation, market->compiled_utc_s},
	    bytes, byte_count, err);
}

int
lt_market_pack(
    const struct lt_market *market, unsigned char **bytes, size_t *byte_count, struct lt_error *err)
{
	return pack_market(market, false, bytes, byte_count, err);
}

int
lt_market_pack_before(
    const struct lt_market *market, unsigned char **bytes, size_t *byte_count, struct lt_error *err)
{
	return pack_market(market, true, bytes, byte_count, err);
}

/* The section table has the shape of a market. */
static int
expect_sections(const struct lt_container *reader, struct lt_error *err)
{
	const struct {
		enum section_id id;
		uint32_t limit;
	} wanted[] = {
	    {SECTION_SETTINGS, 1},
	    {SECTION_PARTITIONS, LT_PARTITIONS_MAX},
	    {SECTION_LISTS, LT_LISTS * LT_PARTITIONS_MAX},
	    {SECTION_SHAPES, LT_SHAPES_MAX},
	    {SECTION_GPUS, LT_GPUS_MAX},
	    {SECTION_CLASSES, LT_CLASSES_MAX},
	    {SECTION_POWER_CAPS, LT_POWER_CAPS_MAX},
	    {SECTION_PRECISION_RULES, LT_PRECISION_RULES_MAX},
	    {SECTION_BARS, LT_BARS_MAX},
	    {SECTION_SERIES, LT_SERIES_MAX},
	};

	for (uint32_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const int code = lt_container_expect(reader, i, wanted[i].id, wanted[i].limit, err);

		if (code != LT_OK)
			return code;
	}
	const struct lt_section *const table = reader->sections;
	if (table[0].count != 1 || table[SECTION_LISTS - SECTION_SETTINGS].count !=
				       (reader->is_before ? LT_LISTS_BEFORE : LT_LISTS) *
					   table[SECTION_PARTITIONS - SECTION_SETTINGS].count)
		return lt_fail(err, LT_ECHECKSUM, "market: settings or lists of a wrong count");
	const uint32_t series_count = table[SECTION_SERIES - SECTION_SETTINGS].count;
	if (reader->header.section_count != STEPS_FIRST + series_count)
		return lt_fail(err, LT_ECHECKSUM, "market: %u sections for %u series",
		    reader->header.section_count, series_count);
	for (uint32_t i = 0; i < series_count; i++) {
		const struct lt_section *const s = &table[STEPS_FIRST + i];
		const int code =
		    lt_container_expect(reader, STEPS_FIRST + i, SECTION_STEPS, LT_STEPS_MAX, err);

		if (code != LT_OK)
			return code;
		if (s->count == 0 || s->length != lt_steps_bytes(s->count))
			return lt_fail(err, LT_ECHECKSUM,
			    "market: series %u has %u steps in %llu bytes", i, s->count,
			    (unsigned long long)s->length);
	}
	return LT_OK;
}

static const struct lt_section *
section_of(const struct lt_container *reader, enum section_id id)
{
	return &reader->sections[id - SECTION_SETTINGS];
}

/* Every array's place in one block of memory; with base NULL its size. */
static size_t
lay_out(struct lt_market *m, const struct lt_container *reader, unsigned char *base, char **lists)
{
	size_t at = (sizeof(struct arena) + 15) & ~(size_t)15;
#define PLACE(member, count)                                                                       \
	do {                                                                                       \
		if (base != NULL)                                                                  \
			member = (void *)(base + at);                                              \
		at += ((size_t)(count) * sizeof(*(member)) + 15) & ~(size_t)15;                    \
	} while (0)
	m->partition_count = section_of(reader, SECTION_PARTITIONS)->count;
	m->shape_count = section_of(reader, SECTION_SHAPES)->count;
	m->gpu_count = section_of(reader, SECTION_GPUS)->count;
	m->class_count = section_of(reader, SECTION_CLASSES)->count;
	m->power_cap_count = section_of(reader, SECTION_POWER_CAPS)->count;
	m->precision_rule_count = section_of(reader, SECTION_PRECISION_RULES)->count;
	m->bar_count = section_of(reader, SECTION_BARS)->count;
	m->series_count = section_of(reader, SECTION_SERIES)->count;
	PLACE(m->partitions, m->partition_count);
	PLACE(m->shapes, m->shape_count);
	PLACE(m->gpus, m->gpu_count);
	PLACE(m->classes, m->class_count);
	PLACE(m->power_caps, m->power_cap_count);
	PLACE(m->precision_rules, m->precision_rule_count);
	PLACE(m->bars, m->bar_count);
	PLACE(m->series, m->series_count);
	PLACE(*lists, section_of(reader, SECTION_LISTS)->length + 1);
	for (uint32_t i = 0; i < m->series_count; i++) {
		const uint32_t count = reader->sections[STEPS_FIRST + i].count;
		struct lt_series unplaced = {0};
		struct lt_series *const s = base != NULL ? &m->series[i] : &unplaced;

		PLACE(s->start_utc_s, count + 1);
		PLACE(s->value, count);
		PLACE(s->integral, count + 1);
		s->count = count;
	}
#undef PLACE
	return at;
}

static int
unpack_tables(struct lt_market *m, struct lt_container *reader, char *lists, struct lt_error *err)
{
	for (uint32_t index = 0; index < STEPS_FIRST; index++) {
		struct lt_coder coder;
		int code = lt_container_section(reader, index, &coder, err);

		if (code != LT_OK)
			return code;
		const uint32_t id = reader->sections[index].id;
		if (id == SECTION_SETTINGS)
			lt_code_settings(&coder, m);
		for (uint32_t i = 0; id == SECTION_PARTITIONS && i < m->partition_count; i++)
			lt_code_partition(&coder, &m->partitions[i]);
		if (id == SECTION_LISTS) {
			const unsigned char *const text = lt_coder_take(&coder, coder.size);

			memcpy(lists, text, coder.size);
			coder.bad |= !lt_unpack_lists(
			    m, lists, coder.size, reader->is_before ? LT_LISTS_BEFORE : LT_LISTS);
		}
		for (uint32_t i = 0; id == SECTION_SHAPES && i < m->shape_count; i++)
			lt_code_shape(&coder, &m->shapes[i]);
		for (uint32_t i = 0; id == SECTION_GPUS && i < m->gpu_count; i++)
			lt_code_gpu(&coder, &m->gpus[i]);
		for (uint32_t i = 0; id == SECTION_CLASSES && i < m->class_count; i++)
			lt_code_class(&coder, &m->classes[i]);
		for (uint32_t i = 0; id == SECTION_POWER_CAPS && i < m->power_cap_count; i++)
			lt_code_power_cap(&coder, &m->power_caps[i]);
		for (uint32_t i = 0; id == SECTION_PRECISION_RULES && i < m->precision_rule_count;
		     i++)
			lt_code_precision_rule(&coder, &m->precision_rules[i]);
		for (uint32_t i = 0; id == SECTION_BARS && i < m->bar_count; i++)
			lt_code_bar(&coder, &m->bars[i]);
		for (uint32_t i = 0; id == SECTION_SERIES && i < m->series_count; i++)
			lt_code_series_head(&coder, &m->series[i]);
		code = lt_container_done(reader, &coder, index, err);
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

/* Steps of a series that did not change: same head, length and checksum. */
static bool
copy_steps(struct lt_series *series, const struct lt_section *section, uint32_t index,
    const struct lt_market *previous)
{
	if (previous == NULL || previous->arena == NULL || index >= previous->series_count)
		return false;
	const struct arena *const arena = previous->arena;
	const struct lt_series *const old = &previous->series[index];
	if (arena->steps[index].crc != section->crc ||
	    arena->steps[index].count != section->count ||
	    old->issued_utc_s != series->issued_utc_s || old->quality != series->quality ||
	    strcmp(old->source, series->source) != 0)
		return false;
	/* All that was derived from the steps too; the arrays are our own. */
	const struct lt_series place = *series;
	*series = *old;
	series->start_utc_s = place.start_utc_s;
	series->value = place.value;
	series->integral = place.integral;
	memcpy(series->start_utc_s, old->start_utc_s,
	    ((size_t)old->count + 1) * sizeof(*old->start_utc_s));
	memcpy(series->value, old->value, (size_t)old->count * sizeof(*old->value));
	memcpy(series->integral, old->integral, ((size_t)old->count + 1) * sizeof(*old->integral));
	return true;
}

static int
unpack_steps(struct lt_market *m, struct lt_container *reader, const struct lt_market *previous,
    struct lt_error *err)
{
	struct arena *const arena = m->arena;

	for (uint32_t i = 0; i < m->series_count; i++) {
		const uint32_t index = STEPS_FIRST + i;
		struct lt_series *const series = &m->series[i];

		arena->steps[i] = reader->sections[index];
		if (copy_steps(series, &reader->sections[index], i, previous))
			continue;
		struct lt_coder coder;
		int code = lt_container_section(reader, index, &coder, err);
		if (code == LT_OK) {
			lt_code_steps(&coder, series);
			code = lt_container_done(reader, &coder, index, err);
		}
		if (code == LT_OK)
			code = lt_series_prepare(series, err);
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

/* 0.2 had the power of a node's GPUs alone. */
static void
spread_watts(struct lt_market *market)
{
	for (uint32_t i = 0; i < market->partition_count; i++) {
		const struct lt_partition *const p = &market->partitions[i];

		for (uint32_t k = 0; k < p->shape_count; k++) {
			struct lt_shape *const shape = &market->shapes[p->first_shape + k];

			if (shape->gpus > 0)
				shape->kinds[0].watts = p->node_gpu_w / shape->gpus;
		}
	}
}

static int
read_market(struct lt_market *market, struct lt_container *reader, const struct lt_market *previous,
    struct lt_error *err)
{
	int code = expect_sections(reader, err);

	if (code != LT_OK)
		return code;
	char *lists = NULL;
	const size_t size = lay_out(market, reader, NULL, &lists);
	unsigned char *const base = calloc(1, size);
	if (base == NULL)
		return lt_fail(err, LT_ENOMEM, "market: no memory for %zu bytes", size);
	market->arena = base;
	(void)lay_out(market, reader, base, &lists);
	market->generation = reader->header.generation;
	market->compiled_utc_s = reader->header.created_utc_s;
	code = unpack_tables(market, reader, lists, err);
	if (code == LT_OK)
		code = unpack_steps(market, reader, previous, err);
	if (code == LT_OK)
		code = lt_market_check(market, err);
	if (code == LT_OK && reader->is_before)
		spread_watts(market);
	if (code == LT_OK)
		lt_market_liken(market);
	return code;
}

/* An empty section of bars, so that a market of 0.2 has the shape of ours. */
static int
number_as_ours(struct lt_container *reader, struct lt_error *err)
{
	const uint32_t at = SECTION_BARS - SECTION_SETTINGS;
	struct lt_header *const header = &reader->header;

	if (header->section_count < at || header->section_count == LT_FILE_SECTIONS_MAX)
		return lt_fail(err, LT_ECHECKSUM, "market: sections are missing");
	struct lt_section *const grown =
	    realloc(reader->sections, (header->section_count + 1) * sizeof(*reader->sections));
	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "market: no memory");
	memmove(&grown[at + 1], &grown[at], (header->section_count - at) * sizeof(*grown));
	grown[at] = (struct lt_section){.id = SECTION_BARS,
	    .offset = grown[at - 1].offset + grown[at - 1].length,
	    .crc = lt_crc32c(0, NULL, 0)};
	reader->sections = grown;
	header->section_count++;
	for (uint32_t i = at + 1; i < header->section_count; i++)
		grown[i].id++;
	return LT_OK;
}

/* True if the file is of the version before. */
static bool
is_of_before(const struct lt_input *source)
{
	char bytes[LT_MAGIC_BYTES];

	if (source->size < sizeof(bytes))
		return false;
	if (source->bytes != NULL)
		memcpy(bytes, source->bytes, sizeof(bytes));
	else if (lt_pread_all(source->fd, bytes, sizeof(bytes), 0) != LT_OK)
		return false;
	return memcmp(bytes, magic_before, sizeof(bytes)) == 0;
}

static int
load_market(struct lt_market *market, const struct lt_input *source,
    const struct lt_market *previous, struct lt_error *err)
{
	struct lt_container reader;
	struct lt_market fresh = {0};

	const bool is_before = is_of_before(source);
	const struct lt_container_kind kind = {
	    "market", is_before ? magic_before : magic, LT_FILE_SECTIONS_MAX, LT_FILE_BYTES_MAX};

	memset(market, 0, sizeof(*market));
	int code = lt_container_open(&reader, &kind, source, err);
	if (code != LT_OK)
		return code;
	reader.is_before = is_before;
	if (is_before)
		code = number_as_ours(&reader, err);
	if (code == LT_OK)
		code = read_market(&fresh, &reader, previous, err);
	lt_container_close(&reader);
	if (code != LT_OK)
		lt_market_free(&fresh);
	else
		*market = fresh;
	return code;
}

int
lt_market_unpack(
    struct lt_market *market, const unsigned char *bytes, size_t byte_count, struct lt_error *err)
{
	const struct lt_input source = {.fd = -1, .bytes = bytes, .size = byte_count};

	return load_market(market, &source, NULL, err);
}

int
lt_market_load(struct lt_market *market, const char *path, const struct lt_market *previous,
    struct lt_error *err)
{
	assert(previous != market);

	struct lt_input source = {0};
	source.fd = lt_file_open(path, O_RDONLY, false, &source.size, err);
	if (source.fd < 0) {
		memset(market, 0, sizeof(*market));
		return source.fd;
	}
	const int code = load_market(market, &source, previous, err);
	close(source.fd);
	return code;
}

int
lt_market_save(const struct lt_market *market, const char *path, struct lt_error *err)
{
	unsigned char *bytes = NULL;
	size_t byte_count = 0;
	int code = lt_market_pack(market, &bytes, &byte_count, err);

	if (code == LT_OK)
		code = lt_file_replace(path, 0644, bytes, byte_count, err);
	free(bytes);
	return code;
}

void
lt_market_free(struct lt_market *market)
{
	free(market->arena);
	memset(market, 0, sizeof(*market));
}
