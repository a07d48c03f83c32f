/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes manifests: any bytes are an object that can be sent, or are refused with a reason; what
 * the daemon then finds wrong with it it names too.
 */
#include <stdint.h>
#include <stdlib.h>

#include "facts.h"
#include "manifest.h"
#include "kube_facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

enum { NOW = 1795669953 };

static void
judge(json_t *manifest)
{
	const struct lt_kube_names names = {.pool = NULL};
	struct lt_kube_job job;
	struct lt_error err = {0};

	if (lt_kube_manifest_complete(manifest, NOW, &err) != LT_OK) {
		if (err.text[0] == '\0')
			__builtin_trap();
		return;
	}
	if (lt_kube_job_read(&job, manifest, &names, &err) == LT_OK)
		lt_kube_job_free(&job);
	else if (err.text[0] == '\0')
		__builtin_trap();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	const struct lt_manifest_text text = {"fuzz", (const char *)bytes, byte_count};
	struct lt_error err = {0};
	json_t *manifest = NULL;

	if (lt_manifest_parse(&manifest, &text, &err) != LT_OK) {
		if (manifest != NULL || err.text[0] == '\0')
			__builtin_trap();
		return 0;
	}
	char *const sent = json_dumps(manifest, JSON_COMPACT);
	if (!json_is_object(manifest) || sent == NULL)
		__builtin_trap();
	free(sent);
	judge(manifest);
	json_decref(manifest);
	return 0;
}
