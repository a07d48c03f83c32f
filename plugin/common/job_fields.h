/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every field of a job description, of all releases: how it is priced, or why
 * it can't raise what a job may cost. tests/job_fields.sh compares the table
 * with the installed slurm.h: a field that is missing here fails the build of
 * the tests.
 *
 *   NUMBER(field, unset)  may raise when it is not `unset`: what it has after
 *                         slurm_init_job_desc_msg(), 0 for some
 *   TEXT(field)           may raise when it is there and not empty
 *   TIME(field)           may raise when it is not 0
 *   KEEPS(field, why)     can't raise: why
 *
 * The second column of NUMBER, TEXT and TIME that matters to a reader is the
 * comment: where lt_request_from_desc() puts it.
 */
#ifndef LT_JOB_FIELDS_H
#define LT_JOB_FIELDS_H

#include "slurm_abi.h"

/* What only newer releases have. */
#if LT_SLURM_AT_LEAST(24, 11)
#define LT_JOB_FIELDS_24_11(NUMBER) NUMBER(segment_size, 0)
#else
#define LT_JOB_FIELDS_24_11(NUMBER)
#endif

/* A table: clang-format would make paragraphs of it. */
/* clang-format off */
#define LT_JOB_FIELDS(NUMBER, TEXT, TIME, KEEPS)                               \
	TEXT(account)			  /* whose budget */                   \
	TIME(begin_time)		  /* earliest: another period */       \
	NUMBER(boards_per_node, 0)	  /* other shapes */                   \
	NUMBER(contiguous, NO_VAL16)	  /* fills gaps of req_nodes */        \
	NUMBER(core_spec, NO_VAL16)	  /* exclusive */                      \
	NUMBER(cores_per_socket, NO_VAL16)                                     \
	TEXT(cpus_per_tres)		  /* cpus_per_gpu */                   \
	NUMBER(cpus_per_task, NO_VAL16)                                        \
	TIME(deadline)			  /* latest end, of a submission */    \
	TIME(end_time)			  /* of a running job: its limit */    \
	TEXT(exc_nodes)			  /* other shapes */                   \
	TEXT(features)			  /* other shapes */                   \
	NUMBER(max_cpus, NO_VAL)                                               \
	NUMBER(max_nodes, NO_VAL)                                              \
	TEXT(mem_per_tres)		  /* memory_mib_per_gpu */             \
	NUMBER(min_cpus, NO_VAL)	  /* cpus */                           \
	NUMBER(min_nodes, NO_VAL)                                              \
	NUMBER(ntasks_per_board, 0)                                            \
	NUMBER(ntasks_per_core, NO_VAL16)                                      \
	NUMBER(ntasks_per_node, NO_VAL16)                                      \
	NUMBER(ntasks_per_socket, NO_VAL16)                                    \
	NUMBER(ntasks_per_tres, NO_VAL16) /* tasks_per_gpu */                  \
	NUMBER(num_tasks, NO_VAL)	  /* tasks */                          \
	TEXT(partition)			  /* named */                          \
	NUMBER(pn_min_cpus, NO_VAL16)	  /* cpus_per_node */                  \
	NUMBER(pn_min_memory, NO_VAL64)	  /* memory_mib_per_*, whole_memory */ \
	NUMBER(pn_min_tmp_disk, NO_VAL)	  /* other shapes */                   \
	TEXT(prefer)			  /* other shapes */                   \
	NUMBER(reboot, NO_VAL16)	  /* exclusive */                      \
	TEXT(req_nodes)			  /* min_nodes */                      \
	TEXT(reservation)		  /* other nodes */                    \
	NUMBER(shared, NO_VAL16)	  /* exclusive; not =topo */           \
	NUMBER(sockets_per_board, 0)                                           \
	NUMBER(sockets_per_node, NO_VAL16)                                     \
	NUMBER(threads_per_core, NO_VAL16)                                     \
	NUMBER(time_limit, NO_VAL)	  /* limit_s */                        \
	TEXT(tres_per_job)		  /* gpus */                           \
	TEXT(tres_per_node)		  /* gpus_per_node, shards_per_node */ \
	TEXT(tres_per_socket)		  /* gpus_per_socket */                \
	TEXT(tres_per_task)		  /* gpus_per_task, cpus_per_task */   \
	LT_JOB_FIELDS_24_11(NUMBER)	  /* spread: no most is written */     \
	KEEPS(acctg_freq, "how often usage is sampled")                        \
	KEEPS(admin_comment, "text; only admins can set it")                   \
	KEEPS(alloc_node, "where the job was submitted")                       \
	KEEPS(alloc_resp_port, "for the client's connection")                  \
	KEEPS(alloc_sid, "the client's session")                               \
	KEEPS(alloc_tls_cert, "for the client's connection")                   \
	KEEPS(argc, "arguments of the script")                                 \
	KEEPS(argv, "arguments of the script")                                 \
	KEEPS(array_bitmap, "made by slurmctld from array_inx")                \
	KEEPS(array_inx, "tasks are counted at submit; an update changes none")\
	KEEPS(batch_features, "of one node among those the job has")           \
	KEEPS(bitflags, "SPREAD_JOB and binding can't be set by an update")    \
	KEEPS(burst_buffer, "not priced")                                      \
	KEEPS(cluster_features, "which cluster of a federation")               \
	KEEPS(clusters, "which cluster of a federation")                       \
	KEEPS(comment, "text")                                                 \
	KEEPS(container, "what runs, not on what")                             \
	KEEPS(container_id, "what runs, not on what")                          \
	KEEPS(container_type, "what runs, not on what")                        \
	KEEPS(cpu_bind, "within the allocation")                               \
	KEEPS(cpu_bind_type, "within the allocation")                          \
	KEEPS(cpu_freq_gov, "within the allocation; power is by rating")       \
	KEEPS(cpu_freq_max, "within the allocation; power is by rating")       \
	KEEPS(cpu_freq_min, "within the allocation; power is by rating")       \
	KEEPS(crontab_entry, "each run is admitted")                           \
	KEEPS(delay_boot, "waits longer")                                      \
	KEEPS(dependency, "waits longer")                                      \
	KEEPS(env_hash, "text")                                                \
	KEEPS(env_size, "text")                                                \
	KEEPS(environment, "text")                                             \
	KEEPS(extra, "text")                                                   \
	KEEPS(fed_siblings_active, "federations are not supported")            \
	KEEPS(fed_siblings_viable, "federations are not supported")            \
	KEEPS(group_id, "who, not what")                                       \
	KEEPS(het_job_offset, "each component is priced by itself")            \
	KEEPS(id, "set by slurmctld")                                          \
	KEEPS(immediate, "refused if it can't start now")                      \
	KEEPS(job_id, "which job")                                             \
	KEEPS(job_id_str, "which job")                                         \
	KEEPS(job_size_str, "made by slurmctld at a resize")                   \
	KEEPS(kill_on_node_fail, "ends earlier or goes on within its limit")   \
	KEEPS(licenses, "not priced")                                          \
	KEEPS(licenses_tot, "made by slurmctld")                               \
	KEEPS(mail_type, "mail")                                               \
	KEEPS(mail_user, "mail")                                               \
	KEEPS(mcs_label, "who may share a node; use is counted all the same")  \
	KEEPS(mem_bind, "within the allocation")                               \
	KEEPS(mem_bind_type, "within the allocation")                          \
	KEEPS(mem_update_delay, "a later update may lower memory only")        \
	KEEPS(mem_update_margin, "a later update may lower memory only")       \
	KEEPS(name, "text")                                                    \
	KEEPS(network, "switch hardware that is not priced")                   \
	KEEPS(nice, "order; job_modify looks at it as a release")              \
	KEEPS(oom_kill_step, "ends earlier")                                   \
	KEEPS(open_mode, "files")                                              \
	KEEPS(origin_cluster, "federations are not supported")                 \
	KEEPS(other_port, "for the client's connection")                       \
	KEEPS(overcommit, "fewer CPUs for the same tasks")                     \
	KEEPS(plane_size, "where tasks go within the nodes")                   \
	KEEPS(power_flags, "power caps")                                       \
	KEEPS(priority, "order; job_modify looks at it as a release")          \
	KEEPS(profile, "what is sampled")                                      \
	KEEPS(qos, "limits and order; prices are by partition")                \
	KEEPS(req_context, "SELinux")                                          \
	KEEPS(req_switch, "waits longer")                                      \
	KEEPS(requeue, "each run is admitted")                                 \
	KEEPS(resp_host, "for the client's connection")                        \
	KEEPS(restart_cnt, "set by slurmctld")                                 \
	KEEPS(resv_port_cnt, "ports of MPI")                                   \
	KEEPS(script, "what runs, not on what")                                \
	KEEPS(script_buf, "what runs, not on what")                            \
	KEEPS(script_hash, "what runs, not on what")                           \
	KEEPS(select_jobinfo, "of Crays")                                      \
	KEEPS(selinux_context, "SELinux")                                      \
	KEEPS(site_factor, "order")                                            \
	KEEPS(spank_job_env, "lowtide's own options are in it")                \
	KEEPS(spank_job_env_size, "lowtide's own options are in it")           \
	KEEPS(std_err, "files")                                                \
	KEEPS(std_in, "files")                                                 \
	KEEPS(std_out, "files")                                                \
	KEEPS(step_id, "which job")                                            \
	KEEPS(submit_line, "text")                                             \
	KEEPS(task_dist, "where tasks go; sockets are held for the widest")    \
	KEEPS(time_min, "ends earlier")                                        \
	KEEPS(tres_bind, "within the allocation")                              \
	KEEPS(tres_freq, "within the allocation; power is by rating")          \
	KEEPS(tres_req_cnt, "made by slurmctld")                               \
	KEEPS(user_id, "who; the pair of user and account is checked")         \
	KEEPS(wait4switch, "waits shorter for what it has anyway")             \
	KEEPS(wait_all_nodes, "within the allocation")                         \
	KEEPS(warn_flags, "signals")                                           \
	KEEPS(warn_signal, "signals")                                          \
	KEEPS(warn_time, "signals")                                            \
	KEEPS(wckey, "text")                                                   \
	KEEPS(work_dir, "files")                                               \
	KEEPS(x11, "display")                                                  \
	KEEPS(x11_magic_cookie, "display")                                     \
	KEEPS(x11_target, "display")                                           \
	KEEPS(x11_target_port, "display")

#endif
