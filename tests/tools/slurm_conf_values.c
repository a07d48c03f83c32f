/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the command's own parser reads of SLURM_CONF, as `scontrol show config` prints the same
 * keys.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slurm_conf.h"

int
main(void)
{
	static struct lt_conf conf;
	struct lt_error err = {0};

	if (lt_conf_load(&conf, &err) != LT_OK) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	const struct {
		const char *key, *value;
	} values[] = {{"ClusterName", conf.cluster}, {"SlurmUser", conf.slurm_user},
	    {"PrivateData", conf.private_data}, {"JobSubmitPlugins", conf.job_submit_plugins},
	    {"PlugStackConfig", conf.plugstack}, {"PreemptMode", conf.preempt_mode},
	    {"AccountingStorageType", conf.accounting_storage}, {"GresTypes", conf.gres_types},
	    {"PluginDir", conf.plugin_dir}, {"PriorityType", conf.priority_type},
	    {"PriorityWeightAge", conf.priority_weight_age}, {"AuthInfo", conf.munge_socket}};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i].value[0] != '\0')
			printf("%s = %s\n", values[i].key, values[i].value);
	for (int i = 0; i < conf.host_count; i++) {
		printf("SlurmctldHost[%d] = %s", i, conf.host_names[i]);
		if (strcmp(conf.host_names[i], conf.hosts[i]) != 0)
			printf("(%s)", conf.hosts[i]);
		putchar('\n');
	}
	return 0;
}
