/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every field of a job description, of all releases: how it is priced, and whether a job that sets
 * it may be moved to another partition. job_fields.sh compares the table with the slurm.h that is
 * compiled against. A field that the table lacks pins every job that sets it, and fails the tests.
 *
 *   NUMBER(field, unset, option)  may raise the price when it is not `unset`:
 *                                 its value after slurm_init_job_desc_msg()
 *   TEXT(field, option)           may raise when it is there and not empty
 *   TIME(field)                   may raise when it is not 0
 *   KEEPS(field, why)             raises no price and holds in any partition
 *   PINS_NUMBER(field, option, why), PINS_TEXT(...)
 *                                 raises no price: why; and pins
 *
 * `option` pins: a job that sets the field stays where Slurm would put it, and the message names
 * that option. NULL: the field's wish is checked for each partition, by decide_fit.c or by
 * lt_pins_of(). The comment of a row says where lt_request_from_desc() puts the value.
 */
#ifndef LT_JOB_FIELDS_H
#define LT_JOB_FIELDS_H

#include "slurm_abi.h"

/* Fields that only newer releases have. */
#if LT_SLURM_AT_LEAST(23, 2)
#define LT_JOB_FIELDS_23_02(PINS_TEXT)                                                             \
	PINS_TEXT(container_id, "--container", "what runs, not on what")                           \
	PINS_TEXT(job_size_str, "--nodes", "a choice of sizes: min_nodes is least")
#else
#define LT_JOB_FIELDS_23_02(PINS_TEXT)
#endif
#if LT_SLURM_AT_LEAST(24, 11)
#define LT_JOB_FIELDS_24_11(NUMBER) NUMBER(segment_size, 0, "--segment")
#else
#define LT_JOB_FIELDS_24_11(NUMBER)
#endif

/* A table: clang-format would make paragraphs of it. */
/* clang-format off */
#define LT_JOB_FIELDS(NUMBER, TEXT, TIME, KEEPS, PINS_NUMBER, PINS_TEXT)		\
	TEXT(account, NULL)			/* whose budget */			\
	TIME(begin_time)			/* earliest: another period */		\
	NUMBER(boards_per_node, 0, "--extra-node-info")	/* other shapes */		\
	NUMBER(contiguous, NO_VAL16, "--contiguous")	/* fills gaps of req_nodes */	\
	NUMBER(core_spec, NO_VAL16, "--core-spec")	/* exclusive */			\
	NUMBER(cores_per_socket, NO_VAL16, NULL)					\
	TEXT(cpus_per_tres, NULL)		/* cpus_per_gpu */			\
	NUMBER(cpus_per_task, NO_VAL16, NULL)						\
	TIME(deadline)				/* latest end, of a submission */	\
	TIME(end_time)				/* of a running job: its limit */	\
	TEXT(exc_nodes, NULL)			/* other shapes */			\
	TEXT(features, NULL)			/* nodes_counted; other shapes */	\
	NUMBER(max_cpus, NO_VAL, NULL)							\
	NUMBER(max_nodes, NO_VAL, NULL)							\
	TEXT(mem_per_tres, NULL)		/* memory_mib_per_gpu */		\
	NUMBER(min_cpus, NO_VAL, NULL)		/* cpus */				\
	NUMBER(min_nodes, NO_VAL, NULL)							\
	NUMBER(ntasks_per_board, 0, "--ntasks-per-board")				\
	NUMBER(ntasks_per_core, NO_VAL16, NULL)						\
	NUMBER(ntasks_per_node, NO_VAL16, NULL)						\
	NUMBER(ntasks_per_socket, NO_VAL16, NULL)					\
	NUMBER(ntasks_per_tres, NO_VAL16, NULL)	/* tasks_per_gpu */			\
	NUMBER(num_tasks, NO_VAL, NULL)		/* tasks */				\
	TEXT(partition, NULL)			/* named */				\
	NUMBER(pn_min_cpus, NO_VAL16, NULL)	/* cpus_per_node */			\
	NUMBER(pn_min_memory, NO_VAL64, NULL)	/* memory_mib_per_*, whole_memory */	\
	NUMBER(pn_min_tmp_disk, NO_VAL, NULL)	/* other shapes */			\
	TEXT(prefer, "--prefer")		/* nodes_counted; other shapes */	\
	NUMBER(reboot, NO_VAL16, "--reboot")	/* exclusive */				\
	TEXT(req_nodes, NULL)			/* min_nodes, nodes_named */		\
	TEXT(reservation, NULL)			/* other nodes */			\
	NUMBER(shared, NO_VAL16, NULL)		/* exclusive; not =topo */		\
	NUMBER(sockets_per_board, 0, "--extra-node-info")				\
	NUMBER(sockets_per_node, NO_VAL16, NULL)					\
	NUMBER(threads_per_core, NO_VAL16, NULL)					\
	NUMBER(time_limit, NO_VAL, NULL)	/* limit_s */				\
	TEXT(tres_per_job, NULL)		/* gpus */				\
	TEXT(tres_per_node, NULL)		/* gpus_per_node, shards_per_node */	\
	TEXT(tres_per_socket, NULL)		/* gpus_per_socket */			\
	TEXT(tres_per_task, NULL)		/* gpus_per_task, cpus_per_task */	\
	LT_JOB_FIELDS_24_11(NUMBER)		/* spread: no most is written */	\
	LT_JOB_FIELDS_23_02(PINS_TEXT)							\
	KEEPS(acctg_freq, "how often usage is sampled")					\
	KEEPS(admin_comment, "text; only admins can set it")				\
	KEEPS(alloc_node, "where the job was submitted")				\
	KEEPS(alloc_resp_port, "for the client's connection")				\
	KEEPS(alloc_sid, "the client's session")					\
	KEEPS(alloc_tls_cert, "for the client's connection")				\
	KEEPS(argc, "arguments of the script")						\
	KEEPS(argv, "arguments of the script")						\
	KEEPS(array_bitmap, "made by slurmctld from array_inx")				\
	KEEPS(array_inx, "tasks are counted at submit; an update changes none")		\
	PINS_TEXT(batch_features, "--batch", "of one node among those the job has")	\
	KEEPS(bitflags, "an update sets neither SPREAD_JOB nor binding")	/* pins: those unknown */\
	KEEPS(burst_buffer, "not priced")	/* LT_PIN_* */				\
	PINS_TEXT(cluster_features, "--cluster-constraint", "which cluster of a federation")\
	PINS_TEXT(clusters, "--clusters", "which cluster of a federation")		\
	KEEPS(comment, "text")								\
	PINS_TEXT(container, "--container", "what runs, not on what")			\
	KEEPS(container_type, "what runs, not on what")					\
	KEEPS(cpu_bind, "within the allocation")					\
	KEEPS(cpu_bind_type, "within the allocation")					\
	KEEPS(cpu_freq_gov, "within the allocation; power is by rating")		\
	KEEPS(cpu_freq_max, "within the allocation; power is by rating")		\
	KEEPS(cpu_freq_min, "within the allocation; power is by rating")		\
	KEEPS(crontab_entry, "each run is admitted")					\
	KEEPS(delay_boot, "waits longer")						\
	KEEPS(dependency, "waits longer")	/* expand: another's limit; LT_PIN_* */	\
	KEEPS(env_hash, "text")								\
	KEEPS(env_size, "text")								\
	KEEPS(environment, "text")							\
	PINS_TEXT(extra, "--extra", "may ask for a node by its text")			\
	KEEPS(fed_siblings_active, "federations are not supported")			\
	KEEPS(fed_siblings_viable, "federations are not supported")			\
	KEEPS(group_id, "who, not what")						\
	KEEPS(het_job_offset, "each component is priced by itself")			\
	KEEPS(id, "set by slurmctld")							\
	PINS_NUMBER(immediate, "--immediate", "refused if it can't start now")		\
	KEEPS(job_id, "which job")							\
	KEEPS(job_id_str, "which job")							\
	KEEPS(kill_on_node_fail, "ends earlier or goes on within its limit")		\
	KEEPS(licenses, "not priced")		/* LT_PIN_* */				\
	KEEPS(licenses_tot, "made by slurmctld")					\
	KEEPS(mail_type, "mail")							\
	KEEPS(mail_user, "mail")							\
	KEEPS(mcs_label, "who may share a node; use is counted all the same")		\
	KEEPS(mem_bind, "within the allocation")					\
	KEEPS(mem_bind_type, "within the allocation")					\
	KEEPS(mem_update_delay, "a later update may lower memory only")			\
	KEEPS(mem_update_margin, "a later update may lower memory only")		\
	KEEPS(name, "text")								\
	PINS_TEXT(network, "--network", "switch hardware that is not priced")		\
	KEEPS(nice, "order; job_modify looks at it as a release")			\
	KEEPS(oom_kill_step, "ends earlier")						\
	KEEPS(open_mode, "files")							\
	KEEPS(origin_cluster, "federations are not supported")				\
	KEEPS(other_port, "for the client's connection")				\
	KEEPS(overcommit, "fewer CPUs for the same tasks")				\
	KEEPS(plane_size, "where tasks go within the nodes")				\
	KEEPS(power_flags, "power caps")						\
	KEEPS(priority, "order; job_modify looks at it as a release")			\
	KEEPS(profile, "what is sampled")						\
	KEEPS(qos, "limits and order; prices are by partition")				\
	KEEPS(req_context, "SELinux")							\
	PINS_NUMBER(req_switch, "--switches", "waits longer")				\
	KEEPS(requeue, "each run is admitted")						\
	KEEPS(resp_host, "for the client's connection")					\
	KEEPS(restart_cnt, "set by slurmctld")						\
	KEEPS(resv_port_cnt, "ports of MPI")						\
	KEEPS(script, "what runs, not on what")						\
	KEEPS(script_buf, "what runs, not on what")					\
	KEEPS(script_hash, "what runs, not on what")					\
	KEEPS(select_jobinfo, "of Crays")						\
	KEEPS(selinux_context, "SELinux")						\
	KEEPS(site_factor, "order")							\
	KEEPS(spank_job_env, "lowtide's own options are in it")				\
	KEEPS(spank_job_env_size, "lowtide's own options are in it")			\
	KEEPS(std_err, "files")								\
	KEEPS(std_in, "files")								\
	KEEPS(std_out, "files")								\
	KEEPS(step_id, "which job")							\
	KEEPS(submit_line, "text")							\
	KEEPS(task_dist, "where tasks go; sockets are held for the widest")	/* pins: arbitrary */\
	KEEPS(time_min, "ends earlier")							\
	KEEPS(tres_bind, "within the allocation")					\
	KEEPS(tres_freq, "within the allocation; power is by rating")			\
	KEEPS(tres_req_cnt, "made by slurmctld")					\
	KEEPS(user_id, "who; the pair of user and account is checked")			\
	KEEPS(wait4switch, "waits shorter for what it has anyway")			\
	KEEPS(wait_all_nodes, "within the allocation")					\
	KEEPS(warn_flags, "signals")							\
	KEEPS(warn_signal, "signals")							\
	KEEPS(warn_time, "signals")							\
	KEEPS(wckey, "text")								\
	KEEPS(work_dir, "files")							\
	KEEPS(x11, "display")								\
	KEEPS(x11_magic_cookie, "display")						\
	KEEPS(x11_target, "display")							\
	KEEPS(x11_target_port, "display")

#endif
