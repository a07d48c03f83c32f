/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The budget snapshot: lowtided packs and saves it, job_submit loads it. One function per record
 * serves both ways; docs/formats.md, "budget".
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "container.h"
#include "files.h"
#include "files_check.h"

static const char magic[LT_MAGIC_BYTES + 1] = "LTBUD05\n";

enum section_id {
	SECTION_SETTINGS = 1,
	SECTION_BUDGETS,
	SECTION_USAGES,
	SECTION_ACCOUNTS,
	SECTION_BINDINGS,
	SECTION_PAIRS,
	SECTION_MANAGERS,
	SECTION_COUNT = SECTION_MANAGERS,
};

static void
code_rule(struct lt_coder *coder, enum lt_rule *rule)
{
	uint32_t bits = *rule;

	lt_code_u32(coder, &bits);
	*rule = (enum lt_rule)bits;
}

static void
code_amount(struct lt_coder *coder, struct lt_amount *amount)
{
	lt_code_bool(coder, &amount->has_money);
	lt_code_bool(coder, &amount->has_carbon);
	lt_code_i64(coder, &amount->money_micros);
	lt_code_i64(coder, &amount->carbon_mg);
}

static void
code_settings(struct lt_coder *coder, struct lt_budget_snapshot *snapshot)
{
	lt_code_u64(coder, &snapshot->ring_generation);
	lt_code_u64(coder, &snapshot->ring_absorbed);
	lt_code_bool(coder, &snapshot->ready);
	code_rule(coder, &snapshot->on_unknown);
	lt_code_i64(coder, &snapshot->stale_after_s);
	lt_code_i64(coder, &snapshot->jobs_utc_s);
	lt_code_u32(coder, &snapshot->holdout.share_ppm);
	for (int i = 0; i < 2; i++)
		lt_code_u64(coder, &snapshot->holdout.key[i]);
}

static void
code_budget(struct lt_coder *coder, struct lt_budget *budget)
{
	lt_code_text(coder, budget->team, sizeof(budget->team));
	code_rule(coder, &budget->on_exceed);
	lt_code_bool(coder, &budget->has_per_user);
	code_amount(coder, &budget->per_user_limit);
	for (int i = 0; i < LT_PERIODS; i++) {
		struct lt_period *const period = &budget->periods[i];

		lt_code_i64(coder, &period->start_utc_s);
		lt_code_i64(coder, &period->end_utc_s);
		lt_code_text(coder, period->label, sizeof(period->label));
		code_amount(coder, &period->limit);
		code_amount(coder, &period->settled);
		code_amount(coder, &period->held);
	}
}

static void
code_usage(struct lt_coder *coder, struct lt_usage *usage)
{
	lt_code_u32(coder, &usage->budget);
	lt_code_u32(coder, &usage->uid);
	for (int i = 0; i < LT_PERIODS; i++) {
		code_amount(coder, &usage->settled[i]);
		code_amount(coder, &usage->held[i]);
		code_amount(coder, &usage->unseen[i]);
	}
}

static void
code_account(struct lt_coder *coder, struct lt_account *account)
{
	lt_code_text(coder, account->name, sizeof(account->name));
	lt_code_u32(coder, &account->first_binding);
	lt_code_u32(coder, &account->binding_count);
	lt_code_u32(coder, &account->parent);
}

static void
code_pair(struct lt_coder *coder, struct lt_pair *pair)
{
	lt_code_u32(coder, &pair->uid);
	lt_code_u32(coder, &pair->account);
	lt_code_bool(coder, &pair->is_default);
	lt_code_bool(coder, &pair->has_array);
	lt_code_i64(coder, &pair->wall_s);
	lt_code_bool(coder, &pair->wall_always);
}

static void
code_manager(struct lt_coder *coder, struct lt_manager *manager)
{
	lt_code_u32(coder, &manager->uid);
	lt_code_u32(coder, &manager->account);
}

/* The records of one section, both ways. Writing, the tables are the
 * caller's; each record is coded from a copy. */
static void
code_section(struct lt_coder *coder, enum section_id id, struct lt_budget_snapshot *snapshot)
{
#define CODE_ALL(type, count, table, code)                                                         \
	for (uint32_t i = 0; i < (count); i++) {                                                   \
		if (coder->writing) {                                                              \
			type copy = (table)[i];                                                    \
			code(coder, &copy);                                                        \
		} else {                                                                           \
			code(coder, &(table)[i]);                                                  \
		}                                                                                  \
	}                                                                                          \
	break
	switch (id) {
	case SECTION_SETTINGS:
		code_settings(coder, snapshot);
		break;
	case SECTION_BUDGETS:
		CODE_ALL(struct lt_budget, snapshot->budget_count, snapshot->budgets, code_budget);
	case SECTION_USAGES:
		CODE_ALL(struct lt_usage, snapshot->usage_count, snapshot->usages, code_usage);
	case SECTION_ACCOUNTS:
		CODE_ALL(
		    struct lt_account, snapshot->account_count, snapshot->accounts, code_account);
	case SECTION_BINDINGS:
		CODE_ALL(uint32_t, snapshot->binding_count, snapshot->bindings, lt_code_u32);
	case SECTION_PAIRS:
		CODE_ALL(struct lt_pair, snapshot->pair_count, snapshot->pairs, code_pair);
	case SECTION_MANAGERS:
		CODE_ALL(
		    struct lt_manager, snapshot->manager_count, snapshot->managers, code_manager);
	}
#undef CODE_ALL
}

static uint32_t
section_records(const struct lt_budget_snapshot *snapshot, enum section_id id)
{
	const uint32_t counts[] = {1, snapshot->budget_count, snapshot->usage_count,
	    snapshot->account_count, snapshot->binding_count, snapshot->pair_count,
	    snapshot->manager_count};

	return counts[id - SECTION_SETTINGS];
}

int
lt_sheet_pack(const struct lt_budget_snapshot *snapshot, unsigned char **bytes, size_t *byte_count,
    struct lt_error *err)
{
	int code = lt_sheet_check(snapshot, err);

	if (code != LT_OK)
		return code;
	struct lt_builder builder;
	code = lt_builder_begin(&builder, SECTION_COUNT, err);
	if (code != LT_OK)
		return code;
	struct lt_budget_snapshot copy = *snapshot;
	for (uint32_t id = SECTION_SETTINGS; id <= SECTION_COUNT; id++) {
		code_section(&builder.coder, (enum section_id)id, &copy);
		lt_builder_end_section(
		    &builder, id, section_records(snapshot, (enum section_id)id));
	}
	return lt_builder_finish(&builder,
	    &(struct lt_stamp){magic, snapshot->generation, snapshot->compiled_utc_s}, bytes,
	    byte_count, err);
}

static int
expect_sections(const struct lt_container *reader, struct lt_error *err)
{
	const uint32_t limits[SECTION_COUNT] = {1, LT_BUDGETS_MAX, LT_USAGES_MAX, LT_ACCOUNTS_MAX,
	    LT_ACCOUNTS_MAX * LT_BINDINGS_MAX, LT_PAIRS_MAX, LT_MANAGERS_MAX};

	for (uint32_t i = 0; i < SECTION_COUNT; i++) {
		const int code =
		    lt_container_expect(reader, i, SECTION_SETTINGS + i, limits[i], err);

		if (code != LT_OK)
			return code;
	}
	if (reader->header.section_count != SECTION_COUNT || reader->sections[0].count != 1)
		return lt_fail(err, LT_ECHECKSUM, "budget snapshot: %u sections, want %d",
		    reader->header.section_count, SECTION_COUNT);
	return LT_OK;
}

/* Every table's place in one block of memory; with base NULL its size. */
static size_t
lay_out(struct lt_budget_snapshot *snapshot, const struct lt_section *sections, unsigned char *base)
{
	size_t at = 0;
#define PLACE(member, count_member, id)                                                            \
	do {                                                                                       \
		snapshot->count_member = sections[(id)-1].count;                                   \
		if (base != NULL)                                                                  \
			snapshot->member = (void *)(base + at);                                    \
		at += ((size_t)snapshot->count_member * sizeof(*snapshot->member) + 15) &          \
		      ~(size_t)15;                                                                 \
	} while (0)
	PLACE(budgets, budget_count, SECTION_BUDGETS);
	PLACE(usages, usage_count, SECTION_USAGES);
	PLACE(accounts, account_count, SECTION_ACCOUNTS);
	PLACE(bindings, binding_count, SECTION_BINDINGS);
	PLACE(pairs, pair_count, SECTION_PAIRS);
	PLACE(managers, manager_count, SECTION_MANAGERS);
#undef PLACE
	return at;
}

static int
read_sheet(struct lt_budget_snapshot *snapshot, struct lt_container *reader, struct lt_error *err)
{
	int code = expect_sections(reader, err);

	if (code != LT_OK)
		return code;
	const size_t size = lay_out(snapshot, reader->sections, NULL);
	/* One byte more: a snapshot without records is valid, NULL is not. */
	snapshot->arena = calloc(1, size + 1);
	if (snapshot->arena == NULL)
		return lt_fail(err, LT_ENOMEM, "budget snapshot: no memory for %zu bytes", size);
	(void)lay_out(snapshot, reader->sections, snapshot->arena);
	snapshot->generation = reader->header.generation;
	snapshot->compiled_utc_s = reader->header.created_utc_s;
	for (uint32_t i = 0; i < SECTION_COUNT; i++) {
		struct lt_coder coder;

		code = lt_container_section(reader, i, &coder, err);
		if (code != LT_OK)
			return code;
		code_section(&coder, (enum section_id)(i + 1), snapshot);
		code = lt_container_done(reader, &coder, i, err);
		if (code != LT_OK)
			return code;
	}
	return lt_sheet_check(snapshot, err);
}

static const struct lt_container_kind kind = {
    "budget snapshot", magic, SECTION_COUNT, LT_FILE_BYTES_MAX};

static int
load_sheet(struct lt_budget_snapshot *snapshot, const struct lt_input *source, struct lt_error *err)
{
	struct lt_container reader;
	struct lt_budget_snapshot fresh = {0};

	memset(snapshot, 0, sizeof(*snapshot));
	int code = lt_container_open(&reader, &kind, source, err);
	if (code != LT_OK)
		return code;
	code = read_sheet(&fresh, &reader, err);
	lt_container_close(&reader);
	if (code != LT_OK)
		lt_sheet_free(&fresh);
	else
		*snapshot = fresh;
	return code;
}

int
lt_sheet_unpack(struct lt_budget_snapshot *snapshot, const unsigned char *bytes, size_t byte_count,
    struct lt_error *err)
{
	const struct lt_input source = {.fd = -1, .bytes = bytes, .size = byte_count};

	return load_sheet(snapshot, &source, err);
}

int
lt_sheet_load(struct lt_budget_snapshot *snapshot, const char *path, struct lt_error *err)
{
	struct lt_input source = {0};

	source.fd = lt_file_open(path, O_RDONLY, true, &source.size, err);
	if (source.fd < 0) {
		memset(snapshot, 0, sizeof(*snapshot));
		return source.fd;
	}
	const int code = load_sheet(snapshot, &source, err);
	close(source.fd);
	return code;
}

int
lt_sheet_save(const struct lt_budget_snapshot *snapshot, const char *path, struct lt_error *err)
{
	unsigned char *bytes = NULL;
	size_t byte_count = 0;
	int code = lt_sheet_pack(snapshot, &bytes, &byte_count, err);

	if (code == LT_OK)
		code = lt_file_replace(path, 0600, bytes, byte_count, err);
	free(bytes);
	return code;
}

int
lt_in_force_save(const char *path, bool yes, struct lt_error *err)
{
	const char *const word = yes ? "yes\n" : "no\n";

	return lt_file_replace(path, 0644, word, strlen(word), err);
}

bool
lt_in_force_load(const char *path)
{
	char word[4] = {0};
	uint64_t size = 0;
	const int fd = lt_file_open(path, O_RDONLY, false, &size, NULL);

	if (fd < 0)
		return false;
	const bool yes = size == sizeof(word) && lt_pread_all(fd, word, sizeof(word), 0) == LT_OK &&
			 memcmp(word, "yes\n", sizeof(word)) == 0;
	close(fd);
	return yes;
}

void
lt_sheet_free(struct lt_budget_snapshot *snapshot)
{
	free(snapshot->arena);
	memset(snapshot, 0, sizeof(*snapshot));
}
