/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads the policy file, from disk or memory, into struct lt_policy. Reads a bounded number of
 * bytes, has yaml.c walk them by the tables of keys.c, and sorts the complaints by line. With any
 * complaint there is no policy, and the errors say all that was wrong.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "units.h"

static int
compare_errors(const void *a, const void *b)
{
	const struct lt_error *first = a, *second = b;

	if (first->line != second->line)
		return first->line < second->line ? -1 : 1;
	if (first->column != second->column)
		return first->column < second->column ? -1 : 1;
	return strcmp(first->text, second->text);
}

void
lt_policy_free(struct lt_policy *policy)
{
	if (policy == NULL)
		return;
	free(policy->sources);
	free(policy->partitions);
	free(policy->budgets);
	free(policy->precisions);
	free(policy->classes);
	free(policy->power_caps);
	free(policy->gpus);
	free(policy->exchanges);
	for (int i = 0; i < policy->team_count; i++)
		free(policy->teams[i].labels);
	free(policy->teams);
	free(policy->notify.owners);
	free(policy);
}

const struct lt_policy_source *
lt_policy_source_find(const struct lt_policy *policy, const char *name)
{
	for (int i = 0; i < policy->source_count; i++)
		if (strcmp(policy->sources[i].name, name) == 0)
			return &policy->sources[i];
	return NULL;
}

static struct lt_policy *
policy_new(const char *name)
{
	struct lt_policy *policy = calloc(1, sizeof(*policy));

	if (policy == NULL)
		return NULL;
	snprintf(policy->path, sizeof(policy->path), "%s", name);
	policy->mode = LT_MODE_OBSERVE;
	policy->max_delay_s = LT_DAY_S;
	policy->stale_after_s = 3 * LT_HOUR_S;
	policy->deadline_slack_s = 30 * 60;
	policy->deadline_confidence_ppm = 950000;
	policy->max_restart_risk_ppm = 100000;
	policy->max_extra_cost_ppm = 100000;
	policy->hold_margin_ppm = 50000;
	policy->min_saving_ppm = 50000;
	policy->waiting_micros_per_hour = -1; /* its default is dollars */
	policy->waiting_g_per_hour = 5;
	policy->on_unknown = LT_RULE_HOLD;
	policy->listen_port = 6826;
	policy->history_days = 400;
	policy->close_after_s = 3 * LT_DAY_S;
	return policy;
}

/* The one error of a file that could not be read at all. */
static int
fail_whole(struct lt_policy_errors *errors, enum lt_code code, const char *name, const char *why)
{
	errors->items[errors->count++] = (struct lt_error){0};
	return lt_fail(&errors->items[errors->count - 1], code, "%s: %s", name, why);
}

int
lt_policy_parse_all(struct lt_policy **policy, const struct lt_policy_text *text,
    const char *const *known_adapters, struct lt_policy_errors *errors)
{
	const char *const name = text->name;

	*policy = NULL;
	errors->count = 0;
	memset(errors->items, 0, sizeof(errors->items));
	if (text->length > LT_POLICY_BYTES_MAX)
		return fail_whole(
		    errors, LT_ELIMIT, name, "longer than 2 MiB, the limit of a policy file");
	struct lt_policy *made = policy_new(name);
	if (made == NULL)
		return fail_whole(errors, LT_ENOMEM, name, "out of memory");
	yaml_document_t document;
	struct lt_reader reader = {
	    .name = name,
	    .document = &document,
	    .policy = made,
	    .known_adapters = known_adapters,
	    .errors = errors,
	};
	if (lt_yaml_load(&reader, &document, text->bytes, text->length)) {
		const yaml_node_t *root = yaml_document_get_root_node(&document);

		if (root->type == YAML_MAPPING_NODE) {
			lt_read_mapping(&reader, lt_policy_keys, root, made);
			lt_policy_finish(&reader);
		} else {
			lt_complain(&reader, root, "got a %s, want keys such as partitions:",
			    root->type == YAML_SCALAR_NODE ? "text" : "list");
		}
		yaml_document_delete(&document);
	}
	if (errors->count > 0) {
		lt_policy_free(made);
		qsort(
		    errors->items, (size_t)errors->count, sizeof(errors->items[0]), compare_errors);
		return errors->items[0].code;
	}
	*policy = made;
	return LT_OK;
}

int
lt_policy_read(char **text, size_t *length, const char *path, struct lt_policy_errors *errors)
{
	errors->count = 0;
	memset(errors->items, 0, sizeof(errors->items));
	char *bytes = malloc((size_t)LT_POLICY_BYTES_MAX + 1);
	if (bytes == NULL)
		return fail_whole(errors, LT_ENOMEM, path, "out of memory");
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		const int why = errno;

		free(bytes);
		return fail_whole(errors, why == ENOENT ? LT_ENOENT : LT_EIO, path, strerror(why));
	}
	*length = fread(bytes, 1, (size_t)LT_POLICY_BYTES_MAX + 1, file);
	const int failed = ferror(file), why = errno;
	fclose(file);
	if (failed) {
		free(bytes);
		return fail_whole(errors, LT_EIO, path, strerror(why));
	}
	*text = bytes;
	return LT_OK;
}

int
lt_policy_load_all(struct lt_policy **policy, const char *path, const char *const *known_adapters,
    struct lt_policy_errors *errors)
{
	*policy = NULL;
	char *text = NULL;
	size_t length = 0;
	const int code = lt_policy_read(&text, &length, path, errors);
	if (code != LT_OK)
		return code;
	const int result = lt_policy_parse_all(policy,
	    &(struct lt_policy_text){.name = path, .bytes = text, .length = length}, known_adapters,
	    errors);
	free(text);
	return result;
}

/* The first of the errors is the caller's. */
int
lt_policy_load(struct lt_policy **policy, const char *path, const char *const *known_adapters,
    struct lt_error *err)
{
	struct lt_policy_errors errors = {0};
	const int code = lt_policy_load_all(policy, path, known_adapters, &errors);

	if (code != LT_OK && err != NULL && err->code == LT_OK)
		*err = errors.items[0];
	return code;
}
