/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Start of libslurm and the cluster's configuration. libslurm ends the
 * process when it can't read its configuration, so a child tries it first.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "compat.h"
#include "slurm_text.h"

enum {
	TRIAL_MS = 20000, /* then the child is ended, and that is the error */
};

/* SelectTypeParameters has *_Memory. */
static bool memory_counts;

/* Paths of slurm.conf in packages and after `make install`. */
static const char *const usual_paths[] = {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf",
    "/usr/local/etc/slurm.conf", "/etc/slurm-llnl/slurm.conf"};

static int
find_conf(const char **path, struct lt_error *err)
{
	if (*path == NULL)
		*path = getenv("SLURM_CONF");
	if (*path != NULL)
		return access(*path, R_OK) == 0 ? LT_OK
						: lt_fail(err, LT_ENOENT, "%s: %s, want slurm.conf",
						      *path, strerror(errno));
	for (size_t i = 0; i < sizeof(usual_paths) / sizeof(*usual_paths); i++)
		if (access(usual_paths[i], R_OK) == 0) {
			*path = usual_paths[i];
			return LT_OK;
		}
	return lt_fail(
	    err, LT_ENOENT, "no readable slurm.conf: not in SLURM_CONF, nor %s", usual_paths[0]);
}

/* Reads what the child said on stderr until it ended, at most size - 1
 * bytes. */
static bool
read_child(int fd, char *text, size_t size)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	size_t length = 0;

	text[0] = '\0';
	for (;;) {
		char rest[256];

		if (poll(&wait, 1, TRIAL_MS) <= 0)
			return false;
		const ssize_t got = read(fd, rest, sizeof(rest));
		if (got <= 0)
			return true;
		for (ssize_t i = 0; i < got && length + 1 < size; i++)
			text[length++] = rest[i] == '\n' ? ' ' : rest[i];
		text[length] = '\0';
	}
}

/*
 * libslurm is started once in a process, then only reads its configuration anew: in 24.11 a
 * slurm_init() after slurm_fini() crashes (tls_g_fini() leaves its counter at -1).
 */
static int
read_conf(const char *path)
{
	static bool started;

	if (started)
		return slurm_conf_reinit(path);
	slurm_init(path);
	started = true;
	return SLURM_SUCCESS;
}

/* read_conf() in a child: bad syntax is fatal() there, not here. */
static int
try_conf(const char *path, struct lt_error *err)
{
	char said[256];
	int pipe_fd[2], status = 0;

	if (pipe(pipe_fd) != 0)
		return lt_fail(err, LT_EIO, "pipe: %s", strerror(errno));
	const pid_t child = fork();
	if (child == 0) {
		(void)dup2(pipe_fd[1], STDERR_FILENO);
		(void)close(pipe_fd[0]);
		(void)close(pipe_fd[1]);
		_exit(read_conf(path) == SLURM_SUCCESS ? 0 : 1);
	}
	(void)close(pipe_fd[1]);
	const bool ended = child > 0 && read_child(pipe_fd[0], said, sizeof(said));
	(void)close(pipe_fd[0]);
	if (child < 0)
		return lt_fail(err, LT_EIO, "fork: %s", strerror(errno));
	if (!ended)
		(void)kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!ended)
		return lt_fail(
		    err, LT_ENET, "%s: libslurm took more than %d ms to read it", path, TRIAL_MS);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return lt_fail(err, LT_EINPUT, "%s: libslurm: %s", path, said);
	return LT_OK;
}

int
lt_batch_init(const char *conf_path, const char *state_dir, struct lt_error *err)
{
	int rc = find_conf(&conf_path, err);

	(void)state_dir;
	if (rc == LT_OK)
		rc = try_conf(conf_path, err);
	if (rc != LT_OK)
		return rc;
	/* Plugins that libslurm loads read the variable, not the argument. */
	if (setenv("SLURM_CONF", conf_path, 1) != 0)
		return lt_fail(err, LT_ENOMEM, "setenv: %s", strerror(errno));
	if (read_conf(conf_path) != SLURM_SUCCESS)
		return lt_fail(err, LT_EINPUT, "%s: libslurm can't read it again", conf_path);
	memory_counts = (slurm_conf.select_type_param & LT_SLURM_MEMORY) != 0;
	return LT_OK;
}

void
lt_batch_fini(void)
{
	lt_slurmdbd_forget();
}

/* AuthInfo: "socket=/run/munge/munge.socket.2,ttl=60". */
static void
copy_munge_socket(char *out, size_t size, const char *auth_info)
{
	const char *const at = auth_info == NULL ? NULL : strstr(auth_info, "socket=");

	lt_copy(out, size, at == NULL ? "" : at + 7);
	out[strcspn(out, ",")] = '\0';
}

void
lt_batch_conf_here(struct lt_batch_conf *conf)
{
	*conf = (struct lt_batch_conf){.slurm_uid = slurm_conf.slurm_user_id};
	copy_munge_socket(conf->munge_socket, sizeof(conf->munge_socket), slurm_conf.authinfo);
}

static void
copy_enforce(char *out, size_t size, unsigned int bits)
{
	/* common/read_config.h, the same on all releases. */
	static const struct {
		unsigned int bit;
		const char *name;
	} names[] = {{1 << 0, "associations"}, {1 << 1, "limits"}, {1 << 2, "wckeys"},
	    {1 << 3, "qos"}, {1 << 4, "safe"}, {1 << 5, "nojobs"}, {1 << 6, "nosteps"}};
	size_t length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if ((bits & names[i].bit) != 0 && length < size)
			length += (size_t)snprintf(out + length, size - length, "%s%s",
			    length == 0 ? "" : ",", names[i].name);
}

static bool
is_this_host(const char *name)
{
	char host[256] = "";

	if (name != NULL && strcmp(name, "localhost") == 0)
		return true;
	(void)gethostname(host, sizeof(host) - 1);
	const size_t length = strcspn(host, ".");
	return name != NULL && strcspn(name, ".") == length && strncmp(name, host, length) == 0;
}

/* The first controller that answers is in charge: one in standby refuses. */
static bool
acting_is_here(const slurm_conf_t *conf)
{
	for (uint32_t i = 0; i < conf->control_cnt; i++) {
		/* With one controller, it answered when it gave us conf. */
		if (conf->control_cnt == 1 || slurm_ping((int)i) == SLURM_SUCCESS)
			return is_this_host(conf->control_machine[i]);
	}
	return false;
}

static bool
is_federated(void)
{
	void *federation = NULL;
	bool federated = false;

	if (slurm_load_federation(&federation) == SLURM_SUCCESS && federation != NULL) {
		const char *const name = ((slurmdb_federation_rec_t *)federation)->name;

		federated = name != NULL && name[0] != '\0';
	}
	if (federation != NULL)
		slurm_destroy_federation_rec(federation);
	return federated;
}

bool
lt_slurm_memory_counts(void)
{
	return memory_counts;
}

int
lt_slurm_answers(struct lt_error *err)
{
	for (uint32_t i = 0; i < slurm_conf.control_cnt; i++)
		if (slurm_ping((int)i) == SLURM_SUCCESS)
			return LT_OK;
	return lt_slurm_fail("slurmctld", errno, err);
}

/* Returns LT_PRIVATE_* of slurm.conf's PrivateData. */
static uint32_t
private_bits(uint16_t bits)
{
	return ((bits & PRIVATE_DATA_JOBS) != 0 ? LT_PRIVATE_JOBS : 0u) |
	       ((bits & PRIVATE_DATA_USAGE) != 0 ? LT_PRIVATE_USAGE : 0u) |
	       ((bits & PRIVATE_DATA_ACCOUNTS) != 0 ? LT_PRIVATE_ACCOUNTS : 0u);
}

int
lt_batch_conf(struct lt_batch_conf *conf, struct lt_error *err)
{
	slurm_conf_t *from = NULL;

	memset(conf, 0, sizeof(*conf));
	const int rc = lt_slurm_answers(err);
	if (rc != LT_OK)
		return rc;
	if (slurm_load_ctl_conf(0, &from) != SLURM_SUCCESS || from == NULL)
		return lt_slurm_fail("slurmctld: configuration", errno, err);
#define COPY(to, text) lt_copy(conf->to, sizeof(conf->to), from->text)
	COPY(cluster, cluster_name);
	COPY(release, version);
	COPY(job_submit_plugins, job_submit_plugins);
	COPY(plugin_dir, plugindir);
	COPY(plugstack, plugstack);
	COPY(accounting_storage, accounting_storage_type);
	COPY(priority_type, priority_type);
	COPY(preempt_type, preempt_type);
	COPY(slurm_user, slurm_user_name);
#undef COPY
	(void)snprintf(conf->our_release, sizeof(conf->our_release), "%d.%02d.%d",
	    SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER), SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER),
	    SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER));
	if (from->control_cnt > 0)
		lt_copy(conf->control_host, sizeof(conf->control_host), from->control_machine[0]);
	copy_munge_socket(conf->munge_socket, sizeof(conf->munge_socket), from->authinfo);
	copy_enforce(conf->accounting_enforce, sizeof(conf->accounting_enforce),
	    from->accounting_storage_enforce);
	conf->started_utc_s = from->boot_time;
	conf->slurm_uid = from->slurm_user_id;
	conf->slurmd_uid = from->slurmd_user_id;
	conf->private_data = private_bits(from->private_data);
	conf->min_job_age_s = from->min_job_age;
	conf->kill_wait_s = from->kill_wait;
	conf->max_array_size = from->max_array_sz;
	conf->max_job_count = from->max_job_cnt;
	conf->job_requeue = from->job_requeue != 0;
	memory_counts = (from->select_type_param & LT_SLURM_MEMORY) != 0;
	conf->memory_counts = memory_counts;
	conf->suspends = true;
	conf->core_spec_counts = (from->conf_flags & LT_SLURM_SPEC_USAGE) != 0;
	conf->gpus_counted = lt_tres_counts(from->accounting_storage_tres, "gres/gpu");
	conf->shards_counted =
	    lt_tres_counts_shards(from->accounting_storage_tres, from->gres_plugins);
	conf->is_acting_controller = acting_is_here(from);
	conf->federated = is_federated();
	LT_SLURM_FREE_CONF(from);
	return LT_OK;
}

int
lt_batch_dbd_queue(uint32_t *queued, struct lt_error *err)
{
	stats_info_request_msg_t request = {.command_id = STAT_COMMAND_GET};
	stats_info_response_msg_t *reply = NULL;
	const int rc = lt_slurm_answers(err);

	if (rc != LT_OK)
		return rc;
	if (slurm_get_statistics(&reply, &request) != SLURM_SUCCESS || reply == NULL)
		return lt_slurm_fail("slurmctld: statistics", errno, err);
	*queued = reply->dbd_agent_queue_size;
	slurm_free_stats_response_msg(reply);
	return LT_OK;
}
