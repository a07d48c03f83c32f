/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor compares the policy's names with those that Slurm has, as the probe
 * told them, and looks for partitions that no price reaches.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "known_names.h"

/* Of an array of names, or of objects with one; lent; NULL: not known. */
static const char **
names_of(const json_t *list)
{
	const size_t count = json_array_size(list);
	const char **const names = calloc(count + 1, sizeof(*names));
	size_t index;
	const json_t *item;

	if (names == NULL || !json_is_array(list)) {
		free(names);
		return NULL;
	}
	json_array_foreach(list, index, item)
		names[index] = json_is_string(item)
				   ? json_string_value(item)
				   : lt_json_text(item, "name", "");
	return names;
}

struct telling {
	struct lt_doctor *doctor;
	const char *path;
};

/* In a line to paste as root, by whoever may name an account: nothing that sed
 * or a shell takes for more than a letter. */
static bool
is_plain(const char *text)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_-./";

	return text[strspn(text, plain)] == '\0';
}

/* A key is told by its line alone: others may be like it. */
static bool
has_line(const struct telling *telling, const struct lt_unknown_name *unknown)
{
	return unknown->nearest != NULL && is_plain(unknown->nearest) &&
	       is_plain(unknown->name) && is_plain(telling->path) &&
	       (unknown->key[0] != '\0' || unknown->line > 0);
}

static void
tell(void *context, const struct lt_unknown_name *unknown)
{
	const struct telling *const telling = context;
	char mend[1024];

	if (has_line(telling, unknown) && unknown->key[0] == '\0')
		(void)snprintf(mend, sizeof(mend),
		    "sed -i '%ds|\\b%s\\(\"\\?:\\)|%s\\1|' %s", unknown->line,
		    unknown->name, unknown->nearest, telling->path);
	else if (has_line(telling, unknown))
		(void)snprintf(mend, sizeof(mend),
		    "sed -i 's~\\b\\(%s: *\"\\?\\)%s\\([] \",}#]\\|$\\)~\\1%s\\2~' %s",
		    unknown->key, unknown->name, unknown->nearest,
		    telling->path);
	else
		(void)snprintf(mend, sizeof(mend),
		    "mend it in %.600s, or take it out: %s", telling->path,
		    unknown->is_limit ? "it limits nobody"
				      : "it is a rule for nobody");
	lt_doctor_say(telling->doctor,
	    unknown->is_limit ? LT_LEVEL_ERROR : LT_LEVEL_WARNING, "names",
	    mend, "%s", unknown->text);
}

static bool
has_price(const struct lt_policy *policy, const char *partition)
{
	for (int i = 0; i < policy->partition_count; i++)
		if (strcmp(policy->partitions[i].name, partition) == 0)
			return policy->partitions[i].price.is_set ||
			       policy->partitions[i].has_gpu_price ||
			       (policy->partitions[i].owned &&
				   policy->partitions[i].tariff.is_set);
	return false;
}

/* Where others have one: else the site shows no money. */
static void
check_prices(struct lt_doctor *doctor, const struct lt_policy *policy,
    const char *const *partitions)
{
	char list[256] = "";
	size_t length = 0;
	bool any = false;

	for (int i = 0; i < policy->partition_count; i++)
		any |= has_price(policy, policy->partitions[i].name);
	for (; any && *partitions != NULL; partitions++)
		if (!has_price(policy, *partitions) &&
		    length < sizeof(list) - LT_NAME_SIZE)
			length += (size_t)snprintf(list + length,
			    sizeof(list) - length, "%s%s", length ? ", " : "",
			    *partitions);
	if (length > 0)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "prices",
		    "give it price_per_node_hour under partitions: in the policy file",
		    "no price for %s: jobs there cost nothing that reports could show, and those of budgeted teams meet on_unknown",
		    list);
}

/* Slurm shows no node of it: an autoscaler from zero, dynamic nodes, or a
 * cloud's that are powered down. */
static void
check_nodes(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	const json_t *const partitions =
	    json_object_get(doctor->facts, "partitions");
	size_t index;
	const json_t *partition;

	json_array_foreach(partitions, index, partition) {
		const char *const name = lt_json_text(partition, "name", "");
		bool is_said = false;

		if (json_array_size(json_object_get(partition, "shapes")) > 0)
			continue;
		for (int i = 0; i < policy->partition_count; i++)
			is_said |=
			    policy->partitions[i].node.is_set &&
			    strcmp(policy->partitions[i].name, name) == 0;
		if (is_said)
			lt_doctor_say(doctor, LT_LEVEL_NOTE, "nodes", "",
			    "partition %s has no node now: jobs there are priced by those that lowtided saw last, else by node: of the policy file",
			    name);
		else
			lt_doctor_say(doctor, LT_LEVEL_WARNING, "nodes",
			    "give it node: {cpus: 64, memory: 500GiB, gpus: 8}, as they are, in the policy file; of powered-down cloud nodes Slurm tells by PrivateData=cloud",
			    "partition %s has no node now: jobs there are priced by those that lowtided saw last; if it saw none, those of budgeted teams meet on_unknown",
			    name);
	}
}

/* A price of a GPU is a node's only where all have as many. */
static void
check_gpu_prices(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	const json_t *const partitions =
	    json_object_get(doctor->facts, "partitions");
	size_t index, kind;
	const json_t *partition, *shape;

	json_array_foreach(partitions, index, partition) {
		const char *const name = lt_json_text(partition, "name", "");
		int64_t first = -1, gpus = 0;
		bool is_one = true, is_priced = false;

		for (int i = 0; i < policy->partition_count; i++)
			is_priced |=
			    policy->partitions[i].has_gpu_price &&
			    policy->partitions[i].node.gpus == 0 &&
			    strcmp(policy->partitions[i].name, name) == 0;
		json_array_foreach(
		    json_object_get(partition, "shapes"), kind, shape) {
			(void)lt_json_int(shape, "gpus", &gpus);
			is_one &= first < 0 || gpus == first;
			first = gpus;
		}
		if (is_priced && (!is_one || first <= 0))
			lt_doctor_say(doctor, LT_LEVEL_ERROR, "prices",
			    "give it price_per_node_hour in the policy file, or make a partition of each kind of node",
			    "price_per_gpu_hour of %s: %s", name,
			    is_one
				? "its nodes have no GPUs"
				: "its nodes have different numbers of GPUs");
	}
}

int
lt_doctor_names(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	const json_t *const all = json_object_get(doctor->facts, "accounts");
	const char **const partitions =
	    names_of(json_object_get(doctor->facts, "partitions"));
	/* None where slurmdbd did not answer. */
	const char **const accounts =
	    json_array_size(all) > 0 ? names_of(all) : NULL;
	const char **const qoses =
	    names_of(json_object_get(doctor->facts, "qoses"));

	const int unknown = lt_policy_unknown_names(policy,
	    &(struct lt_known_names){partitions, accounts, qoses},
	    &(struct lt_unknown_teller){
		&(struct telling){doctor, policy->path}, tell});
	if (partitions != NULL && unknown == 0)
		check_prices(doctor, policy, partitions);
	check_gpu_prices(doctor, policy);
	check_nodes(doctor, policy);
	free(partitions);
	free(accounts);
	free(qoses);
	return unknown;
}
