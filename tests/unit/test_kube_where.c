/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a pod may run: what binds it, what it bears, and, on random clusters, which pools have room
 * by a first fit that knows nothing of lowtide's sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "object.h"
#include "units.h"

static json_t *
load(const char *text)
{
	json_error_t why;
	json_t *const json = json_loads(text, 0, &why);

	if (json == NULL)
		fail_msg("%s: %s", why.text, text);
	return json;
}

/* What is not known to say nothing of where a pod runs binds it. */
static void
test_bound(void **state)
{
	static const struct {
		const char *want, *spec; /* of PodSpec, beside a container */
	} cases[] = {
	    {"", "\"restartPolicy\":\"Never\",\"dnsPolicy\":\"ClusterFirst\","
		 "\"schedulerName\":\"default-scheduler\","
		 "\"securityContext\":{},\"serviceAccountName\":\"a\""},
	    {"", "\"nodeSelector\":{\"kubernetes.io/arch\":\"arm64\"}"},
	    {"", "\"nodeSelector\":{\"lowtide.dev/pool\":\"spot\"}"},
	    {"disk", "\"nodeSelector\":{\"disk\":\"ssd\"}"},
	    {"nodeName", "\"nodeName\":\"n1\""},
	    {"schedulerName", "\"schedulerName\":\"volcano\""},
	    {"runtimeClassName", "\"runtimeClassName\":\"kata\""},
	    {"workloadRef", "\"workloadRef\":{\"name\":\"gang\"}"},
	    {"aNewField", "\"aNewField\":1"},
	    {"resourceClaims", "\"resourceClaims\":[{\"name\":\"gpu\"}]"},
	    {"", "\"resourceClaims\":[]"},
	    {"hostNetwork", "\"hostNetwork\":true"},
	    {"", "\"hostNetwork\":false"},
	    {"os", "\"os\":{\"name\":\"windows\"}"},
	    {"nodeAffinity", "\"affinity\":{\"nodeAffinity\":{"
			     "\"requiredDuringSchedulingIgnoredDuringExecution\":{}}}"},
	    {"", "\"affinity\":{\"podAffinity\":{"
		 "\"preferredDuringSchedulingIgnoredDuringExecution\":[]}}"},
	    {"podAntiAffinity", "\"affinity\":{\"podAntiAffinity\":{"
				"\"preferredDuringSchedulingIgnoredDuringExecution\":[],"
				"\"requiredDuringSchedulingIgnoredDuringExecution\":[]}}"},
	    {"", "\"topologySpreadConstraints\":[{"
		 "\"whenUnsatisfiable\":\"ScheduleAnyway\"}]"},
	    {"topologySpreadConstraints", "\"topologySpreadConstraints\":[{"
					  "\"whenUnsatisfiable\":\"ScheduleAnyway\"},{"
					  "\"whenUnsatisfiable\":\"DoNotSchedule\"}]"},
	    {"", "\"volumes\":[{\"name\":\"a\",\"emptyDir\":{}},"
		 "{\"name\":\"b\",\"projected\":{}}]"},
	    {"persistentVolumeClaim", "\"volumes\":[{\"name\":\"a\",\"emptyDir\":{}},"
				      "{\"name\":\"b\",\"persistentVolumeClaim\":{}}]"},
	    {"hostPort", "\"initContainers\":[{\"ports\":[{\"hostPort\":80}]}]"},
	    {"", "\"initContainers\":[{\"ports\":[{\"containerPort\":80}],"
		 "\"resources\":{\"limits\":{\"nvidia.com/gpu\":1}}}]"},
	    {"nvidia.com/mig-1g.5gb", "\"initContainers\":[{\"resources\":{\"limits\":"
				      "{\"nvidia.com/mig-1g.5gb\":1}}}]"},
	    {"amd.com/gpu", "\"initContainers\":[{\"resources\":{\"limits\":"
			    "{\"nvidia.com/gpu\":1}}},{\"resources\":{\"limits\":"
			    "{\"amd.com/gpu\":1}}}]"},
	};
	const struct lt_kube_names names = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024], bound[LT_KUBE_KEY_SIZE];

		snprintf(text, sizeof(text), "{\"spec\":{\"containers\":[{}],%s}}", cases[i].spec);
		json_t *const pod = load(text);
		const json_t *const spec = json_object_get(pod, "spec");
		assert_string_equal(
		    lt_kube_bound(bound, sizeof(bound), spec, &names), cases[i].want);
		/* And as the watch has it. */
		lt_kube_strip(pod);
		assert_string_equal(
		    lt_kube_bound(bound, sizeof(bound), spec, &names), cases[i].want);
		json_decref(pod);
	}
}

static void
test_tolerates(void **state)
{
	static const struct {
		bool want;
		const char *toleration;
	} cases[] = {
	    {true, "{\"operator\":\"Exists\"}"},
	    {true, "{\"key\":\"k\",\"operator\":\"Exists\"}"},
	    {true, "{\"key\":\"k\",\"value\":\"v\"}"},
	    {true, "{\"key\":\"k\",\"operator\":\"Equal\",\"value\":\"v\","
		   "\"effect\":\"NoExecute\"}"},
	    {false, "{\"key\":\"k\"}"},
	    {false, "{\"key\":\"k\",\"value\":\"w\"}"},
	    {false, "{\"value\":\"v\"}"},
	    {false, "{\"key\":\"k\",\"operator\":\"Exists\","
		    "\"effect\":\"NoSchedule\"}"},
	    {false, "{\"key\":\"k\",\"operator\":\"Exists\","
		    "\"tolerationSeconds\":300}"},
	    {false, "{\"key\":\"k\",\"operator\":\"Gt\",\"value\":\"v\"}"},
	};
	json_t *const taint = load("{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *const list = json_array();

		json_array_append_new(list, load(cases[i].toleration));
		if (lt_kube_tolerates(list, taint) != cases[i].want)
			fail_msg("%s", cases[i].toleration);
		json_decref(list);
	}
	assert_false(lt_kube_tolerates(NULL, taint));
	json_decref(taint);
}

/* ---- random clusters ---- */

enum {
	ROUNDS = 300,
	POOLS = 4,
	NODES = 12,
	PODS = 60,
	STEPS = 120,
	RESOURCES = 3, /* millicores, MiB, GPUs */
	MOST_PODS = 6,
};

static const char *const pools[POOLS] = {"a", "b", "c", "d"};
static const char *const keys[] = {"lowtide.dev/spot", "nvidia.com/gpu", "dedicated"};

struct model_node {
	int pool;
	int64_t room[RESOURCES];
	bool taints[3]; /* by keys */
	bool is_up, is_arm;
};

struct model_pod {
	bool is_there;
	int node;
	int64_t asks[RESOURCES];
};

struct model {
	struct model_node nodes[NODES];
	struct model_pod pods[PODS];
	uint64_t random;
};

static int64_t
among(struct model *m, int64_t count)
{
	return (int64_t)(lt_random(&m->random) % (uint64_t)count);
}

static void
tell(struct lt_kube_cluster *c, enum lt_kube_kind kind, enum lt_kube_event event, const char *text)
{
	struct lt_kube_line line = {kind, event, NULL, ""};

	if (text != NULL)
		line.object = load(text);
	lt_kube_cluster_take(c, &line);
	json_decref(line.object);
}

static void
make_node(struct model *m, struct lt_kube_cluster *c, int i)
{
	struct model_node *const n = &m->nodes[i];
	char text[1024], taints[512] = "";

	*n = (struct model_node){.pool = (int)among(m, POOLS),
	    .room = {1000 * (1 + among(m, 16)), 1024 * (1 + among(m, 16)), among(m, 2) * 4},
	    .is_up = among(m, 8) != 0,
	    .is_arm = among(m, 4) == 0};
	for (int k = 0; k < 3; k++) {
		n->taints[k] = among(m, 4) == 0;
		if (n->taints[k])
			snprintf(taints + strlen(taints), sizeof(taints) - strlen(taints),
			    "{\"key\":\"%s\",\"value\":\"true\","
			    "\"effect\":\"NoSchedule\"},",
			    keys[k]);
	}
	snprintf(text, sizeof(text),
	    "{\"metadata\":{\"name\":\"n%d\",\"labels\":{"
	    "\"lowtide.dev/pool\":\"%s\",\"kubernetes.io/arch\":\"%s\"}},"
	    "\"spec\":{\"unschedulable\":%s,\"taints\":[%s{\"key\":\"rather\","
	    "\"effect\":\"PreferNoSchedule\"}]},\"status\":{\"allocatable\":{"
	    "\"cpu\":\"%lldm\",\"memory\":\"%lldMi\","
	    "\"nvidia.com/gpu\":\"%lld\",\"pods\":\"%d\"},\"conditions\":[{"
	    "\"type\":\"Ready\",\"status\":\"True\"}]}}",
	    i, pools[n->pool], n->is_arm ? "arm64" : "amd64", n->is_up ? "false" : "true", taints,
	    (long long)n->room[0], (long long)n->room[1], (long long)n->room[2], MOST_PODS);
	tell(c, LT_KUBE_NODES, LT_KUBE_SEEN, text);
}

static void
tell_pod(const struct model *m, struct lt_kube_cluster *c, int i, const char *phase,
    enum lt_kube_event event)
{
	const struct model_pod *const p = &m->pods[i];
	char text[1024];

	snprintf(text, sizeof(text),
	    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"x\","
	    "\"uid\":\"uid-%d\",\"ownerReferences\":[{\"controller\":true,"
	    "\"kind\":\"ReplicaSet\",\"uid\":\"r\"}]},\"spec\":{"
	    "\"nodeName\":\"n%d\",\"containers\":[{\"resources\":{\"requests\":{"
	    "\"cpu\":\"%lldm\",\"memory\":\"%lldMi\"},\"limits\":{"
	    "\"nvidia.com/gpu\":\"%lld\"}}}]},\"status\":{\"phase\":\"%s\"}}",
	    i, p->node, (long long)p->asks[0], (long long)p->asks[1], (long long)p->asks[2], phase);
	tell(c, LT_KUBE_PODS, event, text);
}

/* It comes, is told again, ends or is deleted: some of it twice. */
static void
change_pod(struct model *m, struct lt_kube_cluster *c)
{
	const int i = (int)among(m, PODS);
	struct model_pod *const p = &m->pods[i];

	if (!p->is_there) {
		*p = (struct model_pod){true, (int)among(m, NODES),
		    {100 * among(m, 40), 128 * among(m, 16), among(m, 3)}};
		tell_pod(m, c, i, "Pending", LT_KUBE_SEEN);
	} else if (among(m, 2) == 0) {
		tell_pod(m, c, i, "Running", LT_KUBE_SEEN);
	} else {
		p->is_there = false;
		tell_pod(m, c, i, among(m, 2) == 0 ? "Succeeded" : "Running", LT_KUBE_GONE);
		if (among(m, 2) == 0)
			tell_pod(m, c, i, "Failed", LT_KUBE_SEEN);
	}
}

/* Some went while nobody watched. */
static void
list_again(struct model *m, struct lt_kube_cluster *c)
{
	tell(c, LT_KUBE_PODS, LT_KUBE_BEGIN, NULL);
	for (int i = 0; i < PODS; i++) {
		m->pods[i].is_there &= among(m, 4) != 0;
		if (m->pods[i].is_there)
			tell_pod(m, c, i, "Running", LT_KUBE_SEEN);
	}
	tell(c, LT_KUBE_PODS, LT_KUBE_END, NULL);
}

struct model_job {
	int64_t asks[RESOURCES];
	bool bears_dedicated, wants_arm;
	uint32_t pods;
};

static bool
may_run(const struct model_node *n, const struct model_job *job)
{
	return n->is_up && (!job->wants_arm || n->is_arm) && (!n->taints[1] || job->asks[2] > 0) &&
	       (!n->taints[2] || job->bears_dedicated);
}

/* Pod by pod onto the first node that has room. */
static uint32_t
first_fit(const struct model *m, const struct model_job *job, int pool)
{
	struct model_pod placed[PODS + 8];
	uint32_t fits = 0;

	memcpy(placed, m->pods, sizeof(m->pods));
	memset(placed + PODS, 0, 8 * sizeof(placed[0]));
	for (uint32_t k = 0; k < job->pods; k++)
		for (int n = 0; n < NODES && fits == k; n++) {
			int64_t left[RESOURCES];
			int count = 0;
			bool has_room = true;

			memcpy(left, m->nodes[n].room, sizeof(left));
			for (int p = 0; p < PODS + 8; p++) {
				if (!placed[p].is_there || placed[p].node != n)
					continue;
				count++;
				for (int r = 0; r < RESOURCES; r++)
					left[r] -= placed[p].asks[r];
			}
			for (int r = 0; r < RESOURCES; r++)
				has_room &= job->asks[r] == 0 || left[r] >= job->asks[r];
			if (!has_room || count >= MOST_PODS || m->nodes[n].pool != pool ||
			    !may_run(&m->nodes[n], job))
				continue;
			placed[PODS + k] = (struct model_pod){true, n, {0}};
			memcpy(placed[PODS + k].asks, job->asks, sizeof(job->asks));
			fits++;
		}
	return fits;
}

static void
read_job(struct lt_kube_job *read, const struct model_job *job)
{
	const struct lt_kube_names names = {0};
	char text[1024], gpus[64] = "";

	if (job->asks[2] > 0)
		snprintf(
		    gpus, sizeof(gpus), ",\"nvidia.com/gpu\":\"%lld\"", (long long)job->asks[2]);
	snprintf(text, sizeof(text),
	    "{\"metadata\":{\"name\":\"j\",\"namespace\":\"x\",\"uid\":\"j\"},"
	    "\"spec\":{\"parallelism\":%u,\"template\":{\"spec\":{%s%s"
	    "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"%lldm\","
	    "\"memory\":\"%lldMi\"%s}}}]}}}}",
	    job->pods,
	    job->bears_dedicated ? "\"tolerations\":[{\"key\":\"dedicated\","
				   "\"operator\":\"Exists\"}],"
				 : "",
	    job->wants_arm ? "\"nodeSelector\":{\"kubernetes.io/arch\":\"arm64\"}," : "",
	    (long long)job->asks[0], (long long)job->asks[1], gpus);
	json_t *const object = load(text);
	assert_int_equal(lt_kube_job_read(read, object, &names, NULL), LT_OK);
	assert_false(read->is_placed);
	json_decref(object);
}

/* Which pool has room is as a first fit has it, and the pool that kube-scheduler alone would take
 * has some wherever one has. */
static void
ask(struct model *m, const struct lt_kube_cluster *c, uint32_t *with_room)
{
	const struct model_job job = {.asks = {100 * (1 + among(m, 60)), 128 * (1 + among(m, 24)),
					  among(m, 3) == 0 ? 1 + among(m, 4) : 0},
	    .bears_dedicated = among(m, 2) == 0,
	    .wants_arm = among(m, 4) == 0,
	    .pods = 1 + (uint32_t)among(m, 8)};
	struct lt_kube_where all[POOLS], takers[POOLS];
	struct lt_kube_job read;

	read_job(&read, &job);
	lt_kube_find_where(takers, c, &(struct lt_kube_where_asked){&read, pools, POOLS, false});
	lt_kube_find_where(all, c, &(struct lt_kube_where_asked){&read, pools, POOLS, true});
	for (int i = 0; i < POOLS; i++) {
		const uint32_t fits = first_fit(m, &job, i);
		bool takes = false;

		for (int n = 0; n < NODES; n++)
			takes |= m->nodes[n].pool == i && may_run(&m->nodes[n], &job);
		assert_int_equal(all[i].now, fits);
		assert_int_equal(all[i].beside_others, fits);
		assert_int_equal(all[i].takes, takes);
		assert_int_equal(takers[i].takes, takes);
		assert_int_equal(takers[i].takes_alone, all[i].takes_alone);
		assert_true(all[i].score < 0 || (all[i].takes_alone && fits > 0));
		*with_room += fits > 0;
	}
	lt_kube_job_free(&read);
}

static void
test_room_is_as_a_first_fit_has_it(void **state)
{
	uint32_t with_room = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct model m = {.random = (uint64_t)round + 1};
		struct lt_kube_cluster c = {.now_utc_s = 1};

		tell(&c, LT_KUBE_NODES, LT_KUBE_BEGIN, NULL);
		for (int i = 0; i < NODES; i++)
			make_node(&m, &c, i);
		tell(&c, LT_KUBE_NODES, LT_KUBE_END, NULL);
		for (int step = 0; step < STEPS; step++) {
			if (among(&m, 30) == 0)
				list_again(&m, &c);
			else
				change_pod(&m, &c);
		}
		ask(&m, &c, &with_room);
		lt_kube_cluster_free(&c);
	}
	/* Neither all nor none: else nothing was tried. */
	assert_true(with_room > ROUNDS / 2 && with_room < ROUNDS * POOLS - 100);
}

/* A hundred thousand pods: what is kept of them is small, and all of it goes. */
static void
test_many_pods(void **state)
{
	enum { MANY = 100000, NODES_MANY = 1000 };
	struct lt_kube_rooms rooms = {0};
	char text[256];

	(void)state;
	lt_kube_rooms_begin(&rooms);
	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text),
		    "{\"metadata\":{\"uid\":\"%08d-0000-4000-8000-000000000000\"},"
		    "\"spec\":{\"nodeName\":\"node-%d\",\"containers\":[{"
		    "\"resources\":{\"requests\":{\"cpu\":\"100m\"}}}]}}",
		    i, i % NODES_MANY);
		json_t *const pod = load(text);
		assert_true(lt_kube_rooms_see(&rooms, pod, false, i % 2 == 0));
		json_decref(pod);
	}
	const struct lt_kube_taken *taken = lt_kube_rooms_of(&rooms, "node-7");
	assert_int_equal(taken->all.of[LT_KUBE_CPU], MANY / NODES_MANY * 100);
	assert_int_equal(taken->all.of[LT_KUBE_POD_COUNT], MANY / NODES_MANY);
	assert_int_equal(taken->others.of[LT_KUBE_POD_COUNT], MANY / NODES_MANY);
	taken = lt_kube_rooms_of(&rooms, "node-8");
	assert_int_equal(taken->others.of[LT_KUBE_POD_COUNT], 0);
	lt_kube_rooms_begin(&rooms);
	assert_true(lt_kube_rooms_end(&rooms));
	assert_int_equal(rooms.pod_count, 0);
	assert_null(rooms.nodes);
	lt_kube_rooms_free(&rooms);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bound),
	    cmocka_unit_test(test_tolerates),
	    cmocka_unit_test(test_room_is_as_a_first_fit_has_it),
	    cmocka_unit_test(test_many_pods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
