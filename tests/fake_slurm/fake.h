/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm without Slurm: what the parts of fake_slurm share. fake_slurm.c has main and finds the
 * plugins, fake_stubs.c what Slurm gives to plugins, fake_submit.c, fake_edits.c, fake_history.c,
 * fake_ring.c, fake_modify.c, fake_change.c, fake_laid.c, fake_stack.c, fake_spank.c and
 * fake_node.c drive the two.
 */
#ifndef LT_FAKE_H
#define LT_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slurm_abi.h"
#include <slurm/spank.h>

#include "ring.h"

/* The plugins' entry points. */
extern int (*fake_init)(void), (*fake_fini)(void);
/* The plugin begins anew, as at a reconfigure. */
void fake_again(void);
extern int (*fake_submit)(job_desc_msg_t *, uint32_t, char **);
#if LT_MODIFY_HAS_MESSAGE
extern int (*fake_modify)(job_desc_msg_t *, void *, uint32_t, char **);
#else
extern int (*fake_modify)(job_desc_msg_t *, void *, uint32_t);
#endif
extern spank_f *fake_spank_init, *fake_spank_post_opt, *fake_spank_task_init;
extern char fake_run[512], fake_state[512];

/* The stubs' side: what was logged, registered, set. */
extern char fake_said[65536], fake_set_options[4096];
extern spank_context_t fake_context;
extern struct spank_option fake_options[16];
extern int fake_option_count, fake_environment_count;
extern uint32_t fake_step;
extern job_desc_msg_t fake_client_job;
extern const char *fake_test_only; /* --test-only, as the client has it */
extern slurm_conf_t slurm_conf;
void fake_env(const char *name, const char *value);
void fake_env_clear(void);

/* As slurm_init_job_desc_msg(), for what the plugins look at. */
void fake_job_defaults(job_desc_msg_t *job);

/* make_snapshot with these arguments; any shell command. Must succeed. */
void fake_snapshots(const char *arguments);
void fake_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Setup and teardown of each test: empty directories, the plugin started. */
int fake_fresh(void **state);
int fake_done(void **state);

#define FAKE_TEST(f) cmocka_unit_test_setup_teardown(f, fake_fresh, fake_done)
/* job_modify(), whichever release. */
int fake_job_modify(job_desc_msg_t *job, uint32_t uid);

/* The terms file, with these jobs alone. */
struct lt_terms;
void fake_terms(struct lt_terms *jobs, uint32_t count);

/* One submission and what came of it (fake_send.c). */
struct submission {
	int code;
	char message[8192];
	char comment[4096];
	char partition[64];
	uint32_t priority, time_limit;
	int64_t begin_utc_s;
};

struct wish {
	const char *account, *option, *array, *gres, *comment, *partition, *dependency;
	uint32_t minutes; /* 0 = unset */
	uint32_t uid;	  /* 0 = our own */
	bool interactive, cron, held;
};
void fake_send(struct submission *out, const struct wish *wish);
void fake_restart(void);
/* Records in the ring; the last goes to out, which may be NULL. */
uint32_t fake_records(struct lt_ring_record *out);
/* Those that hold something. */
uint32_t fake_holds(struct lt_ring_record *out);

int fake_rights_tests(void);
int fake_submit_tests(void);
int fake_edits_tests(void);
int fake_expand_tests(void);
int fake_history_tests(void);
int fake_stack_tests(void);
int fake_ring_tests(void);
int fake_modify_tests(void);
int fake_change_tests(void);
int fake_laid_tests(void);
int fake_spank_tests(void);
int fake_node_tests(void);
/* fake_spank.c: its start in that place, and an option that is given. */
void fake_spank_start(spank_context_t where, char **arguments, int count);
int fake_give(const char *name, const char *value, int remote);
void fake_bench(void);
void fake_bench_calls(int partitions, bool asks, int calls);

#endif
