/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes kubeconfig files: any bytes name a server, to which no token goes in the clear, or give a
 * refusal that says why.
 */
#include <stdint.h>
#include <string.h>

#include "kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct lt_kube_config config;
	struct lt_error err = {0};

	if (lt_kubeconfig_parse(&config, "dir/fuzz", (const char *)bytes, byte_count, &err) ==
	    LT_OK) {
		const bool has_token = config.token.text != NULL || config.token.path != NULL;
		const bool has_certificate =
		    config.certificate.text != NULL || config.certificate.path != NULL;
		const bool has_key = config.key.text != NULL || config.key.path != NULL;

		if (config.server == NULL || has_certificate != has_key ||
		    (has_token && strncmp(config.server, "http://", 7) == 0 &&
			strncmp(config.server, "http://127.", 11) != 0 &&
			strncmp(config.server, "http://localhost:", 17) != 0 &&
			strncmp(config.server, "http://[::1]", 12) != 0))
			__builtin_trap();
		lt_kube_config_free(&config);
	} else if (err.text[0] == '\0' || config.server != NULL) {
		__builtin_trap();
	}
	return 0;
}
