/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide check FILE: reads a policy file as lowtided would, has each adapter check its own
 * options, and prints every error and warning as "FILE:LINE:COL:
 * ...". It does not ask lowtided. Exit status 1 if there is an error.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cli.h"
#include "signals_check.h"

struct lt_source_options
lt_options_of(const struct lt_policy_source *source)
{
	struct lt_source_options options = {.name = source->name, .count = source->option_count};

	_Static_assert(sizeof(options.items) / sizeof(options.items[0]) >= LT_OPTION_MAX,
	    "every option of a source fits");

	for (int i = 0; i < source->option_count; i++) {
		options.items[i].key = source->options[i].key;
		options.items[i].value = source->options[i].value;
		options.items[i].line = source->options[i].line;
		options.items[i].column = source->options[i].column;
	}
	return options;
}

int
lt_check_source(
    const struct lt_policy *policy, const struct lt_policy_source *source, struct lt_error *err)
{
	const struct lt_source_options options = lt_options_of(source);

	if (lt_adapter_check(lt_adapter_find(source->adapter), &options, err) == LT_OK)
		return LT_OK;
	if (err->line == 0) {
		err->line = source->line;
		err->column = source->column;
	}
	return lt_context(err, "%s:%d:%d", policy->path, err->line, err->column);
}

/* Checks the signals by what each source gives; its options are right. */
static void
check_signals(const struct lt_policy *policy, struct lt_policy_errors *errors)
{
	struct lt_source_kind kinds[LT_SOURCES_MAX];

	for (int i = 0; i < policy->source_count; i++) {
		const struct lt_source_options options = lt_options_of(&policy->sources[i]);
		const struct lt_adapter *const adapter =
		    lt_adapter_find(policy->sources[i].adapter);
		const enum lt_quantity quantity = lt_adapter_quantity(adapter, &options);

		kinds[i].quantity = lt_quantity_name(quantity);
		kinds[i].title = lt_quantity_title(quantity);
		kinds[i].basis = lt_basis_name(lt_adapter_basis(adapter, &options));
		kinds[i].basis_is_option = lt_adapter_has_option(adapter, "emission_factors");
		kinds[i].currency = adapter->currency != NULL ? adapter->currency(&options) : "";
	}
	lt_policy_check_signals(policy, kinds, errors);
}

void
lt_check_sources(const struct lt_policy *policy, struct lt_policy_errors *errors)
{
	for (int i = 0; i < policy->source_count && errors->count < LT_POLICY_ERRORS_MAX; i++) {
		struct lt_error *const err = &errors->items[errors->count];

		*err = (struct lt_error){0};
		if (lt_check_source(policy, &policy->sources[i], err) != LT_OK)
			errors->count++;
	}
	if (errors->count == 0)
		check_signals(policy, errors);
}

bool
lt_check_wants_gpu_power(const struct lt_policy_partition *partition)
{
	return partition->gpu[0] == '\0' && !(partition->node_gpu_w > 0) &&
	       (partition->carbon.is_set || partition->tariff.is_set);
}

/* Warns of files that sources name and that can't be read here: a policy may be checked on another
 * host than the one it is for. */
static void
look_for_files(const struct lt_policy *policy, struct lt_policy_errors *warnings)
{
	for (int i = 0; i < policy->source_count; i++) {
		const struct lt_policy_source *const source = &policy->sources[i];

		for (int k = 0; k < source->option_count && warnings->count < LT_POLICY_ERRORS_MAX;
		     k++) {
			const struct lt_policy_option *const option = &source->options[k];
			const size_t length = strlen(option->key);
			const bool is_file =
			    strcmp(option->key, "path") == 0 ||
			    (length > 5 && strcmp(option->key + length - 5, "_file") == 0);

			if (!is_file || access(option->value, R_OK) == 0)
				continue;
			struct lt_error *const err = &warnings->items[warnings->count++];

			lt_fail(err, LT_EIO, "%s:%d:%d: warning: %s: %s: %s: %s", policy->path,
			    option->line, option->column, source->name, option->key, option->value,
			    strerror(errno));
			err->line = option->line;
			err->column = option->column;
		}
	}
}

/* Warns of a pool whose GPUs are known by node: alone, which has no types. */
static void
look_for_gpus(const struct lt_policy *policy, struct lt_policy_errors *warnings)
{
	for (int i = 0; i < policy->partition_count && warnings->count < LT_POLICY_ERRORS_MAX;
	     i++) {
		const struct lt_policy_partition *const partition = &policy->partitions[i];

		if (partition->node.gpus == 0 || !lt_check_wants_gpu_power(partition))
			continue;
		struct lt_error *const err = &warnings->items[warnings->count++];

		lt_fail(err, LT_EINPUT,
		    "%s:%d:%d: warning: %s: node: %u GPUs, power unknown while no node is there: " LT_CHECK_GPU_KEYS,
		    policy->path, partition->line, partition->column, partition->name,
		    partition->node.gpus);
		err->line = partition->line;
		err->column = partition->column;
	}
}

/* Warns in one line of owners who get figures that they can't look up. */
static void
look_for_owners(const struct lt_policy *policy, struct lt_policy_errors *warnings)
{
	const struct lt_policy_owners *first = NULL;
	const char *address = NULL;
	int count = 0;

	for (int i = 0; i < policy->notify.owner_count; i++) {
		const struct lt_policy_owners *const owners = &policy->notify.owners[i];

		for (int k = 0; k < owners->count; k++) {
			if (owners->user[k][0] != '\0')
				continue;
			if (count++ > 0)
				continue;
			first = owners;
			address = owners->to[k];
		}
	}
	if (count == 0 || warnings->count == LT_POLICY_ERRORS_MAX)
		return;
	struct lt_error *const err = &warnings->items[warnings->count++];
	lt_fail(err, LT_EINPUT,
	    "%s:%d:%d: warning: notify: owners: %d of them by address alone can't read the team's figures, as %s: of a user write {user: NAME, mail: %s}",
	    policy->path, first->line, first->column, count, address, address);
	err->line = first->line;
	err->column = first->column;
}

static json_t *
errors_json(const struct lt_policy_errors *errors)
{
	json_t *list = json_array();

	for (int i = 0; i < errors->count; i++)
		json_array_append_new(
		    list, json_pack("{s:i, s:i, s:s}", "line", errors->items[i].line, "column",
			      errors->items[i].column, "text", errors->items[i].text));
	return list;
}

static int
print_json(const char *path, const struct lt_policy *policy, const struct lt_policy_errors *errors,
    const struct lt_policy_errors *warnings)
{
	json_t *body = json_pack("{s:s, s:b, s:i, s:i, s:i, s:o, s:o}", "file", path, "ok",
	    errors->count == 0, "sources", policy != NULL ? policy->source_count : 0, "partitions",
	    policy != NULL ? policy->partition_count : 0, "budgets",
	    policy != NULL ? policy->budget_count : 0, "errors", errors_json(errors), "warnings",
	    errors_json(warnings));
	const int status = lt_cli_print_json(body);

	json_decref(body);
	return status;
}

static void
print_lines(const struct lt_policy_errors *errors)
{
	for (int i = 0; i < errors->count; i++) {
		lt_print_safe(stderr, errors->items[i].text);
		fputc('\n', stderr);
	}
}

static void
print_text(const char *path, const struct lt_policy *policy, const struct lt_policy_errors *errors)
{
	print_lines(errors);
	if (errors->count == LT_POLICY_ERRORS_MAX)
		fprintf(stderr, "lowtide: the first %d errors; there may be more\n",
		    LT_POLICY_ERRORS_MAX);
	if (errors->count > 0)
		return;
	printf("%s: ok: %d source%s, %d partition%s, %d budget%s\n", path, policy->source_count,
	    policy->source_count == 1 ? "" : "s", policy->partition_count,
	    policy->partition_count == 1 ? "" : "s", policy->budget_count,
	    policy->budget_count == 1 ? "" : "s");
}

int
lt_cli_check(const struct lt_cli *cli)
{
	const char *path = cli->operands[0];
	struct lt_policy *policy = NULL;
	struct lt_policy_errors errors = {0}, warnings = {0};

	if (lt_policy_load_all(&policy, path, lt_adapter_names(), &errors) == LT_OK)
		lt_check_sources(policy, &errors);
	if (policy != NULL && errors.count == 0) {
		look_for_files(policy, &warnings);
		look_for_gpus(policy, &warnings);
		look_for_owners(policy, &warnings);
	}
	int status = LT_EXIT_OK;
	if (cli->json) {
		status = print_json(path, policy, &errors, &warnings);
	} else {
		print_lines(&warnings);
		print_text(path, policy, &errors);
	}
	lt_policy_free(policy);
	return errors.count > 0 ? LT_EXIT_FAILURE : status;
}
