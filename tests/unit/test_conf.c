/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few keys of slurm.conf that the command reads by itself, and what it
 * reads of plugin files and plugstack.conf.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "doctor.h"

static char folder[] = "/tmp/lowtide-conf.XXXXXX";

static const char *
write_file(const char *name, const char *text)
{
	static char path[2][128];
	static int turn;
	char *const out = path[turn ^= 1];

	snprintf(out, sizeof(path[0]), "%s/%s", folder, name);
	FILE *const file = fopen(out, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	return out;
}

static void
test_values(void **state)
{
	static const struct {
		const char *why, *text, *host, *name, *user, *munge;
	} cases[] = {
	    {"a name", "SlurmctldHost=ctl\n", "ctl", "ctl", "root", ""},
	    {"its address wins", "SlurmctldHost=ctl(10.0.0.1)\n", "10.0.0.1",
		"ctl", "root", ""},
	    {"keys in any case", "slurmctldhost=ctl\nSLURMUSER=slurm\n", "ctl",
		"ctl", "slurm", ""},
	    {"a comment after it", "SlurmctldHost=ctl # main\n", "ctl", "ctl",
		"root", ""},
	    {"a comment before it", "#SlurmctldHost=old\nSlurmctldHost=n", "n",
		"n", "root", ""},
	    {"spaces around", "  SlurmctldHost=ctl  \r\n", "ctl", "ctl", "root",
		""},
	    {"quotes", "SlurmUser=\"slurm\"\nSlurmctldHost=c\n", "c", "c",
		"slurm", ""},
	    {"two on a line", "SlurmUser=s SlurmctldHost=c\n", "c", "c", "s",
		""},
	    {"over two lines", "SlurmUser=s \\\n SlurmctldHost=c\n", "c", "c",
		"s", ""},
	    {"munge's socket among others",
		"SlurmctldHost=c\nAuthInfo=ttl=60,socket=/run/m,x=1\n", "c",
		"c", "root", "/run/m"},
	    {"no address in the brackets", "SlurmctldHost=c()\n", "c", "c",
		"root", ""},
	    {"a word that has no value", "SlurmctldHost\nSlurmctldHost=c", "c",
		"c", "root", ""},
	    {"a partition's keys are its own",
		"SlurmctldHost=c\nPartitionName=p SlurmUser=x\n", "c", "c",
		"root", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_conf conf;
		struct lt_error err = {0};

		if (lt_conf_parse(
			&conf, write_file("slurm.conf", cases[i].text), &err))
			fail_msg("%s: %s", cases[i].why, err.text);
		if (conf.host_count != 1 ||
		    strcmp(conf.hosts[0], cases[i].host) != 0 ||
		    strcmp(conf.host_names[0], cases[i].name) != 0 ||
		    strcmp(conf.slurm_user, cases[i].user) != 0 ||
		    strcmp(conf.munge_socket, cases[i].munge) != 0)
			fail_msg("%s: %d hosts, \"%s\" \"%s\" \"%s\" \"%s\"",
			    cases[i].why, conf.host_count, conf.hosts[0],
			    conf.host_names[0], conf.slurm_user,
			    conf.munge_socket);
	}
}

static void
test_whole(void **state)
{
	struct lt_conf conf;
	struct lt_error err = {0};

	(void)state;
	write_file("hosts.conf", "SlurmctldHost=one\nSlurmctldHost=two(t)\n");
	assert_int_equal(
	    lt_conf_parse(&conf,
		write_file("slurm.conf", "include hosts.conf\n"
					 "JobSubmitPlugins=lua,lowtide\n"
					 "PartitionName=a AllowGroups=x,y\n"
					 "PartitionName=b AllowGroups=ALL "
					 "PreemptMode=cancel\n"
					 "PartitionName=c AllowGroups=z\n"),
		&err),
	    LT_OK);
	assert_int_equal(conf.host_count, 2);
	assert_string_equal(conf.hosts[1], "t");
	assert_string_equal(conf.job_submit_plugins, "lua,lowtide");
	assert_int_equal(conf.allow_groups_count, 2);
	assert_string_equal(conf.allow_groups, "a");
	assert_int_equal(conf.cancel_count, 1);
	assert_string_equal(conf.cancels, "b");
	assert_int_equal(
	    lt_conf_parse(
		&conf, write_file("loop.conf", "Include loop.conf\n"), &err),
	    LT_ELIMIT);
	err = (struct lt_error){0};
	assert_int_equal(
	    lt_conf_parse(&conf, "/nowhere/slurm.conf", &err), LT_ENOENT);
	assert_non_null(strstr(err.text, "/nowhere/slurm.conf"));
}

static void
test_plugstack(void **state)
{
	static const struct {
		const char *why, *text, *line; /* NULL = none */
		int count;
	} cases[] = {
	    {"ours", "optional  spank_lowtide.so preemptible=a:0.1\n",
		"optional  spank_lowtide.so preemptible=a:0.1", 1},
	    {"among others", "required x.so\n optional spank_lowtide.so",
		"optional spank_lowtide.so", 1},
	    {"by include", "include plug*.d\n", "required spank_lowtide.so", 1},
	    {"twice", "optional spank_lowtide.so amp=off\ninclude plug*.d\n",
		"optional spank_lowtide.so amp=off", 2},
	    {"an include of nothing", "include none*.d\n", NULL, 0},
	    {"as a comment only", "# optional spank_lowtide.so\n", NULL, 0},
	    {"empty", "", NULL, 0},
	};

	(void)state;
	write_file("plug1.d", "required spank_lowtide.so\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_plugstack found;
		struct lt_error err = {0};
		const int code = lt_plugstack_read(
		    &found, write_file("plugstack.conf", cases[i].text), &err);

		if (code != (cases[i].line != NULL ? LT_OK : LT_ENOENT) ||
		    found.count != cases[i].count ||
		    strcmp(found.text,
			cases[i].line != NULL ? cases[i].line : "") != 0)
			fail_msg("%s: %d %d \"%s\" %s", cases[i].why, code,
			    found.count, found.text, err.text);
	}
}

static void
test_plugin_version(void **state)
{
	uint32_t version = 0;
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_release_number("22.05.8"), 0x160508);
	assert_int_equal(lt_release_number("26.05.5-rc1"), 0x1a0505);
	assert_int_equal(lt_release_number("none"), 0);
	assert_int_equal(
	    lt_plugin_version(write_file("x.so", "\177ELF\2"), &version, &err),
	    LT_EINPUT);
	err = (struct lt_error){0};
	/* this program is ELF but no plugin */
	assert_int_equal(
	    lt_plugin_version("/proc/self/exe", &version, &err), LT_EINPUT);
	err = (struct lt_error){0};
	assert_int_equal(
	    lt_plugin_version("/nowhere/x.so", &version, &err), LT_ENOENT);
}

static int
set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
	static const char *const names[] = {"slurm.conf", "hosts.conf",
	    "loop.conf", "plugstack.conf", "plug1.d", "x.so"};
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_whole),
	    cmocka_unit_test(test_plugstack),
	    cmocka_unit_test(test_plugin_version),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
