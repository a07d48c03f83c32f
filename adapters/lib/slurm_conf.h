/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A few keys of slurm.conf, without libslurm: for the command, and for what asks lowtided from
 * another host.
 */
#ifndef LT_SLURM_CONF_H
#define LT_SLURM_CONF_H

#include "error.h"

enum { LT_CONF_HOSTS_MAX = 8, LT_CONF_VALUE_SIZE = 1024 };
struct lt_conf {
	char path[1024];
	/* SlurmctldHost lines in order, else ControlMachine and its backup */
	int host_count;
	char hosts[LT_CONF_HOSTS_MAX][256]; /* address if given, else name */
	char host_names[LT_CONF_HOSTS_MAX][256];
	char cluster[64], slurm_user[64];
	char munge_socket[512]; /* "" = munge's own default */
	char private_data[256], job_submit_plugins[LT_CONF_VALUE_SIZE], plugstack[1024],
	    preempt_mode[128], accounting_storage[128], accounting_enforce[256], plugin_dir[1024],
	    priority_type[64], priority_flags[256], priority_weight_age[32],
	    accounting_tres[LT_CONF_VALUE_SIZE], gres_types[256];
	int allow_groups_count, cancel_count; /* partition lines with it */
	char allow_groups[64], cancels[64];   /* the first one's name */
};
/* SLURM_CONF, else where packages, configless and `make install` put it; Include is followed.
 * LT_ENOENT: none there. */
int lt_conf_load(struct lt_conf *conf, struct lt_error *err);
int lt_conf_parse(struct lt_conf *conf, const char *path, struct lt_error *err);

#endif
