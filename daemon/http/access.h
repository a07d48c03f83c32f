/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All rules of access, in one place. An answer shows a figure, a run or a user only after it asked
 * here.
 *
 *   admin     root and SlurmUser: everything
 *   viewer    in a group of the policy's `viewers:`: all figures, runs, users
 *   operator  of slurmdbd, and its administrators: the same as a viewer
 *   user      sums of their accounts and of the budgeted teams above them, and
 *             their own runs, jobs and caps. Sums and runs of the accounts that
 *             they coordinate or own (`notify: owners`), and of those below.
 *             Slurm's PrivateData hides here too: usage (sums of others),
 *             accounts (teams above their own), jobs (that a job exists).
 */
#ifndef LT_ACCESS_H
#define LT_ACCESS_H

#include "api.h"

struct lt_budget_state;
struct lt_policy;
struct lt_run;

enum lt_role { LT_ROLE_USER, LT_ROLE_OPERATOR, LT_ROLE_VIEWER, LT_ROLE_ADMIN };

struct lt_access { /* of the asking user; valid while they are answered */
	const struct lt_budget_state *budget;
	const struct lt_policy *policy;
	uint32_t uid;
	enum lt_role role;
	uint32_t private_data;	  /* LT_PRIVATE_*, of slurm.h */
	char owner[LT_NAME_SIZE]; /* their name if they own a team, else "" */
};
/* The rights of the asking user; those of every user if lt_access_is_known() is false. */
struct lt_access lt_access_of(const struct lt_daemon *d, const struct lt_api_request *request);
/* False: the directory of users, which knows viewers and owners, has yet to answer (directory.h).
 * It is asked, and the request is answered afterwards. */
bool lt_access_is_known(const struct lt_daemon *d, const struct lt_api_request *request);

/* True if they see all figures, runs and users. */
bool lt_access_all(const struct lt_access *access);
/* True for costs that belong to the site and no team: nodes that were paid and not used. */
bool lt_access_site(const struct lt_access *access);
/* True for the sums of a team: its cost, budget, holds and number of runs. */
bool lt_access_sums(const struct lt_access *access, const char *team);
/* True for the user's own runs in that account. */
bool lt_access_own(const struct lt_access *access, const char *account);
/* True for runs and jobs of others in the account. */
bool lt_access_runs(const struct lt_access *access, const char *account);
/* True for a job, run or hold of user uid in the account. */
bool lt_access_job(const struct lt_access *access, uint32_t uid, const char *account);
/* True if there may be jobs of others that they see. */
bool lt_access_jobs(const struct lt_access *access);
/* True for the cap of user uid in a team's budget. */
bool lt_access_cap(const struct lt_access *access, uint32_t uid, const char *team);
/* True if they see only their own figures: PrivateData=usage. */
bool lt_access_hides_usage(const struct lt_access *access);
/* True if they may know that a job exists which they may not see. */
bool lt_access_knows_jobs(const struct lt_access *access);

/* Returns 200, or 403 if they see no team at all; the reply says what to do. */
int lt_access_check_any(const struct lt_access *access, const struct lt_daemon *d, json_t **reply);
struct lt_access_named {
	const char *user; /* a number, or a name of the system */
	bool others;	  /* may they name others? */
	const char *who;  /* may: "root and SlurmUser" */
};
/*
 * Finds the user that a request names: 200 and *uid, LT_API_LATER, or an error. A user who may not
 * name others is refused before the directory is asked, and does not learn whether the other user
 * exists.
 */
int lt_access_user(const struct lt_daemon *d, const struct lt_api_request *request,
    const struct lt_access_named *named, uint32_t *uid, json_t **reply);
/* Gives the asking user, or the one that root and SlurmUser name by uid=. Returns 200, or an
 * error. */
int lt_access_whose(const struct lt_api_request *request, uint32_t *uid, json_t **reply);

/*
 * Checks that the user may report that this node is taken back. On this host root and SlurmUser
 * may. By munge it depends on the host of the credential: on the node itself root and SlurmdUser
 * may, on a host that is no node root and SlurmUser. node NULL: could they report any node? Returns
 * 200, or an error that names what was found. In access_node.c.
 */
int lt_access_check_node(const struct lt_daemon *d, const struct lt_api_request *request,
    const char *node, json_t **reply);

/* users=0 leaves out the users of runs and the names of jobs. */
struct lt_access_users {
	bool are_hidden;  /* by users=0 */
	bool own_runs;	  /* they see only their own runs of some account */
	bool own_figures; /* and only their own figures */
};
/* Checks that the report may be grouped by=... of these. Returns 200, or an error. */
int lt_access_check_by(
    const struct lt_api_request *request, const struct lt_access_users *users, json_t **reply);
/* 200, or an error. */
int lt_access_hides_users(const struct lt_api_request *request, bool *are_hidden, json_t **reply);

#endif
