/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes what reads Nodes, Jobs and Pods: any JSON is one of each or an error, and says the same
 * without what is stripped from it.
 */
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "kube_facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

static void
read_job(const json_t *object, const json_t *stripped)
{
	const struct lt_kube_names names = {0};
	struct lt_kube_job whole, less;
	const int code = lt_kube_job_read(&whole, object, &names, NULL);

	if (code != lt_kube_job_read(&less, stripped, &names, NULL))
		__builtin_trap();
	if (code != LT_OK)
		return;
	if (whole.limit_s < 0 || whole.limit_s != less.limit_s || whole.need.cpus == 0 ||
	    whole.need.memory_mib == 0 ||
	    memcmp(&whole.need, &less.need, sizeof(whole.need)) != 0 ||
	    memcmp(whole.at, less.at, sizeof(whole.at)) != 0)
		__builtin_trap();
	for (int i = 0; i < LT_KUBE_TEXTS; i++)
		if (strcmp(lt_kube_job_text(&whole, (enum lt_kube_text)i),
			lt_kube_job_text(&less, (enum lt_kube_text)i)) != 0)
			__builtin_trap();
	lt_kube_job_free(&whole);
	lt_kube_job_free(&less);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_kube_names names;
	json_t *const object = json_loadb((const char *)bytes, byte_count, 0, NULL);
	json_t *const stripped = json_deep_copy(object);
	struct lt_kube_node node;
	struct lt_kube_pod pod;

	if (object == NULL || stripped == NULL) {
		json_decref(object);
		return 0;
	}
	lt_kube_strip(stripped);
	(void)lt_kube_node_read(&node, object, &names, NULL);
	for (int gone = 0; gone < 2; gone++) {
		const struct lt_kube_seen seen = {1795665600, gone};

		if (lt_kube_pod_read(&pod, object, &seen, NULL) == LT_OK && pod.end_utc_s != 0 &&
		    pod.end_utc_s < pod.start_utc_s)
			__builtin_trap();
	}
	read_job(object, stripped);
	json_decref(object);
	json_decref(stripped);
	return 0;
}
