/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of access.h. Coordinators and operators come from slurmctld's tables, owners and
 * viewers from the policy, accounts from the budget snapshot. Names of users that these don't have
 * are asked of the system's directory, which may answer later: then the request waits. A refusal is
 * a reply of status 400 to 503 that names the right that is missing.
 */
#include <string.h>

#include "access.h"
#include "daemon.h"
#include "directory.h"
#include "http.h"
#include "units.h"

static bool
is_operator(const struct lt_tables *tables, uint32_t uid)
{
	for (uint32_t i = 0; i < tables->manager_count; i++)
		if (tables->managers[i].uid == uid && tables->managers[i].account[0] == '\0')
			return true;
	return false;
}

/* False: the directory has yet to say whether the user is in a group of viewers; *role is a user's
 * until then. */
static bool
find_role(enum lt_role *role, const struct lt_daemon *d, const struct lt_api_request *request)
{
	const struct lt_groups_asked asked = {
	    d->site.policy->viewers, d->site.policy->viewer_count, request->uid};

	*role = LT_ROLE_USER;
	if (request->is_admin)
		*role = LT_ROLE_ADMIN;
	else if (is_operator(&d->site.tables, request->uid))
		*role = LT_ROLE_OPERATOR;
	if (*role != LT_ROLE_USER || request->uid == LT_NOBODY_UID)
		return true;
	const enum lt_found found = lt_directory_member(&asked, lt_monotonic_ms());
	if (found == LT_FOUND)
		*role = LT_ROLE_VIEWER;
	return found != LT_FOUND_LATER;
}

/* True if the user owns a team that exists. */
static bool
owns_any(const struct lt_daemon *d, const char *user)
{
	const struct lt_policy_notify *const notify = &d->site.policy->notify;

	for (int i = 0; i < notify->owner_count; i++)
		if (lt_policy_is_owner(&notify->owners[i], user) && d->budget.has_snapshot &&
		    lt_sheet_account(&d->budget.snapshot, notify->owners[i].team) >= 0)
			return true;
	return false;
}

static bool
has_owners(const struct lt_policy *policy)
{
	const struct lt_policy_notify *const notify = &policy->notify;

	for (int i = 0; i < notify->owner_count; i++)
		for (int k = 0; k < notify->owners[i].count; k++)
			if (notify->owners[i].user[k][0] != '\0')
				return true;
	return false;
}

/* Gives the user's name of the system if they own a team, else "". False as above. */
static bool
find_owner(char owner[LT_NAME_SIZE], const struct lt_daemon *d, uint32_t uid)
{
	owner[0] = '\0';
	if (uid == LT_NOBODY_UID || !has_owners(d->site.policy))
		return true;
	const char *const user =
	    lt_pairs_user(d->site.tables.pairs, d->site.tables.pair_count, uid);
	enum lt_found found = LT_FOUND;
	if (user != NULL)
		snprintf(owner, LT_NAME_SIZE, "%s", user);
	else
		found = lt_directory_name(uid, owner, lt_monotonic_ms());
	if (found != LT_FOUND || !owns_any(d, owner))
		owner[0] = '\0';
	return found != LT_FOUND_LATER;
}

struct lt_access
lt_access_of(const struct lt_daemon *d, const struct lt_api_request *request)
{
	struct lt_access access = {.budget = &d->budget,
	    .policy = d->site.policy,
	    .uid = request->uid,
	    .private_data = d->site.tables.private_data};

	(void)find_role(&access.role, d, request);
	if (access.role == LT_ROLE_USER)
		(void)find_owner(access.owner, d, request->uid);
	return access;
}

bool
lt_access_is_known(const struct lt_daemon *d, const struct lt_api_request *request)
{
	enum lt_role role;
	char owner[LT_NAME_SIZE];

	return find_role(&role, d, request) &&
	       (role != LT_ROLE_USER || find_owner(owner, d, request->uid));
}

bool
lt_access_all(const struct lt_access *access)
{
	return access->role != LT_ROLE_USER;
}

bool
lt_access_site(const struct lt_access *access)
{
	return lt_access_all(access);
}

static bool
hides(const struct lt_access *access, uint32_t what)
{
	return !lt_access_all(access) && (access->private_data & what) != 0;
}

/* Returns the index of the account in the snapshot, or -1. */
static int
find_account(const struct lt_access *access, const char *name)
{
	return access->budget->has_snapshot ? lt_sheet_account(&access->budget->snapshot, name)
					    : -1;
}

/* True if the user owns the account, or one above it. */
static bool
owns(const struct lt_access *access, int account)
{
	const struct lt_budget_snapshot *const s = &access->budget->snapshot;
	enum { DEPTH_MAX = 64 }; /* a loop in the tree ends here */
	uint32_t at = access->owner[0] != '\0' ? (uint32_t)(account + 1) : 0;

	for (int depth = 0; at > 0 && depth < DEPTH_MAX; depth++) {
		const struct lt_account *const a = &s->accounts[at - 1];

		if (lt_policy_is_owner(lt_policy_owners_of(access->policy, a->name), access->owner))
			return true;
		at = a->parent;
	}
	return false;
}

/* True if the user coordinates or owns the account: both see the same. */
static bool
coordinates(const struct lt_access *access, const char *account)
{
	const int at = find_account(access, account);

	return at >= 0 &&
	       (lt_sheet_manages(&access->budget->snapshot, access->uid, at) || owns(access, at));
}

static bool
coordinates_any(const struct lt_access *access)
{
	return access->owner[0] != '\0' ||
	       lt_sheet_is_manager(&access->budget->snapshot, access->uid);
}

bool
lt_access_own(const struct lt_access *access, const char *account)
{
	const int at = find_account(access, account);

	return access->uid != LT_NOBODY_UID && at >= 0 &&
	       lt_sheet_pair(&access->budget->snapshot, access->uid, at);
}

/* True if a budget of the team binds an account of the user. */
static bool
is_above_own(const struct lt_access *access, const char *team)
{
	const struct lt_budget_snapshot *const s = &access->budget->snapshot;

	for (uint32_t i = 0; i < s->pair_count; i++) {
		if (s->pairs[i].uid != access->uid)
			continue;
		const struct lt_account *const a = &s->accounts[s->pairs[i].account];
		for (uint32_t k = 0; k < a->binding_count; k++)
			if (strcasecmp(s->budgets[s->bindings[a->first_binding + k]].team, team) ==
			    0)
				return true;
	}
	return false;
}

bool
lt_access_sums(const struct lt_access *access, const char *team)
{
	if (lt_access_all(access) || coordinates(access, team))
		return true;
	if (hides(access, LT_PRIVATE_USAGE))
		return false;
	return lt_access_own(access, team) ||
	       (!hides(access, LT_PRIVATE_ACCOUNTS) && access->budget->has_snapshot &&
		   is_above_own(access, team));
}

bool
lt_access_runs(const struct lt_access *access, const char *account)
{
	return lt_access_all(access) || coordinates(access, account);
}

bool
lt_access_job(const struct lt_access *access, uint32_t uid, const char *account)
{
	return (uid == access->uid && uid != LT_NOBODY_UID) || lt_access_runs(access, account);
}

bool
lt_access_jobs(const struct lt_access *access)
{
	return lt_access_all(access) || (access->budget->has_snapshot && coordinates_any(access));
}

bool
lt_access_cap(const struct lt_access *access, uint32_t uid, const char *team)
{
	return lt_access_job(access, uid, team);
}

bool
lt_access_hides_usage(const struct lt_access *access)
{
	return hides(access, LT_PRIVATE_USAGE);
}

bool
lt_access_knows_jobs(const struct lt_access *access)
{
	return !hides(access, LT_PRIVATE_JOBS);
}

/* ---- of requests ---- */

static bool
sees_any(const struct lt_access *access)
{
	const struct lt_budget_snapshot *const s = &access->budget->snapshot;

	for (uint32_t i = 0; i < s->pair_count; i++)
		if (s->pairs[i].uid == access->uid)
			return true;
	return lt_access_all(access) || coordinates_any(access);
}

int
lt_access_check_any(const struct lt_access *access, const struct lt_daemon *d, json_t **reply)
{
	if (sees_any(access))
		return 200;
	return lt_api_error(reply, 403,
	    "you see no team's figures: you have no association in Slurm, and %s. Ask an admin for either",
	    d->site.policy->viewer_count > 0 ? "are in no group that the policy has as viewers:"
					     : "the policy names no groups of viewers:");
}

/* Finds the uid of a name; names of users with accounts are known here. */
static enum lt_found
find_uid(const struct lt_daemon *d, const struct lt_api_request *request,
    const struct lt_access_named *named, uint32_t *uid)
{
	const int64_t now_ms = lt_monotonic_ms();
	char own[LT_NAME_SIZE];
	int64_t number;

	if (lt_int64_parse(named->user, 0, UINT32_MAX - 1, &number, NULL) == LT_OK) {
		*uid = (uint32_t)number;
		return LT_FOUND;
	}
	if (lt_pairs_uid(d->site.tables.pairs, d->site.tables.pair_count, named->user, uid))
		return LT_FOUND;
	if (named->others)
		return lt_directory_uid(named->user, uid, now_ms);
	const enum lt_found found = lt_directory_name(request->uid, own, now_ms);
	if (found == LT_FOUND && strcmp(own, named->user) == 0) {
		*uid = request->uid;
		return LT_FOUND;
	}
	return found == LT_FOUND ? LT_FOUND_NONE : found;
}

int
lt_access_user(const struct lt_daemon *d, const struct lt_api_request *request,
    const struct lt_access_named *named, uint32_t *uid, json_t **reply)
{
	const enum lt_found found = find_uid(d, request, named, uid);

	if (found == LT_FOUND_LATER)
		return LT_API_LATER;
	if (!named->others && (found != LT_FOUND || *uid != request->uid))
		return lt_api_error(reply, 403, "user %s: only for %s", named->user, named->who);
	if (found == LT_FOUND_SILENT)
		return lt_api_error(reply, 503,
		    "user %s: the system's directory of users does not answer: try again, or give the number",
		    named->user);
	return found == LT_FOUND ? 200
				 : lt_api_error(reply, 404, "user %s: not known", named->user);
}

int
lt_access_whose(const struct lt_api_request *request, uint32_t *uid, json_t **reply)
{
	const char *const who = lt_api_value(request, "uid");
	int64_t number = request->uid;
	struct lt_error err = {0};

	if (who != NULL && !request->is_admin)
		return lt_api_error(reply, 403, "uid: only for root and SlurmUser");
	if (who != NULL && lt_int64_parse(who, 0, UINT32_MAX - 1, &number, &err) != LT_OK)
		return lt_api_error(reply, 400, "uid: %s", err.text);
	*uid = (uint32_t)number;
	return 200;
}

/* True if the list, separated by commas and semicolons, has a word that groups by user or job
 * name. */
static bool
names_users(const char *list)
{
	static const char *const words[] = {"user", "name"};

	while (*list != '\0') {
		const size_t length = strcspn(list, ",;");

		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (length == strlen(words[i]) && strncmp(list, words[i], length) == 0)
				return true;
		list += length + (list[length] != '\0');
	}
	return false;
}

int
lt_access_check_by(
    const struct lt_api_request *request, const struct lt_access_users *users, json_t **reply)
{
	const char *const by = lt_api_value(request, "by");

	if (by == NULL)
		return 200;
	if (users->are_hidden && names_users(by))
		return lt_api_error(reply, 400,
		    "by: got \"%s\" with users=0, which leaves users and names of jobs out", by);
	if (users->own_figures)
		return lt_api_error(
		    reply, 403, "by: Slurm's PrivateData=usage hides what others used");
	if (users->own_runs && names_users(by))
		return lt_api_error(reply, 403,
		    "by: got \"%s\": users and names of jobs of whole teams are for viewers, operators and coordinators",
		    by);
	return 200;
}

int
lt_access_hides_users(const struct lt_api_request *request, bool *are_hidden, json_t **reply)
{
	const char *const users = lt_api_value(request, "users");

	*are_hidden = users != NULL && strcmp(users, "0") == 0;
	if (users != NULL && strcmp(users, "0") != 0 && strcmp(users, "1") != 0)
		return lt_api_error(reply, 400, "users: got \"%s\", want 0 or 1", users);
	return 200;
}
