/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What to group a report by, as it is asked for: "day;team,partition".
 */
#include <string.h>

#include "lookup.h"
#include "report_groups.h"

/* Before a key of the policy's labels. */
#define LABEL "label:"

static const char *const names[LT_DIMENSIONS] = {
    [LT_BY_DAY] = "day",
    [LT_BY_MONTH] = "month",
    [LT_BY_TEAM] = "team",
    [LT_BY_USER] = "user",
    [LT_BY_PARTITION] = "partition",
    [LT_BY_QOS] = "qos",
    [LT_BY_GPU] = "gpu",
    [LT_BY_NAME] = "name",
    [LT_BY_WCKEY] = "wckey",
    [LT_BY_STATE] = "state",
    [LT_BY_LABEL] = LABEL,
};

static bool
take_label(struct lt_grouping *to, const char *name, size_t size)
{
	char *const key = to->keys[to->count];

	if (size <= strlen(LABEL) || strncmp(name, LABEL, strlen(LABEL)) != 0 ||
	    size - strlen(LABEL) >= sizeof(to->keys[0]))
		return false;
	memcpy(key, name + strlen(LABEL), size - strlen(LABEL));
	key[size - strlen(LABEL)] = '\0';
	to->dimensions[to->count] = LT_BY_LABEL;
	return lt_label_key_is_valid(key);
}

static bool
take_dimension(struct lt_grouping *to, const char *name, size_t size)
{
	for (int i = 0; i < LT_BY_LABEL; i++)
		if (strlen(names[i]) == size &&
		    memcmp(names[i], name, size) == 0) {
			to->dimensions[to->count] = (enum lt_dimension)i;
			return true;
		}
	return take_label(to, name, size);
}

static int
parse_one(struct lt_grouping *grouping, const char *text, size_t length,
    struct lt_error *err)
{
	size_t at = 0;

	while (at <= length) {
		const char *const name = text + at;
		const size_t size = strcspn(name, ",;");

		if (grouping->count == LT_GROUP_DIMENSIONS_MAX)
			return lt_fail(err, LT_EINPUT,
			    "by: more than %d at once",
			    LT_GROUP_DIMENSIONS_MAX);
		if (!take_dimension(grouping, name, size))
			return lt_fail(err, LT_EINPUT,
			    "by: got \"%.*s\", want day, month, team, user, partition, qos, gpu, name, wckey, state or label:KEY, or several with commas",
			    (int)(size < 40 ? size : 40), name);
		grouping->count++;
		at += size + 1;
	}
	return LT_OK;
}

int
lt_groupings_parse(
    struct lt_groupings *groupings, const char *text, struct lt_error *err)
{
	int rc = LT_OK;

	while (rc == LT_OK && *text) {
		const size_t length = strcspn(text, ";");

		if (groupings->count == LT_GROUPINGS_MAX)
			return lt_fail(err, LT_EINPUT,
			    "by: more than %d groupings", LT_GROUPINGS_MAX);
		rc = parse_one(
		    &groupings->all[groupings->count++], text, length, err);
		text += length + (text[length] == ';');
	}
	return rc;
}

bool
lt_groupings_have(
    const struct lt_groupings *groupings, enum lt_dimension dimension)
{
	for (uint32_t i = 0; i < groupings->count; i++)
		for (uint32_t k = 0; k < groupings->all[i].count; k++)
			if (groupings->all[i].dimensions[k] == dimension)
				return true;
	return false;
}

void
lt_grouping_put_name(
    struct lt_out *out, const struct lt_grouping *grouping, uint32_t which)
{
	lt_out_text(out, LT_WORD(names, grouping->dimensions[which]));
	if (grouping->dimensions[which] == LT_BY_LABEL)
		lt_out_text(out, grouping->keys[which]);
}
