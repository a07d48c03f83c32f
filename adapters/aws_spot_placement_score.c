/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spot placement scores of EC2 (GetSpotPlacementScores): how likely a request for so much capacity
 * would be met now. A hint, which decides nothing. docs/sources/aws_spot_placement_score.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aws.h"
#include "source.h"
#include "units.h"

enum {
	INTERVAL_S = 3 * LT_HOUR_S,
	TYPES_MAX = 20, /* of one question: more, refused */
	TYPES_FEW = 3,	/* AWS scores fewer low, whatever there is */
	CAPACITY_MAX = 2000000000,
	PAGES_MAX = 10, /* of one region: more, refused */
	SCORE_MAX = 10,
	FORM_SIZE = 3072,
};

static const struct lt_adapter_option score_options[] = {
    {"region", true, "as eu-west-2", NULL},
    {"instance_types", true, "as g5.xlarge,g6.xlarge,g6e.xlarge: three or more", NULL},
    {"capacity", false, "instances wanted at once", "1"},
    {"zone_id", false, "all in one availability zone, as euw2-az1", NULL},
    LT_AWS_LOGIN_OPTIONS,
    {"url", false, "base URL of another endpoint", "https://ec2.REGION.amazonaws.com"},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

struct scores {
	const char *region, *zone_id; /* NULL = the whole region */
	int items, score;	      /* 0 = none of the place yet */
	struct lt_error refusal;
};

/* The index-th of the list, blanks dropped; false after the last, or when it is none. */
static bool
type_at(const char *list, int index, char out[64])
{
	size_t length;

	for (int i = 0; i < index; i++) {
		list = strchr(list, ',');
		if (list == NULL)
			return false;
		list++;
	}
	list += strspn(list, " ");
	length = strcspn(list, ", ");
	/* Without a comma the next one would be lost. */
	if (length >= 64 || strchr(",", list[length + strspn(list + length, " ")]) == NULL)
		length = 0;
	memcpy(out, list, length);
	out[length] = '\0';
	return true;
}

static int
type_count(const char *list)
{
	char type[64];
	int count = 0;

	while (count <= TYPES_MAX && type_at(list, count, type))
		count++;
	return count;
}

static int
types_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const list = lt_source_option(options, "instance_types", "");
	char type[64];
	int i = 0;

	for (; i <= TYPES_MAX && type_at(list, i, type); i++)
		if (!lt_aws_is_name(type))
			return lt_option_fail(options, "instance_types", err,
			    "%s: instance_types: got \"%s\", want a list such as g5.xlarge,g6.xlarge,g6e.xlarge",
			    options->name, list);
	if (i > TYPES_MAX)
		return lt_option_fail(options, "instance_types", err,
		    "%s: instance_types: more than %d", options->name, TYPES_MAX);
	return LT_OK;
}

static int
score_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const capacity = lt_source_option(options, "capacity", "1");
	const char *const zone_id = lt_source_option(options, "zone_id", NULL);
	const char *const region = lt_source_option(options, "region", "");
	int64_t number;
	int code = lt_aws_region_check(options, err);

	if (code == LT_OK)
		code = types_check(options, err);
	if (code == LT_OK && lt_int64_parse(capacity, 1, CAPACITY_MAX, &number, NULL) != LT_OK)
		code = lt_option_fail(options, "capacity", err,
		    "%s: capacity: got \"%s\", want a number of instances", options->name,
		    capacity);
	if (code == LT_OK && zone_id != NULL &&
	    (!lt_aws_is_name(zone_id) || strncmp(zone_id, region, strlen(region)) == 0))
		code = lt_option_fail(options, "zone_id", err,
		    "%s: zone_id: got \"%s\", want an id such as euw2-az1", options->name, zone_id);
	if (code == LT_OK)
		code = lt_aws_login_check(options, err);
	return code;
}

/* The order of score_items.fields. */
static int
take_score(void *context, const struct lt_aws_text texts[LT_AWS_FIELDS_MAX], struct lt_error *err)
{
	struct scores *const scores = context;
	char text[32];
	int64_t score;

	(void)err;
	scores->items++;
	if (!lt_aws_text_is(&texts[0], scores->region) ||
	    (scores->zone_id == NULL ? texts[1].length > 0
				     : !lt_aws_text_is(&texts[1], scores->zone_id)))
		return LT_OK;
	if (!lt_aws_text_copy(text, sizeof(text), &texts[2]))
		lt_fail(&scores->refusal, LT_EINPUT, "a place without score");
	else if (lt_int64_parse(text, 1, SCORE_MAX, &score, NULL) != LT_OK)
		lt_fail(
		    &scores->refusal, LT_EINPUT, "got the score %s, want 1 to %d", text, SCORE_MAX);
	else
		scores->score = (int)score;
	return LT_OK;
}

static const struct lt_aws_items score_items = {
    .root = "GetSpotPlacementScoresResponse",
    .set = "spotPlacementScoreSet",
    .fields = {"region", "availabilityZoneId", "score"},
    .take = take_score,
};

static void
scores_start(struct scores *scores, const struct lt_source_options *options)
{
	*scores = (struct scores){
	    .region = lt_source_option(options, "region", ""),
	    .zone_id = lt_source_option(options, "zone_id", NULL),
	};
}

/* Makes the point: a score holds until the next request but one. */
static int
scores_end(const struct scores *scores, const struct lt_source_options *options, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	const int64_t start_utc_s = now_utc_s - now_utc_s % LT_HOUR_S;
	const struct lt_point point = {
	    .start_utc_s = start_utc_s,
	    .end_utc_s = start_utc_s + 2 * INTERVAL_S,
	    .value = scores->score,
	    .quality = LT_QUALITY_ESTIMATED,
	};

	points->quantity = LT_QUANTITY_SCORE;
	if (scores->score == 0)
		return lt_fail(err, LT_EINPUT, "%d scores and no usable one of %s%s%s",
		    scores->items, scores->zone_id != NULL ? scores->zone_id : scores->region,
		    scores->refusal.text[0] != '\0' ? ": " : "", scores->refusal.text);
	if (type_count(lt_source_option(options, "instance_types", "")) < TYPES_FEW)
		snprintf(points->note, sizeof(points->note),
		    "of fewer than %d instance types, which AWS always scores low", TYPES_FEW);
	return lt_points_add(points, &point, err);
}

static int
score_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_aws_page page = {.bytes = answer->bytes, .byte_count = answer->byte_count};
	struct scores scores;
	int code;

	scores_start(&scores, options);
	code = lt_aws_items_read(&score_items, &scores, &page, err);
	if (code == LT_OK)
		code = scores_end(&scores, options, answer->now_utc_s, points, err);
	return lt_error_mend(err, code);
}

static void
score_error_text(char *out, size_t size, const char *body, size_t length)
{
	lt_aws_error_text(out, size, body, length, "ec2:GetSpotPlacementScores");
}

/* The options are checked: nothing in them needs an escape. */
static void
make_form(
    char form[FORM_SIZE], const struct lt_source_options *options, const struct scores *scores)
{
	const char *const list = lt_source_option(options, "instance_types", "");
	char type[64];
	int length = snprintf(form, FORM_SIZE,
	    "&RegionName.1=%s&TargetCapacity=%s&SingleAvailabilityZone=%s", scores->region,
	    lt_source_option(options, "capacity", "1"), scores->zone_id != NULL ? "true" : "false");

	for (int i = 0; i < TYPES_MAX && type_at(list, i, type); i++)
		length += snprintf(form + length, (size_t)(FORM_SIZE - length),
		    "&InstanceType.%d=%s", i + 1, type);
}

static int
score_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	char form[FORM_SIZE];
	struct lt_aws_login login = {"", ""};
	struct scores scores;
	const struct lt_aws_action action = {
	    .name = "GetSpotPlacementScores",
	    .form = form,
	    .items = &score_items,
	    .context = &scores,
	    .pages_max = PAGES_MAX,
	    .error_text = score_error_text,
	};
	struct lt_web web;
	int code;

	lt_web_start(&web, options, points);
	scores_start(&scores, options);
	make_form(form, options, &scores);
	code = lt_aws_login_get(&web, window->now_utc_s, &login, err);
	if (code == LT_OK)
		code = lt_aws_do(&web, &login, &action, err);
	explicit_bzero(&login, sizeof(login));
	if (code == LT_OK) {
		code = scores_end(&scores, options, window->now_utc_s, points, err);
		if (code != LT_OK)
			lt_context(err, "%s", options->name);
	}
	return lt_error_mend(err, code);
}

const struct lt_adapter lt_adapter_aws_spot_placement_score = {
    .name = "aws_spot_placement_score",
    .usage = "spot placement score of EC2 instance types, as a hint",
    .options = score_options,
    .interval_s = INTERVAL_S,
    .gives = LT_QUANTITY_SCORE,
    .check = score_check,
    .fetch = score_fetch,
    .parse = score_parse,
};
