/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs lowtide-kube's commands beside the daemon, by its first word:
 *
 * waiting: prints what the API server has that waits, as JSON.
 *
 * release: lets go what lowtide would have let go, without it. A CronJob runs it, so that nothing
 * of the cluster stops while lowtide is down.
 *
 * policies: prints the specs of the admission policies that are named, as JSON, for doctor, which
 * compares them with the manifests.
 *
 * They list and patch, and have no ledger and no signals. They print to stdout, failures to stderr,
 * and exit 1, or 2 for misuse.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "object.h"
#include "site.h"

/* ---- waiting, release ---- */

enum {
	OVERDUE_S = 120, /* lowtide itself had so long to do it */
	WAIT_MS = 50,	 /* between two requests too many */
};

struct wanted {
	bool overdue, all, dry_run;
	bool undecided; /* what came while lowtide is away, too */
};

static void
print_usage(FILE *out)
{
	fputs("usage: lowtide-kube release --overdue [--all] [--dry-run]\n"
	      "  --overdue   Jobs and pods whose hour is over by two minutes, and that\n"
	      "              have a confirmed hold; what waits for budget stays. Where\n"
	      "              on_unknown is allow and lowtide has been away for two\n"
	      "              minutes, what it has not decided, too\n"
	      "  --all       besides, all else that waits in namespaces that opted in, but\n"
	      "              what its user suspended, and what others start: named\n"
	      "  --dry-run   print it, and change nothing\n"
	      "The cluster: KUBECONFIG, else the pod's own.\n",
	    out);
}

static int
parse_wanted(struct wanted *wanted, int argc, char **argv)
{
	static const struct option options[] = {{"overdue", no_argument, NULL, 'o'},
	    {"all", no_argument, NULL, 'a'}, {"dry-run", no_argument, NULL, 'n'},
	    {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

	*wanted = (struct wanted){.overdue = false};
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (c == 'h') {
			print_usage(stdout);
			return 0;
		}
		if (c == '?') {
			print_usage(stderr);
			return 2;
		}
		wanted->overdue |= c == 'o';
		wanted->all |= c == 'a';
		wanted->dry_run |= c == 'n';
	}
	/* Both: all. The CronJob's own words are --overdue. */
	if (optind < argc || !(wanted->overdue || wanted->all)) {
		fputs("lowtide-kube release: want --overdue or --all\n", stderr);
		print_usage(stderr);
		return 2;
	}
	return -1;
}

/* ---- one list of each kind ---- */

static bool
take_seen(enum lt_kube_event event, enum lt_kube_kind kind, const json_t *object)
{
	lt_kube_cluster_take(
	    &lt_kube_site.cluster, &(struct lt_kube_line){kind, event, (json_t *)object, ""});
	return true;
}

static bool
begin_list(void *context)
{
	return take_seen(LT_KUBE_BEGIN, *(enum lt_kube_kind *)context, NULL);
}

static bool
take_item(void *context, const struct lt_kube_item *seen)
{
	return take_seen(LT_KUBE_SEEN, *(enum lt_kube_kind *)context, seen->object);
}

static bool
end_list(void *context, const char *resource_version)
{
	(void)resource_version;
	return take_seen(LT_KUBE_END, *(enum lt_kube_kind *)context, NULL);
}

static int
list_all(struct lt_error *err)
{
	int code = LT_OK;

	lt_kube_site.cluster.now_utc_s = (int64_t)time(NULL);
	for (int k = 0; code == LT_OK && k < LT_KUBE_KINDS; k++) {
		enum lt_kube_kind kind = (enum lt_kube_kind)k;
		const struct lt_kube_follow list = {.path = lt_kube_paths[k],
		    .begin = begin_list,
		    .item = take_item,
		    .end = end_list,
		    .context = &kind};

		code = lt_kube_list(lt_kube_site.kube, &list, err);
	}
	return code;
}

/* ---- what came while lowtide is away ---- */

static bool
is_text(const json_t *data, const char *name, const char *text)
{
	return strcmp(lt_kube_string(data, name), text) == 0;
}

/* Decides by the balances that lowtide wrote last. If they can't be read, or say nothing, all Jobs
 * stay as they are. */
static bool
admits_undecided(int64_t now_utc_s)
{
	char path[256];
	const struct lt_kube_request request = {.path = path};
	json_t *map = NULL;
	struct lt_error err = {0};

	snprintf(path, sizeof(path), "/api/v1/namespaces/%s/configmaps/" LT_KUBE_BALANCES_NAME,
	    lt_kube_site.namespace);
	if (lt_kube_do(lt_kube_site.kube, &request, &map, &err) != LT_OK) {
		fprintf(stderr, "lowtide-kube: what lowtide has not decided stays: %s\n", err.text);
		return false;
	}
	const json_t *const data = json_object_get(map, "data");
	const int64_t written_utc_s = strtoll(lt_kube_string(data, "written"), NULL, 10);
	const bool admits = written_utc_s > 0 && now_utc_s - written_utc_s > OVERDUE_S &&
			    is_text(data, "mode", "enforce") &&
			    is_text(data, "on_unknown", "admit");

	json_decref(map);
	return admits;
}

/* ---- who is let go ---- */

static bool
is_waiting(const struct lt_kube_known_job *job)
{
	return job->facts.is_waiting && job->forget_utc_s == 0 && !job->facts.is_deleted &&
	       (lt_kube_is_ours(job) || lt_kube_is_left(job));
}

/* Returns who has to start it, where that is not lowtide; NULL: lowtide has. */
static const char *
starter_of(const struct lt_kube_known_job *job)
{
	return lt_kube_is_left(job)	? lt_kube_job_text(&job->facts, LT_KUBE_STARTER)
	       : lt_kube_is_paused(job) ? "its user"
					: NULL;
}

/* A Job that ran is admitted anew first, and not here. */
static bool
is_chosen(const struct lt_kube_known_job *job, const struct wanted *wanted, int64_t now_utc_s)
{
	return starter_of(job) == NULL &&
	       (wanted->all ||
		   (!lt_kube_ran(job) && (lt_kube_may_start(job, now_utc_s - OVERDUE_S) ||
					     (wanted->undecided && !lt_kube_is_decided(job)))));
}

static void
print_job(const struct lt_kube_known_job *job)
{
	const char *const starter = starter_of(job);
	const char *const pool = lt_kube_job_text(&job->facts, LT_KUBE_POOL);
	const bool is_gone = starter == NULL && pool[0] != '\0' && !job->facts.is_placed &&
			     lt_kube_pool_is_gone(&lt_kube_site.cluster, pool);

	printf("%s %s/%s%s%s%s%s%s\n", job->facts.is_pod ? "pod" : "job",
	    lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE),
	    lt_kube_job_text(&job->facts, LT_KUBE_NAME), starter != NULL ? ": left to " : "",
	    starter != NULL ? starter : "", is_gone ? ": pool " : "", is_gone ? pool : "",
	    is_gone ? " has no node, kube-scheduler chooses where it runs" : "");
}

/* Exit status: 1 when one of them could not be let go. */
static int
release_all(struct wanted *wanted)
{
	const struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	const int64_t now_utc_s = (int64_t)time(NULL);
	uint32_t released = 0, failed = 0, changed = 0;

	wanted->undecided = admits_undecided(now_utc_s);
	for (uint32_t i = 0; i < c->job_count; i++) {
		struct lt_kube_known_job *const job = c->jobs[i];
		const bool is_due = is_waiting(job) && is_chosen(job, wanted, now_utc_s);

		if (is_due || (wanted->all && is_waiting(job)))
			print_job(job);
		if (!is_due || wanted->dry_run)
			continue;
		while (!lt_kube_spend())
			usleep(WAIT_MS * 1000);
		const int code = lt_kube_start(job, now_utc_s);
		released += code == LT_OK;
		changed += code == LT_ECONFLICT;
		failed += code != LT_OK && code != LT_ECONFLICT;
	}
	if (changed > 0)
		printf("%u changed meanwhile, and wait for the next release\n", changed);
	printf("%u released, %u failed\n", released, failed);
	return failed > 0;
}

/* Prints it for doctor, which compares it with what lowtide-kube holds. */
static int
print_waiting(void)
{
	const struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	json_t *const all = json_array();

	for (uint32_t i = 0; i < c->job_count; i++) {
		const struct lt_kube_job *const f = &c->jobs[i]->facts;

		if (is_waiting(c->jobs[i]))
			json_array_append_new(
			    all, json_pack("{s:o,s:I,s:s?}", "name",
				     json_sprintf("%s/%s", lt_kube_job_text(f, LT_KUBE_NAMESPACE),
					 lt_kube_job_text(f, LT_KUBE_NAME)),
				     "created_utc_s", (json_int_t)f->created_utc_s, "left_to",
				     starter_of(c->jobs[i])));
	}
	json_dumpf(all, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(all);
	return 0;
}

static int
run_command(struct wanted *wanted)
{
	struct lt_error err = {0};
	int status = 1;

	if (lt_batch_init(NULL, NULL, &err) == LT_OK && list_all(&err) == LT_OK)
		status = wanted != NULL ? release_all(wanted) : print_waiting();
	if (err.code != LT_OK)
		fprintf(stderr, "lowtide-kube: %s\n", err.text);
	lt_batch_fini();
	return status;
}

static int
release_main(int argc, char **argv)
{
	struct wanted wanted;
	const int status = parse_wanted(&wanted, argc, argv);

	return status >= 0 ? status : run_command(&wanted);
}

static int
waiting_main(int argc, char **argv)
{
	if (argc > 1) {
		fprintf(stderr, "lowtide-kube waiting: got \"%s\", want nothing more\n", argv[1]);
		return 2;
	}
	return run_command(NULL);
}

/* ---- policies ---- */

static const struct {
	const char *kind, *resource;
} kinds[] = {
    {"MutatingAdmissionPolicy", "mutatingadmissionpolicies"},
    {"MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"},
    {"ValidatingAdmissionPolicy", "validatingadmissionpolicies"},
    {"ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"},
};

/* Says whether the account of dry runs may create pods, and we may act as it. Without that account
 * nothing is put in. */
static int
get_right(json_t *all, const char *named, struct lt_error *err)
{
	char account[LT_KUBE_KEY_SIZE];
	json_t *const review = json_pack("{s:s,s:s,s:{s:{s:s,s:s}}}", "apiVersion",
	    "authorization.k8s.io/v1", "kind", "SelfSubjectAccessReview", "spec",
	    "resourceAttributes", "verb", "create", "resource", "pods");
	const struct lt_kube_request request = {.method = "POST",
	    .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
	    .body = review,
	    .user = lt_kube_dry_run_user(account, sizeof(account))};
	json_t *answer = NULL;
	int code = lt_kube_do(lt_kube_site.kube, &request, &answer, err);

	if (code == LT_OK)
		json_object_set(all, named, (json_t *)lt_kube_part(answer, "status", "allowed"));
	if (code == LT_EDENIED) {
		*err = (struct lt_error){0};
		code = LT_OK;
	}
	json_decref(answer);
	json_decref(review);
	return code;
}

/* Gets one object's spec. named: "KIND/NAME". A missing object is left out. */
static int
get_one(json_t *all, const char *named, struct lt_error *err)
{
	const size_t length = strcspn(named, "/");
	json_t *object = NULL;
	char path[256] = "";

	if (strcmp(named, LT_KUBE_RIGHT) == 0)
		return get_right(all, named, err);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].kind) == length && strncmp(kinds[i].kind, named, length) == 0 &&
		    named[length] == '/')
			snprintf(path, sizeof(path),
			    "/apis/admissionregistration.k8s.io/v1/%s/%.120s", kinds[i].resource,
			    named + length + 1);
	if (path[0] == '\0')
		return lt_fail(err, LT_EINPUT,
		    "policies: got \"%.80s\", want KIND/NAME, such as ValidatingAdmissionPolicy/lowtide-budget",
		    named);
	const int code =
	    lt_kube_do(lt_kube_site.kube, &(struct lt_kube_request){.path = path}, &object, err);

	if (code == LT_ENOENT) {
		*err = (struct lt_error){0};
		return LT_OK;
	}
	if (code != LT_OK)
		return code;
	json_object_set(all, named, json_object_get(object, "spec"));
	json_decref(object);
	return LT_OK;
}

static int
policies_main(int argc, char **argv)
{
	struct lt_error err = {0};
	json_t *const all = json_object();
	int code = lt_batch_init(NULL, NULL, &err);

	for (int i = 1; i < argc && code == LT_OK; i++)
		code = get_one(all, argv[i], &err);
	if (code == LT_OK) {
		json_dumpf(all, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		fprintf(stderr, "lowtide-kube: %s\n", err.text);
	}
	json_decref(all);
	lt_batch_fini();
	return code == LT_EINPUT ? 2 : code != LT_OK;
}

/* ---- the verbs ---- */

int
lt_batch_main(int argc, char **argv)
{
	static const struct {
		const char *verb;
		int (*run)(int argc, char **argv);
	} verbs[] = {
	    {"release", release_main}, {"waiting", waiting_main}, {"policies", policies_main}};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]) && argc > 1; i++)
		if (strcmp(argv[1], verbs[i].verb) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	return -1;
}
