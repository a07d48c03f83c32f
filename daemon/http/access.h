/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who sees what: all rules, in one place. An answer shows a figure, a run or a
 * user only after it asked here.
 *
 *   admin     root and SlurmUser: all
 *   viewer    in a group of the policy's `viewers:`: all figures, runs, users
 *   operator  of slurmdbd, and its administrators: the same
 *   user      sums of his accounts and of the budgeted teams above them; of
 *             runs, jobs and caps his own. Of accounts that he coordinates, and
 *             those below, sums and runs; and so of those that he owns
 *             (`notify: owners`). What Slurm's PrivateData hides from users is
 *             hidden here: usage (sums of more than himself), accounts (teams
 *             above his), jobs (that there is one).
 */
#ifndef LT_ACCESS_H
#define LT_ACCESS_H

#include "api.h"

struct lt_budget_state;
struct lt_policy;
struct lt_run;

enum lt_role { LT_ROLE_USER, LT_ROLE_OPERATOR, LT_ROLE_VIEWER, LT_ROLE_ADMIN };

struct lt_access { /* of who asks; valid while he is answered */
	const struct lt_budget_state *budget;
	const struct lt_policy *policy;
	uint32_t uid;
	enum lt_role role;
	uint32_t private_data;	  /* LT_PRIVATE_*, of slurm.h */
	char owner[LT_NAME_SIZE]; /* his name, if he owns a team; "": not */
};
/* Where lt_access_is_known() does not hold, what every user may. */
struct lt_access lt_access_of(
    const struct lt_daemon *d, const struct lt_api_request *request);
/* False: the directory of users, which says who is a viewer or an owner, has
 * yet to answer (directory.h). It is asked, and the request is answered when it
 * has. */
bool lt_access_is_known(
    const struct lt_daemon *d, const struct lt_api_request *request);

/* All figures, runs and users. */
bool lt_access_all(const struct lt_access *access);
/* What is the site's and no team's: nodes that were paid and not used. */
bool lt_access_site(const struct lt_access *access);
/* What the team cost, has and holds; what all in the account ran. */
bool lt_access_sums(const struct lt_access *access, const char *team);
/* What he ran there himself. */
bool lt_access_own(const struct lt_access *access, const char *account);
/* Runs and jobs of others in the account. */
bool lt_access_runs(const struct lt_access *access, const char *account);
/* A job, run or hold of that user in the account. */
bool lt_access_job(
    const struct lt_access *access, uint32_t uid, const char *account);
/* May there be jobs of others which he may see? */
bool lt_access_jobs(const struct lt_access *access);
/* The cap of that user in a team's budget. */
bool lt_access_cap(
    const struct lt_access *access, uint32_t uid, const char *team);
/* Only his own figures: PrivateData=usage. */
bool lt_access_hides_usage(const struct lt_access *access);
/* That there is a job which he may not see. */
bool lt_access_knows_jobs(const struct lt_access *access);

/* 200, or 403 with what to do in the reply: he sees no team at all. */
int lt_access_check_any(
    const struct lt_access *access, const struct lt_daemon *d, json_t **reply);
struct lt_access_named {
	const char *user; /* a number, or a name of the system */
	bool others;	  /* may they name others? */
	const char *who;  /* may: "root and SlurmUser" */
};
/*
 * Whom a request names: 200 and *uid, LT_API_LATER, or an error. Who may not
 * name others is refused before the directory is asked for a name that they
 * chose, and does not learn whether there is such a user.
 */
int lt_access_user(const struct lt_daemon *d,
    const struct lt_api_request *request, const struct lt_access_named *named,
    uint32_t *uid, json_t **reply);
/* Who asks, or whom root and SlurmUser ask for with uid=: 200, or an error. */
int lt_access_whose(
    const struct lt_api_request *request, uint32_t *uid, json_t **reply);

/*
 * May he say that this node is taken back? On this host root and SlurmUser.
 * By munge it depends on where the credential was made: on that node root and
 * SlurmdUser may; where no node is root and SlurmUser. node NULL: could he of
 * any? 200, or an error that names what was found. In access_node.c.
 */
int lt_access_check_node(const struct lt_daemon *d,
    const struct lt_api_request *request, const char *node, json_t **reply);

/* users=0: whose runs they are is left out, and so is what they are named. */
struct lt_access_users {
	bool are_hidden;  /* by users=0 */
	bool own_runs;	  /* of some account only his own runs are his to see */
	bool own_figures; /* and only his own figures */
};
/* May groups be made by=... of that? 200, or an error. */
int lt_access_check_by(const struct lt_api_request *request,
    const struct lt_access_users *users, json_t **reply);
/* 200, or an error. */
int lt_access_hides_users(
    const struct lt_api_request *request, bool *are_hidden, json_t **reply);

#endif
