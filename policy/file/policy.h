/*
 * The policy file (YAML) as a struct. Everything is owned by the policy and freed whole. Meaning
 * and units of each key: man 5 lowtide.yaml.
 */
#ifndef LT_POLICY_H
#define LT_POLICY_H

#include "address.h"
#include "budget.h"
#include "market.h"
#include "message_kinds.h"

enum {
	LT_OPTION_MAX = 24,
	LT_VALUE_SIZE = 512,
	LT_NODE_LABELS_SIZE = 512, /* labels or taints of node:, all */
	LT_ORDER_MAX = 8,
	LT_SOURCE_WEATHER_MAX = 3, /* wind, sun, temperature; or load */
	LT_EXCHANGES_MAX = 1024,
	LT_OWN_DEFAULT = 2, /* lt_policy_partition.own_history */
	LT_ALERTS_MAX = 16,
	LT_MESSAGE_TO_MAX = 8, /* owners of a team */
	LT_VIEWERS_MAX = 32,
	LT_PUE_MONTHS_MAX = 120,
	LT_LABELS_MAX = 16, /* of one team */
	LT_LABEL_KEY_SIZE = 64,
	LT_LABEL_SIZE = 256,
	LT_ISSUER_SIZE = 129,		       /* of a name on an invoice; three of them, quoted,
						* are in a closed period's head */
	LT_SOURCES_MAX = 512,		       /* two a partition: refused */
	LT_POLICY_BYTES_MAX = 2 * 1024 * 1024, /* LT_BUDGETS_MAX of 200 bytes
						* and the rest: refused */
	LT_POLICY_ERRORS_MAX = 20,	       /* shown at once; more: dropped */
};

struct lt_policy_option { /* of a source; adapters read them by name */
	char key[LT_NAME_SIZE];
	char value[LT_VALUE_SIZE]; /* scalar text as written */
	int line, column;
};

struct lt_policy_weather { /* all three, or none */
	int count;
	char names[LT_SOURCE_WEATHER_MAX][LT_NAME_SIZE];
	int line, column;
};

struct lt_policy_source {
	char name[LT_NAME_SIZE];
	char adapter[LT_NAME_SIZE];
	int line, column;
	/* Names of the sources that its forecasts are made with: of weather, and of what the grid's
	 * operator expects. */
	struct lt_policy_weather weather, day_ahead;
	int option_count;
	struct lt_policy_option options[LT_OPTION_MAX];
};

/* A number that the admin wrote, or sources in order of preference. */
struct lt_policy_signal {
	bool is_set, is_constant;
	double constant; /* micros, or g/kWh */
	int source_count;
	int sources[LT_ORDER_MAX]; /* indexes */
	int line, column;
};

struct lt_policy_market_based { /* of a contract or certificates */
	bool is_set;
	double g_per_kwh;
	char source[LT_NAME_SIZE];
	int64_t from_utc_s; /* INT64_MIN = since the policy says so */
};

struct lt_policy_pue { /* in the order of time; each until the next */
	int count;     /* 0 = not said: 1.0 */
	struct lt_policy_pue_month {
		int64_t from_utc_s; /* INT64_MIN: it is the only one */
		double value;
	} months[LT_PUE_MONTHS_MAX];
};

/* Which jobs a partition accepts; bits, of lt_policy_partition.accepts. */
enum lt_accepts { LT_ACCEPTS_GPU, LT_ACCEPTS_CPU };

struct lt_policy_partition {
	char name[LT_NAME_SIZE];
	int line, column;
	struct lt_policy_signal price; /* price_per_node_hour */
	bool has_gpu_price;	       /* instead of it: of one GPU */
	int64_t gpu_price_micros;
	int64_t price_from_utc_s;	/* its nodes have as many GPUs since then; 0:
					 * since the policy was read */
	struct lt_policy_signal carbon; /* carbon */
	struct lt_policy_signal tariff; /* electricity_price_per_kwh */
	char gpu[LT_GPU_NAME_SIZE];	/* "" = by Gres type */
	struct lt_policy_pue pue;
	bool owned;
	/* target: not said = where nodes are there */
	bool target_said, is_target;
	struct {
		bool is_set;
		uint32_t cpus, memory_mib, gpus;
		uint32_t count;
		/* On Kubernetes: "key=value,..." and "key=value:NoSchedule,...". */
		char labels[LT_NODE_LABELS_SIZE], taints[LT_NODE_LABELS_SIZE];
	} node;		  /* what one is, while none is there */
	uint32_t accepts; /* 1 << enum lt_accepts; 0 = by its nodes */
	bool preemptible;
	struct lt_policy_signal hazard; /* interruptions_per_hour; published
					 * or written */
	struct lt_policy_signal score;	/* placement_score: shown, no more */
	int own_history;		/* the cluster's own interruptions count: 1, 0;
					 * LT_OWN_DEFAULT = where the rate is a source's */
	int64_t notice_s, restart_s;
	int64_t engineer_micros_per_restart;
	int64_t storage_micros_per_gib_month;
	double storage_gib_per_s; /* 0 = not known */
	double embodied_g_per_node_hour;
	struct lt_policy_market_based market_based;
	double worst_intensity;
	double node_idle_w, node_cpu_w, node_gpu_w; /* 0 = from the tables */
};

enum lt_alert_basis { /* what alert_at is a share of the budget of */
	LT_ALERT_ON_SPENT,
	LT_ALERT_ON_HELD,     /* spent, and held for jobs that wait or run */
	LT_ALERT_ON_FORECAST, /* expected at the period's end */
	LT_ALERT_BASES
};

struct lt_policy_budget {
	char team[LT_ACCOUNT_SIZE];
	int line, column;
	enum lt_period_kind period;
	int64_t start_utc_s, end_utc_s; /* LT_FIXED: local dates from:, to: */
	struct lt_amount limit, per_user;
	enum lt_rule on_exceed;
	int alert_count;
	int alert_at[LT_ALERTS_MAX]; /* percent */
	uint32_t alert_on;	     /* 1 << enum lt_alert_basis; 0: what is spent */
};

struct lt_policy_label {
	char key[LT_LABEL_KEY_SIZE];
	char value[LT_LABEL_SIZE]; /* one line of UTF-8 */
};
/* 1 to 63 letters, digits, _ . / or -, and not one of lowtide's own? */
bool lt_label_key_is_valid(const char *key);
struct lt_policy_team { /* its labels: cost centre, project, owner */
	char name[LT_ACCOUNT_SIZE];
	int label_count;
	struct lt_policy_label *labels; /* malloc'd */
};

struct lt_policy_owners { /* who hears of a team's budgets */
	char team[LT_ACCOUNT_SIZE];
	int line, column, count;
	char to[LT_MESSAGE_TO_MAX][LT_ADDRESS_SIZE]; /* lt_address_is() */
	/* Users who see what a coordinator of the team sees; "": mail alone. */
	char user[LT_MESSAGE_TO_MAX][LT_NAME_SIZE];
};
struct lt_policy_notify { /* "": this way is not used */
	bool is_set;
	char spool[LT_VALUE_SIZE]; /* absolute */
	char mail_server[LT_VALUE_SIZE], mail_from[LT_ADDRESS_SIZE];
	char webhook_url[LT_VALUE_SIZE], webhook_secret_file[LT_VALUE_SIZE];
	char command[LT_VALUE_SIZE];
	uint32_t digest_hour; /* of the site's day */
	struct lt_policy_alerts alerts;
	int owner_count;
	struct lt_policy_owners *owners;
};

enum {
	LT_LISTEN_ADDRESS_SIZE = 46,
	LT_METRICS_TOKEN_LEAST = 16, /* characters */
};
struct lt_policy_metrics {
	uint16_t port;			      /* 0: none are served */
	char address[LT_LISTEN_ADDRESS_SIZE]; /* IPv4, or IPv6 */
	char token_file[LT_VALUE_SIZE];	      /* "": health only */
};

/* One unit of `currency` in the site's, from a day on until the next row. */
struct lt_policy_exchange {
	char currency[8];
	double rate;
	int64_t from_utc_s; /* INT64_MIN = always */
};

/* Which carbon intensity all partitions use: the two are never compared. */
/* Proof that a --checkpoint job can resume: seen by lowtide, or said by its user. */
enum lt_spot_proof { LT_SPOT_PROOF_REQUIRED, LT_SPOT_PROOF_SAID };
enum lt_intensity { LT_INTENSITY_AVERAGE, LT_INTENSITY_MARGINAL };

/* Costs of a site beside its nodes, for reports; 0 = not known. */
struct lt_policy_tcto {
	int64_t energy_micros_per_kwh, storage_micros_per_gb_month, engineer_micros_per_hour,
	    engineer_hour_millionths;
	uint32_t storage_gb;
};

/* The true cost of CO2e, and what waiting earns. */
struct lt_policy_charge {
	int64_t micros_per_tonne;
};
struct lt_policy_discount {
	uint32_t share_ppm;  /* of what the wait saved; 0 = none */
	int64_t most_micros; /* of an account and month */
};

/* The issuer and the receiver of charges: FOCUS shows them where a centre sends invoices. "": the
 * cluster's name. */
struct lt_policy_billing {
	bool is_billed;
	char issuer[LT_ISSUER_SIZE], account_id[LT_ISSUER_SIZE], account_name[LT_ISSUER_SIZE];
};

/* Treatment of a job that started on more than was held for it. */
enum lt_underheld { LT_UNDERHELD_LET, LT_UNDERHELD_REQUEUE };

struct lt_policy {
	char path[4096];
	enum lt_mode mode;
	char currency[8];
	char timezone[64]; /* "" = the controller's */
	int64_t carbon_price_micros_per_tonne;
	int64_t max_delay_s, stale_after_s, deadline_slack_s, assume_time_s;
	uint32_t deadline_confidence_ppm, max_restart_risk_ppm, max_extra_cost_ppm, hold_margin_ppm,
	    min_saving_ppm, holdout_ppm; /* 0 = none is held out */
	enum lt_spot_proof spot_proof;
	int64_t waiting_micros_per_hour;
	double waiting_g_per_hour;
	enum lt_rule on_unknown;
	enum lt_underheld on_underheld;
	uint16_t listen_port;	   /* 6826 */
	int64_t close_after_s;	   /* from a period's end until it may be closed */
	uint32_t history_days;	   /* of run lengths; 0 = none are kept */
	uint32_t retention_months; /* of users in runs; 0 = for ever */
	int viewer_count;
	char viewers[LT_VIEWERS_MAX][LT_NAME_SIZE]; /* Unix groups */
	enum lt_intensity intensity;
	struct lt_policy_tcto tcto;
	struct lt_policy_charge charge;
	struct lt_policy_discount discount;
	struct lt_policy_billing billing;
	struct lt_policy_notify notify;
	struct lt_policy_metrics metrics;
	int source_count, partition_count, budget_count, gpu_count, exchange_count, team_count,
	    precision_count, class_count, power_cap_count;
	struct lt_policy_source *sources;
	struct lt_policy_partition *partitions;
	struct lt_policy_budget *budgets;
	struct lt_precision_rule *precisions;
	struct lt_class *classes;
	double power_cap_above; /* g CO2e per kWh; for the rules */
	struct lt_power_cap *power_caps;
	struct lt_gpu *gpus;		      /* the site's own rows */
	struct lt_policy_exchange *exchanges; /* by currency, then by day */
	struct lt_policy_team *teams;	      /* those with labels */
};

/* Returns the PUE at that time; before the first month that of the first. */
double lt_policy_pue(const struct lt_policy_pue *pue, int64_t utc_s);

/* The source of that name; NULL = none. */
const struct lt_policy_source *lt_policy_source_find(
    const struct lt_policy *policy, const char *name);

/* NULL: nobody. */
/* True if the user of the system is among them; false for NULL. */
bool lt_policy_is_owner(const struct lt_policy_owners *owners, const char *user);
const struct lt_policy_owners *lt_policy_owners_of(
    const struct lt_policy *policy, const char *team);

/* The policy's row of a GPU: the site's own `gpus:` by name (any case), else the built-in table's
 * in room; NULL = unknown. */
const struct lt_gpu *lt_policy_gpu(
    struct lt_gpu *room, const struct lt_policy *policy, const char *name);

/* Writes the precision rules for plugstack's line, in their order:
 * "precision=account:audit:off,qos:fast:bf16"; "" without any. Returns out. */
const char *lt_policy_precision_text(char *out, size_t size, const struct lt_policy *policy);

/*
 * Read a policy file. On failure *policy is NULL and err has line, column and "FILE:LINE:COL:
 * max_delay: got "2 h", want a duration such as 24h" (nearest known key for an unknown one). The
 * caller owns *policy. known_adapters:
 * names, NULL ended, for checking `adapter:`; NULL: any is taken; the options of each are checked
 * by the adapter itself (lt_adapter_check). Not thread safe: dates of fixed periods are made with
 * tzset(3), under the policy's timezone where TZ is another.
 */
int lt_policy_load(struct lt_policy **policy, const char *path, const char *const *known_adapters,
    struct lt_error *err);

/* All errors of a file, by line and column; start as { 0 }. */
struct lt_policy_errors {
	int count;
	struct lt_error items[LT_POLICY_ERRORS_MAX];
};
struct lt_policy_text {
	const char *name; /* stands for the file in messages */
	const char *bytes;
	size_t length;
};
/* The same with every error that can be shown at once; and from memory. */
int lt_policy_load_all(struct lt_policy **policy, const char *path,
    const char *const *known_adapters, struct lt_policy_errors *errors);
int lt_policy_parse_all(struct lt_policy **policy, const struct lt_policy_text *text,
    const char *const *known_adapters, struct lt_policy_errors *errors);
/* The bytes of a file, at most one more than the limit, for the parser to refuse; the caller frees
 * *bytes. On failure errors has the one error. */
int lt_policy_read(char **bytes, size_t *length, const char *path, struct lt_policy_errors *errors);
void lt_policy_free(struct lt_policy *policy);

#endif
