/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A played Kubernetes API server: what its files share. Requests come in by http.c, are read by
 * request.c and answered by read.c, watch.c and write.c;
 * store.c has the objects; control.c runs Jobs and Pods. One lock, world.lock,
 * is held by who uses a function below, unless its comment says otherwise.
 */
#ifndef LT_KUBE_SERVER_H
#define LT_KUBE_SERVER_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind_index {
	KUBE_NAMESPACES,
	KUBE_NODES,
	KUBE_PODS,
	KUBE_CONFIGMAPS,
	KUBE_EVENTS,
	KUBE_JOBS,
	/* Kept, and no more: tests make their Jobs, admission.c does what the policies say. */
	KUBE_CRON_JOBS,
	KUBE_LIMIT_RANGES,
	KUBE_RUNTIME_CLASSES,
	KUBE_DEVICE_CLASSES,
	KUBE_RESOURCE_SLICES,
	KUBE_RESOURCE_CLAIMS,
	KUBE_CLAIM_TEMPLATES,
	KUBE_MUTATING,
	KUBE_MUTATING_BINDINGS,
	KUBE_VALIDATING,
	KUBE_VALIDATING_BINDINGS,
	KUBE_KIND_COUNT,
};

struct kind {
	const char *resource, *kind, *group, *version, *api_version;
	bool namespaced;
};
extern const struct kind kinds[KUBE_KIND_COUNT];

/* An object as it was at one resourceVersion. The document lives as long as it is the newest; its
 * text, and what selectors look at, as long as history. */
struct version {
	int refs;
	int64_t number;
	json_t *document; /* without kind and apiVersion */
	json_t *labels, *fields;
	char *text; /* of the document */
	size_t length;
};

struct resources {
	int64_t cpu_milli, memory_bytes, gpus, pods;
};

enum { STORE_LEVELS = 14 };

struct object {
	enum kind_index kind;
	char *key; /* "namespace/name" or "name" */
	struct version *now;
	int64_t due_ms; /* when to look again, INT64_MAX: not by time */
	struct object *next_changed;
	bool is_queued, is_removed;
	/* a pod's; when it ends, and when a resize of it is done */
	int64_t end_ms, resized_ms;
	struct object *job, *next_of_job, *node;
	struct resources needs;
	uint64_t shape;			 /* of all that decides where it fits */
	bool waits, is_told, is_counted; /* told: that it finds no place */
	/* a job's */
	struct object *pods;
	int succeeded, failed;
	int64_t start_ms, retry_ms;
	/* a node's */
	struct resources room, used;
	int level;
	struct object *next[STORE_LEVELS];
};

enum event_type { EVENT_ADDED, EVENT_MODIFIED, EVENT_DELETED };

struct event {
	enum event_type type;
	enum kind_index kind;
	char *key;
	struct version *now;
	json_t *labels_before, *fields_before; /* NULL: there was none */
};

/* What goes wrong next, and how often; see faults.c. */
struct faults {
	int64_t gone, cut_streams, cut_mid_line, slow_ms, hang, drop, lose_reply, down;
	int64_t status, retry_after, count, page_expire;
	char match[256], method[16];
};

struct options {
	const char *folder, *nodes, *team_label;
	int port, minor;
	int64_t history, bookmark_ms;
	double speed;
	bool validates, mutates, guards, no_control, tries;
};

struct world {
	pthread_mutex_t lock;
	pthread_cond_t written, work;
	struct options options;
	struct faults faults;
	json_t *counts; /* of requests, by verb and resource */
	char token[64], admin_token[64];
	int64_t version; /* the last one */
	struct object *heads[KUBE_KIND_COUNT][STORE_LEVELS];
	size_t object_counts[KUBE_KIND_COUNT];
	struct event *events;		       /* a ring of options.history */
	int64_t first_event, end_event;	       /* counted from the start */
	int64_t compacted;		       /* events up to this version are gone */
	struct object *changed, **changed_end; /* for control.c */
	int64_t next_due_ms;
	bool must_schedule;
};
extern struct world world;

/* store.c */
void store_start(void);
struct object *store_find(enum kind_index kind, const char *space, const char *name);
/* The first whose key is not less. */
struct object *store_from(enum kind_index kind, const char *key);
/* These take the document, which has its metadata's name, over. */
struct object *store_add(enum kind_index kind, json_t *document);
void store_put(struct object *object, json_t *document);
void store_remove(struct object *object);
void store_compact(void);
void version_hold(struct version *version);
void version_drop(struct version *version);

/* json.c: small things that many need. Getters lend; "" and NULL when absent */
json_t *json_at(const json_t *root, const char *path); /* "spec.template" */
const char *json_text_at(const json_t *root, const char *path);
int64_t json_int_at(const json_t *root, const char *path, int64_t otherwise);
bool json_true_at(const json_t *root, const char *path);
/* Makes the objects on the way; takes the value over. */
void json_put_at(json_t *root, const char *path, json_t *value);
void json_default_at(json_t *root, const char *path, json_t *value);
/* The object of a list whose member is this text. */
json_t *json_member(const json_t *list, const char *member, const char *is);
json_t *json_time(int64_t utc_ms);
int64_t json_time_ms(const char *text); /* INT64_MIN: none */
int64_t now_ms(void);
const char *object_name(const struct object *object);
const char *object_space(const struct object *object, char out[256]);
/* A copy of the newest document, to be changed and put. */
json_t *object_edit(const struct object *object);

/* request.c */
struct request {
	const char *method, *path, *body, *type;
	const char *authorization, *impersonates; /* headers, "" without */
	char manager[256]; /* of fields: the query's, else the client's name */
	size_t body_length;
	char user[256];
	bool is_admin;
	/* of the path */
	bool is_api;			/* else /version and so on */
	char resource[256], group[256]; /* as asked, also those not served */
	int kind;			/* -1: not served */
	char space[256], name[256], sub[256];
	/* of the query */
	bool watch, bookmarks, dry_run, initial_events, force, names_manager;
	int64_t limit, timeout_s, grace_s; /* grace_s -1: not given */
	char version[64], version_match[64], page[256], labels[2048], fields[1024], propagation[32];
};

struct reply {
	unsigned status;
	char *body; /* malloc'd */
	size_t length;
	const char *type;
	int64_t retry_after;
	const char *warning;
	bool is_dropped;
	struct stream *stream; /* instead of a body */
};
void request_query(struct request *request, const char *key, const char *value);
/* Of the path. */
void request_read(struct request *request);
/* False with a reply: it was refused, or answered here. */
bool request_admit(struct request *request, struct reply *reply);

/* reply.c */
void reply_object(
    struct reply *reply, unsigned status, const struct version *version, enum kind_index kind);
void reply_text(struct reply *reply, unsigned status, const char *text);
void reply_fail(struct reply *reply, const struct request *request, unsigned code,
    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* 409 of a server-side apply; causes: fields and who set them. */
void reply_conflicts(struct reply *reply, const json_t *causes);
void reply_not_found(struct reply *reply, const struct request *request);
void reply_invalid(struct reply *reply, const struct request *request, const char *field,
    const char *format, ...) __attribute__((format(printf, 4, 5)));
char *status_text(unsigned code, const char *message, json_t *details);
/* "jobs.batch" */
const char *resource_full(const struct request *request, char out[600]);

/* select.c */
struct selector;
/* NULL with *bad set: not understood. */
struct selector *selector_read(const struct request *request, bool *bad);
bool selector_has(
    const struct selector *selector, const char *key, const json_t *labels, const json_t *fields);
bool selector_is_empty(const struct selector *selector);
void selector_free(struct selector *selector);

/* read.c */
void answer_get(const struct request *request, struct reply *reply);
void answer_list(const struct request *request, struct reply *reply);
void pages_drop(void);

/* watch.c */
struct stream *stream_open(const struct request *request, struct reply *reply);
/* Without the lock: waits. As libmicrohttpd's content reader. */
int64_t stream_read(struct stream *stream, char *out, size_t size);
void stream_close(struct stream *stream);
void stream_socket(struct stream *stream, int fd);
bool socket_is_gone(int fd);

/* write.c */
void answer_create(const struct request *request, struct reply *reply);
void answer_replace(const struct request *request, struct reply *reply);
void answer_patch(const struct request *request, struct reply *reply);
void answer_delete(const struct request *request, struct reply *reply);
/* Begins a pod's or namespace's end, or removes what needs none. */
void object_delete(struct object *object, int64_t grace_s);
/* Its pods go with it, or stay without it. */
void job_delete(struct object *job, bool orphans);

/* patch.c: pure; takes the target over and returns what it became */
json_t *patch_merge(json_t *target, const json_t *patch);
json_t *patch_strategic(json_t *target, const json_t *patch);
/* NULL: a test failed, or an operation can't be done. */
json_t *patch_operations(json_t *target, const json_t *operations);

/* apply.c: who set which field */
bool apply_is(const struct request *request);
/* After any other change of an object; before NULL: it is new. */
void apply_note_update(const struct request *request, const json_t *before, json_t *after);
/* What live, NULL for none, becomes. NULL with a reply: a conflict. */
json_t *apply_to(
    const struct request *request, const json_t *live, const json_t *config, struct reply *reply);

/* defaults.c: what a server fills in */
void default_new(enum kind_index kind, json_t *document);
void default_fields(enum kind_index kind, json_t *document);
json_t *default_uid(void);
void default_suffix(char out[6]);

/* rules.c: false with a reply: refused */
bool rules_new(const struct request *request, const json_t *document, struct reply *reply);
bool rules_change(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply);

/* admission.c */
void admission_mutate(const struct request *request, json_t *document);
bool admission_validate(const struct request *request, const json_t *before, const json_t *document,
    struct reply *reply);

bool admission_delete(
    const struct request *request, const json_t *document, bool orphans, struct reply *reply);
bool admission_is_managed(const struct request *request);
/* Data of the ConfigMap that policies read; NULL: it is not there. */
const json_t *admission_balances(void);
/* False, with a reply. */
bool admission_refuse(
    const struct request *request, struct reply *reply, const char *policy, const char *message);

/* guard.c: false with a reply: refused. before NULL: of a new object */
bool guard_changes(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply);
bool guard_deletes(
    const struct request *request, const json_t *job, bool orphans, struct reply *reply);
/* after NULL: of one that is deleted. */
bool guard_own(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply);
bool guard_makes_pods(const struct request *request);
bool guard_may_override(const struct request *request);

/* limits.c: what a pod gets at its creation */
void limits_default(json_t *range);
void limits_give(const char *space, json_t *pod);
/* Has its webhook side effects? Then it takes no dry run. */
bool limits_refuse_dry_runs(const char *space);

/* tries.c: the account of dry runs; false with a reply: refused, or answered */
bool tries_is_account(const struct request *request);
bool tries_is_dry_run(const struct request *request);
bool tries_speak_for(struct request *request, struct reply *reply);
bool tries_admit(const struct request *request, struct reply *reply);

/* claims.c: what a pod that gets this node has by its claims */
void claims_bind(const struct object *pod, json_t *after, const char *node);

/* control.c */
void control_start(void);
void control_seen(struct object *object, enum event_type type);
void control_at(struct object *object, int64_t at_ms);
void control_queue(struct object *object);
/* A duration of the world in milliseconds of ours. */
int64_t control_ms(double seconds);

/* job.c, pod.c, schedule.c: a step of one object, as it is due or changed */
void job_step(struct object *job, int64_t at_ms);
void job_pod_ended(struct object *pod);
/* ownerReferences of its pods */
json_t *job_owners(const json_t *job);
void pod_step(struct object *pod, int64_t at_ms);
void pod_learn(struct object *pod);
void node_learn(struct object *node);
void node_lost(struct object *node);
void node_release(struct object *pod);
void schedule_all(int64_t at_ms);
void condition_set(json_t *document, const char *type, const char *status, const char *reason,
    const char *message);
bool condition_is(const json_t *document, const char *type);

/* resize.c */
bool resize_is(const struct request *request);
/* before with the resources of after, which is taken over */
json_t *resize_only(const json_t *before, json_t *after);
/* False with a reply: refused. */
bool resize_rules(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply);
/* What a container that starts has. */
void resize_begin(json_t *status, const json_t *container);
/* Of a pod that runs. */
void resize_step(struct object *pod, int64_t at_ms);

/* space.c */
bool space_is_ending(const char *name);
void space_delete(struct object *space);
void space_step(struct object *space, int64_t at_ms);

/* nodes.c */
void nodes_start(void);
int64_t quantity_milli(const json_t *quantity); /* -1: none */
struct resources resources_of(const json_t *pod_spec);

/* faults.c */
void answer_faults(const struct request *request, struct reply *reply);
/* Without the lock: waits. True: the reply is a fault's. */
bool faults_before(const struct request *request, struct reply *reply, int fd);
void faults_count(const char *verb, const char *resource);
bool faults_take(int64_t *left);
bool faults_loses(const struct request *request);

/* files.c: certificates, tokens and kubeconfig in options.folder */
struct certificates {
	char *key, *certificate;
};
struct certificates files_certificates(void);
void files_access(int port);
void files_token(char out[64]);
char *files_read(const char *path);

/* http.c: the port it listens at */
int http_start(const struct certificates *certificates, int port);

#endif
