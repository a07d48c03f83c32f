/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AWS: instance metadata, version 2 (a token first). A spot instance that is taken back has
 * spot/instance-action, two minutes ahead; else it is a 404. A rebalance recommendation names no
 * end and may come to nothing: it is logged, and no more.
 */
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "reclaim.h"
#include "units.h"

#define TOKEN "/latest/api/token"
#define ACTION "/latest/meta-data/spot/instance-action"
#define REBALANCE "/latest/meta-data/events/recommendations/rebalance"

enum {
	TOKEN_S = 21600,	/* the most that AWS gives */
	TOKEN_EARLY_MS = 60000, /* asked for anew so long before */
	UNAUTHORIZED = 401,
	ABSENT = 404,
};

static int
get_token(struct lt_asker *asker, struct lt_error *err)
{
	struct lt_http_response response = {0};
	const struct lt_metadata_request request = {.method = "PUT",
	    .path = TOKEN,
	    .headers = {"X-aws-ec2-metadata-token-ttl-seconds: 21600"}};
	int code = LT_OK;

	if (asker->token[0] != '\0' && lt_monotonic_ms() < asker->token_until_ms - TOKEN_EARLY_MS)
		return LT_OK;
	asker->token[0] = '\0';
	code = lt_metadata_ask(asker, &request, &response, err);
	if (code == LT_OK && (response.status != 200 || response.body_length == 0 ||
				 response.body_length >= sizeof(asker->token) ||
				 strpbrk(response.body, " \r\n\t<") != NULL))
		code = lt_metadata_fail(TOKEN, &response, err);
	if (code == LT_OK) {
		snprintf(asker->token, sizeof(asker->token), "%s", response.body);
		asker->token_until_ms = lt_monotonic_ms() + 1000LL * TOKEN_S;
	}
	lt_http_free(&response);
	return code;
}

static int
get_once(struct lt_asker *asker, const char *path, struct lt_http_response *response,
    struct lt_error *err)
{
	char header[sizeof(asker->token) + 32];
	const struct lt_metadata_request request = {.path = path, .headers = {header}};

	if (get_token(asker, err) != LT_OK)
		return err->code;
	snprintf(header, sizeof(header), "X-aws-ec2-metadata-token: %s", asker->token);
	return lt_metadata_ask(asker, &request, response, err);
}

/* LT_OK with 200 or 404. A token may be forgotten before its time, as by an instance that was
 * stopped and started. */
static int
get_path(struct lt_asker *asker, const char *path, struct lt_http_response *response,
    struct lt_error *err)
{
	int code = get_once(asker, path, response, err);

	if (code == LT_OK && response->status == UNAUTHORIZED) {
		asker->token[0] = '\0';
		lt_http_free(response);
		code = get_once(asker, path, response, err);
	}
	if (code == LT_OK && response->status != 200 && response->status != ABSENT)
		code = lt_metadata_fail(path, response, err);
	return code;
}

int
lt_aws_action_parse(struct lt_reading *reading, const char *text, size_t length, int64_t now_utc_s,
    struct lt_error *err)
{
	static const char *const actions[] = {"terminate", "stop", "hibernate"};
	const char *action = NULL, *time = NULL;
	json_t *json = NULL;
	int64_t end_utc_s = 0;
	bool is_known = false;
	int code = lt_json_load(&json, text, length, err);

	if (code == LT_OK && json_unpack(json, "{s:s,s:s}", "action", &action, "time", &time) != 0)
		code = lt_fail(err, LT_EINPUT, "want {action, time}");
	for (size_t i = 0; code == LT_OK && i < 3; i++)
		is_known |= strcmp(action, actions[i]) == 0;
	if (code == LT_OK && !is_known)
		code = lt_fail(err, LT_EINPUT,
		    "action: got \"%.40s\", want terminate, stop or hibernate", action);
	if (code == LT_OK)
		code = lt_utc_parse(time, &end_utc_s, err);
	if (code == LT_OK)
		code = lt_reading_end(reading, end_utc_s, now_utc_s, err);
	if (code == LT_OK)
		snprintf(reading->what, sizeof(reading->what), "%s", action);
	json_decref(json);
	return code == LT_OK ? LT_OK : lt_context(err, ACTION);
}

static void
look_aside(struct lt_asker *asker, struct lt_reading *reading)
{
	struct lt_http_response response = {0};
	char words[96];

	if (get_path(asker, REBALANCE, &response, NULL) == LT_OK && response.status == 200) {
		lt_http_words(words, sizeof(words), &response);
		snprintf(reading->aside, sizeof(reading->aside), "a rebalance is recommended: %s",
		    words);
	}
	lt_http_free(&response);
}

static int
look_at_aws(struct lt_asker *asker, struct lt_reading *reading, struct lt_error *err)
{
	struct lt_http_response response = {0};
	struct lt_reading found = {0};
	int code = get_path(asker, ACTION, &response, err);

	if (code == LT_OK && response.status == 200)
		code = lt_aws_action_parse(
		    &found, response.body, response.body_length, asker->now_utc_s, err);
	lt_http_free(&response);
	if (code != LT_OK)
		return code;
	if (!found.is_noticed)
		look_aside(asker, &found);
	*reading = found;
	return LT_OK;
}

const struct lt_node_source lt_node_aws = {
    .name = "aws", .base = "http://169.254.169.254", .look = look_at_aws};
