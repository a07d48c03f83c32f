/*
 * Bounds of everything lowtide loops over, stores or reads. Each line says what happens at the
 * bound; the sums are static-asserted where they matter.
 */
#ifndef LT_LIMITS_H
#define LT_LIMITS_H

enum {
	LT_NAME_SIZE = 64,	      /* source, user; longer: refused. Slurm's
				       * partition: not known to lowtide */
	LT_ACCOUNT_SIZE = 48,	      /* account; longer: unknown to lowtide */
	LT_FEATURES_SIZE = 128,	      /* of a node; longer: it counts as without */
	LT_GPU_NAME_SIZE = 64,	      /* longer: refused; of a job: it stays home */
	LT_GPU_KINDS_MAX = 4,	      /* types of a node; more: no target for jobs */
	LT_ERROR_TEXT_SIZE = 512,     /* longer: cut */
	LT_PARTITIONS_MAX = 256,      /* more: the last are not known to lowtide */
	LT_NODES_MAX = 1 << 20,	      /* of one job; more count as that many */
	LT_SHAPES_MAX = 1024,	      /* node shapes over all partitions: one that
				       * brings more is not known to lowtide */
	LT_SERIES_MAX = 1024,	      /* three a partition and some: refused */
	LT_STEPS_MAX = 4096,	      /* steps of one series, 14 days of 5 min: cut */
	LT_GPUS_MAX = 128,	      /* rows of the GPU table: refused */
	LT_ZONE_STEPS_MAX = 16,	      /* UTC offset changes ahead: cut */
	LT_CLASSES_MAX = 256,	      /* refused */
	LT_PRECISION_RULES_MAX = 32,  /* on one line of plugstack.conf: refused */
	LT_POWER_CAPS_MAX = 128,      /* rules of power_cap: refused */
	LT_BARS_MAX = 1024,	      /* requests that Slurm could not start: of
				       * more the oldest are tried again */
	LT_FREQUENCY_SIZE = 24,	      /* Slurm's word or range: refused */
	LT_BUDGETS_MAX = 8192,	      /* refused */
	LT_ACCOUNTS_MAX = 16384,      /* refused */
	LT_PAIRS_MAX = 262144,	      /* valid (uid, account): refused */
	LT_MANAGERS_MAX = 65536,      /* operators, (coordinator, account): refused
				       * */
	LT_USAGES_MAX = 65536,	      /* (budget, uid) with a cap: refused */
	LT_BINDINGS_MAX = 64,	      /* budgets that bind one job: unknown */
	LT_SHEET_STALE_S = 60,	      /* lowtided writes each 15 s: four misses and
				       * the balance is unknown */
	LT_PERIODS = 2,		      /* the current and the next */
	LT_RING_SLOTS = 65536,	      /* holds not yet ingested; full: unknown */
	LT_TERMS_MAX = 1048576,	      /* live jobs; more: lowtided refuses */
	LT_HISTORY_MAX = 262144,      /* groups in the file; more: the oldest are
				       * left out */
	LT_SMOKES_MAX = 65536,	      /* of them smoke runs: the last ones */
	LT_TERMS_BLOCK = 64,	      /* terms per checksummed block */
	LT_ARRAY_TEXT_MAX = 65536,    /* bytes of --array; longer: refused */
	LT_ARRAY_TASKS_MAX = 4000001, /* Slurm's own bound on MaxArraySize */
	LT_PLANNED_MAX = 4096,	      /* windows booked since the snapshot: more
				       * count from the next snapshot on */
	LT_MARKER_SIZE = 64,	      /* what a job says of its progress, with the NUL;
				       * more is cut */
	LT_QUOTE_TEXT_SIZE = 2560,    /* our part of admin_comment */
	LT_WHY_MAX = 16,	      /* candidates in a quote: more are counted */
	LT_WHY_TEXT_SIZE = 768,	      /* 16 of 47 bytes; what does not fit is
				       * counted, too */
	LT_LEVERS_TEXT_SIZE = 180,    /* two u32, six amounts, a time */
	LT_RUN_TEXT_SIZE = 288,	      /* of a kind of runs: a hash, eight numbers,
				       * a power cap of 7 fields */
	LT_ADMIN_COMMENT_MAX = 65536, /* longer: ours is left out, said once */
	/* The most that one call of a plugin may use of slurmctld's thread, which has 1 MiB: larger
	 * buffers are allocated. */
	LT_STACK_BYTES_MAX = 128 * 1024,
	LT_MESSAGE_SIZE = 16384,	      /* text for a user; longer: cut */
	LT_MEMORY_MIB_MAX = 1 << 30,	      /* of a node, 1 PiB; more: refused */
	LT_FILE_BYTES_MAX = 64 * 1024 * 1024, /* any snapshot; more: refused */
};

#endif
