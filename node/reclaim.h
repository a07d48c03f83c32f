/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources of a node's notice that it is taken back, a file for each: it asks once and says what
 * holds now. notice.h decides what is sent then. Every failure is returned, and is never a notice.
 */
#ifndef LT_RECLAIM_H
#define LT_RECLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "http.h"

enum {
	LT_NODE_METADATA_CONNECT_MS = 1000, /* link-local, or not there */
	LT_NODE_METADATA_MS = 2000,
	LT_NODE_COMMAND_S = 5,
	LT_NODE_ANSWER_MAX = 64 * 1024, /* of a metadata service, a command */
	LT_NODE_FUTURE_S = 24 * 3600,	/* a later end is nonsense */
	LT_NODE_PAST_S = 3600,		/* and so is an earlier one */
};

struct lt_reading { /* start as { 0 } */
	bool is_noticed;
	bool has_end; /* else the end is lead_s after it was first seen */
	int64_t end_utc_s, lead_s;
	char what[64];	 /* "terminate", for the log */
	char aside[160]; /* worth a line, and no notice; "" = nothing */
};

struct lt_asker {	     /* whom and how; state of a source between looks */
	const char *node;    /* Slurm's name of it */
	const char *base;    /* URL of the metadata service, without / */
	const char *command; /* of the site */
	int64_t lead_s;	     /* of what says no time; 0 = as the cloud says */
	struct lt_http_session session;
	char token[256]; /* AWS; "" = none */
	int64_t token_until_ms;
	char vm_name[256]; /* Azure; "" = not known yet */
	int64_t now_utc_s; /* of this look */
};

struct lt_node_source {
	const char *name;
	const char *base; /* of its metadata service; NULL = has none */
	/* Asks what holds now. *reading is written only on success; a failure is never a notice. */
	int (*look)(struct lt_asker *asker, struct lt_reading *reading, struct lt_error *err);
};

extern const struct lt_node_source lt_node_aws, lt_node_gcp, lt_node_azure, lt_node_command;

/* Finds a source by its name; NULL = no such. */
const struct lt_node_source *lt_node_source_find(const char *name);
/* Finds the cloud's source by what the firmware says in a folder such as /sys/class/dmi/id; NULL =
 * no cloud that is known. */
const struct lt_node_source *lt_node_source_detect(const char *dmi);
/* Returns "aws, gcp, ...". */
const char *lt_node_source_names(void);

/* ---- metadata.c ---- */
/* Sends one request to the metadata service, past any proxy; header "Name:
 * value". LT_OK for any answer. The caller frees it. */
struct lt_metadata_request {
	const char *method, *path, *headers[2];
};
int lt_metadata_ask(struct lt_asker *asker, const struct lt_metadata_request *request,
    struct lt_http_response *response, struct lt_error *err);
/* Fails with what was not understood: the status, and the beginning of the answer. */
int lt_metadata_fail(
    const char *path, const struct lt_http_response *response, struct lt_error *err);
/* Notes a notice with its end, which has to be a possible one. */
int lt_reading_end(
    struct lt_reading *reading, int64_t end_utc_s, int64_t now_utc_s, struct lt_error *err);

/* ---- what they say. Pure; *reading is { 0 } ---- */
int lt_aws_action_parse(struct lt_reading *reading, const char *text, size_t length,
    int64_t now_utc_s, struct lt_error *err);
/* Reads the events that name that VM; the earliest end counts. */
int lt_azure_events_parse(struct lt_reading *reading, const char *vm_name,
    const struct lt_http_response *response, int64_t now_utc_s, struct lt_error *err);
/* Reads preempted (TRUE or FALSE) and the words of maintenance-event. lead_s: 0 = the cloud's. */
int lt_gcp_parse(struct lt_reading *reading, const char *preempted, const char *maintenance,
    int64_t lead_s, struct lt_error *err);
/* Reads the seconds that are left, or a time. */
int lt_command_parse(
    struct lt_reading *reading, const char *text, int64_t now_utc_s, struct lt_error *err);

#endif
