/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Google Cloud: preempted turns TRUE some 30 s before the machine is stopped, and maintenance-event
 * names maintenance that it does not outlive, a minute ahead or more. Neither says when.
 */
#include <stdio.h>
#include <string.h>

#include "reclaim.h"
#include "min_max.h"

#define PREEMPTED "/computeMetadata/v1/instance/preempted"
#define MAINTENANCE "/computeMetadata/v1/instance/maintenance-event"

enum { PREEMPTED_LEAD_S = 30, MAINTENANCE_LEAD_S = 60 };

static void
note_reading(struct lt_reading *reading, const char *what, int64_t lead_s)
{
	reading->is_noticed = true;
	reading->lead_s = lead_s;
	snprintf(reading->what, sizeof(reading->what), "%s", what);
}

int
lt_gcp_parse(struct lt_reading *reading, const char *preempted, const char *maintenance,
    int64_t lead_s, struct lt_error *err)
{
	if (strcmp(preempted, "TRUE") != 0 && strcmp(preempted, "FALSE") != 0)
		return lt_fail(
		    err, LT_EINPUT, PREEMPTED ": got \"%.40s\", want TRUE or FALSE", preempted);
	if (strcmp(preempted, "TRUE") == 0)
		note_reading(reading, "preempted", lead_s > 0 ? lead_s : PREEMPTED_LEAD_S);
	else if (strcmp(maintenance, "TERMINATE_ON_HOST_MAINTENANCE") == 0)
		note_reading(reading, "maintenance", lt_max_i64(lead_s, MAINTENANCE_LEAD_S));
	else if (strcmp(maintenance, "NONE") != 0)
		snprintf(reading->aside, sizeof(reading->aside), "maintenance-event: %.60s",
		    maintenance);
	return LT_OK;
}

/* Reads one word into out. */
static int
get_word(struct lt_asker *asker, const char *path, char out[64], struct lt_error *err)
{
	struct lt_http_response response = {0};
	const struct lt_metadata_request request = {
	    .path = path, .headers = {"Metadata-Flavor: Google"}};
	int code = lt_metadata_ask(asker, &request, &response, err);

	if (code == LT_OK && (response.status != 200 || response.body_length >= 64))
		code = lt_metadata_fail(path, &response, err);
	if (code == LT_OK) {
		snprintf(out, 64, "%s", response.body);
		out[strcspn(out, " \r\n")] = '\0';
	}
	lt_http_free(&response);
	return code;
}

/* A maintenance-event that can't be read hides no preemption. */
static int
look_at_gcp(struct lt_asker *asker, struct lt_reading *reading, struct lt_error *err)
{
	char preempted[64], maintenance[64] = "NONE";
	struct lt_reading found = {0};
	int code = get_word(asker, PREEMPTED, preempted, err);

	if (code == LT_OK && strcmp(preempted, "TRUE") != 0)
		code = get_word(asker, MAINTENANCE, maintenance, err);
	if (code == LT_OK)
		code = lt_gcp_parse(&found, preempted, maintenance, asker->lead_s, err);
	if (code == LT_OK)
		*reading = found;
	return code;
}

const struct lt_node_source lt_node_gcp = {
    .name = "gcp", .base = "http://169.254.169.254", .look = look_at_gcp};
