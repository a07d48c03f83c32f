/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few keys of slurm.conf that the command reads by itself, and what it reads of plugin files
 * and plugstack.conf.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	    {"its address wins", "SlurmctldHost=ctl(10.0.0.1)\n", "10.0.0.1", "ctl", "root", ""},
	    {"keys in any case", "slurmctldhost=ctl\nSLURMUSER=slurm\n", "ctl", "ctl", "slurm", ""},
	    {"a comment after it", "SlurmctldHost=ctl # main\n", "ctl", "ctl", "root", ""},
	    {"a comment before it", "#SlurmctldHost=old\nSlurmctldHost=n", "n", "n", "root", ""},
	    {"spaces around", "  SlurmctldHost=ctl  \r\n", "ctl", "ctl", "root", ""},
	    {"quotes", "SlurmUser=\"slurm\"\nSlurmctldHost=c\n", "c", "c", "slurm", ""},
	    {"over two lines", "SlurmUser=\\\ns\nSlurmctldHost=c\n", "c", "c", "s", ""},
	    {"over two lines, a comment between", "SlurmUser= \\ # who\n  s\nSlurmctldHost=c\n",
		"c", "c", "s", ""},
	    {"spaces around =", "SlurmUser = s\nSlurmctldHost\t=  c\n", "c", "c", "s", ""},
	    {"+=", "SlurmUser+=s\nSlurmctldHost=c\n", "c", "c", "s", ""},
	    {"the last one counts", "SlurmUser=a\nSlurmUser=s\nSlurmctldHost=c", "c", "c", "s", ""},
	    {"a number sign and a backslash, escaped", "SlurmUser=a\\#b\\\\c\nSlurmctldHost=c\n",
		"c", "c", "a#b\\c", ""},
	    {"a comment after two backslashes",
		"SlurmUser=s\\\\# SlurmctldHost=x\nSlurmctldHost=c\n", "c", "c", "s\\", ""},
	    {"quotes with spaces, of a line with CRLF", "SlurmUser=\"a b\"\r\nSlurmctldHost=c\r\n",
		"c", "c", "a b", ""},
	    {"a quote within is none", "SlurmUser=a\"b\nSlurmctldHost=c\n", "c", "c", "a\"b", ""},
	    {"ControlMachine", "ControlMachine=c\n", "c", "c", "root", ""},
	    {"its address", "ControlMachine=c\nControlAddr=10.0.0.1\n", "10.0.0.1", "c", "root",
		""},
	    {"SlurmctldHost overrides it",
		"ControlMachine=x\nBackupController=y\nSlurmctldHost=c\n", "c", "c", "root", ""},
	    {"munge's socket among others", "SlurmctldHost=c\nAuthInfo=ttl=60,socket=/run/m,x=1\n",
		"c", "c", "root", "/run/m"},
	    {"no address in the brackets", "SlurmctldHost=c()\n", "c", "c", "root", ""},
	    {"a partition's keys are its own", "SlurmctldHost=c\nPartitionName=p SlurmUser=x\n",
		"c", "c", "root", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_conf conf;
		struct lt_error err = {0};

		if (lt_conf_parse(&conf, write_file("slurm.conf", cases[i].text), &err))
			fail_msg("%s: %s", cases[i].why, err.text);
		if (conf.host_count != 1 || strcmp(conf.hosts[0], cases[i].host) != 0 ||
		    strcmp(conf.host_names[0], cases[i].name) != 0 ||
		    strcmp(conf.slurm_user, cases[i].user) != 0 ||
		    strcmp(conf.munge_socket, cases[i].munge) != 0)
			fail_msg("%s: %d hosts, \"%s\" \"%s\" \"%s\" \"%s\"", cases[i].why,
			    conf.host_count, conf.hosts[0], conf.host_names[0], conf.slurm_user,
			    conf.munge_socket);
	}
}

/* What Slurm refuses, and what is not clear: never half of it. */
static void
test_refused(void **state)
{
	static const struct {
		const char *why, *text, *says;
	} cases[] = {
	    {"a word without a value", "SlurmctldHost\n",
		":1: got \"SlurmctldHost\", want Key=Value"},
	    {"no value", "A=1\nSlurmUser=\n", ":2: got \"SlurmUser=\", want Key=Value"},
	    {"two on a line", "SlurmUser=s SlurmctldHost=c\n",
		":1: SlurmUser: want one value, in quotes if it has spaces"},
	    {"Include that is indented", "  Include x\n", ":1: got \"Include x\", want Key=Value"},
	    {"a pattern", "Include *.conf\n", ":1: Include: Slurm takes no pattern, want a file"},
	    {"%c before the name", "Include %c.conf\nClusterName=t\n",
		":1: Include: %c wants ClusterName above it"},
	    {"brackets", "SlurmctldHost=c(a\n", ":1: SlurmctldHost: want HOST or HOST(ADDRESS)"},
	    {"brackets, turned round", "SlurmctldHost=c)a(\n",
		":1: SlurmctldHost: want HOST or HOST(ADDRESS)"},
	    {"several in ControlMachine", "ControlMachine=a,b\n",
		": ControlMachine names several hosts: want ControlAddr"},
	    {"a partition's rest", "\nPartitionName=p Nodes\n",
		":2: PartitionName: want Key=Value ..."},
	    {"a name with no room",
		"SlurmUser=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
		":1: SlurmUser: got 64 bytes, limit 63"},
	    {"nine controllers",
		"SlurmctldHost=a\nSlurmctldHost=b\nSlurmctldHost=c\n"
		"SlurmctldHost=d\nSlurmctldHost=e\nSlurmctldHost=f\n"
		"SlurmctldHost=g\nSlurmctldHost=h\nSlurmctldHost=i\n",
		":9: SlurmctldHost: more hosts than there is room for"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const path = write_file("slurm.conf", cases[i].text);
		struct lt_conf conf;
		struct lt_error err = {0};

		if (lt_conf_parse(&conf, path, &err) == LT_OK ||
		    strcmp(err.text + strlen(path), cases[i].says) != 0)
			fail_msg("%s: %s", cases[i].why, err.text);
	}
}

/* By ClusterName, and beside which file: releases differ in that. */
static void
test_include(void **state)
{
	char text[256];
	struct lt_conf conf;
	struct lt_error err = {0};

	(void)state;
	snprintf(text, sizeof(text), "%s/sub", folder);
	mkdir(text, 0700);
	write_file("tide.inc", "SlurmUser=tide\n");
	write_file("sub/outer.conf", "Include inner.conf\n");
	write_file("sub/inner.conf", "SlurmUser=beside\n");
	assert_int_equal(lt_conf_parse(&conf,
			     write_file("slurm.conf", "ClusterName=TIDE\nInclude %c.inc\n"), &err),
	    LT_OK);
	assert_string_equal(conf.slurm_user, "tide");
	snprintf(text, sizeof(text), "INCLUDE\t%s/sub/outer.conf\n", folder);
	assert_int_equal(lt_conf_parse(&conf, write_file("slurm.conf", text), &err), LT_OK);
	assert_string_equal(conf.slurm_user, "beside");
	write_file("inner.conf", "SlurmUser=main\n");
	assert_int_equal(lt_conf_parse(&conf, write_file("slurm.conf", text), &err), LT_EINPUT);
	assert_non_null(strstr(err.text, "outer.conf:1: Include inner.conf: is it"));
	snprintf(text, sizeof(text), "%s/sub/inner.conf", folder);
	unlink(text);
	err = (struct lt_error){0};
	snprintf(text, sizeof(text), "%s/slurm.conf", folder);
	assert_int_equal(lt_conf_parse(&conf, text, &err), LT_OK);
	assert_string_equal(conf.slurm_user, "main");
}

/* ControlMachine's backup, hosts that share an address, and what a partition has from DEFAULT. */
static void
test_old_and_default(void **state)
{
	struct lt_conf conf;
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(
	    lt_conf_parse(&conf,
		write_file("slurm.conf", "ControlMachine=a,b\nControlAddr=vip\n"
					 "BackupController=c\nBackupAddr=d\n"
					 "PartitionName=DEFAULT AllowGroups=x PreemptMode=CANCEL\n"
					 "PartitionName=p\n"
					 "PartitionName=q AllowGroups=ALL PreemptMode = OFF\n"),
		&err),
	    LT_OK);
	assert_int_equal(conf.host_count, 3);
	assert_string_equal(conf.host_names[1], "b");
	assert_string_equal(conf.hosts[1], "vip");
	assert_string_equal(conf.host_names[2], "c");
	assert_string_equal(conf.hosts[2], "d");
	assert_int_equal(conf.allow_groups_count, 1);
	assert_string_equal(conf.allow_groups, "p");
	assert_int_equal(conf.cancel_count, 1);
	assert_string_equal(conf.cancels, "p");
}

static void
test_whole(void **state)
{
	struct lt_conf conf;
	struct lt_error err = {0};

	(void)state;
	write_file("hosts.conf", "SlurmctldHost=one\nSlurmctldHost=two(t)\n");
	assert_int_equal(lt_conf_parse(&conf,
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
	    lt_conf_parse(&conf, write_file("loop.conf", "Include loop.conf\n"), &err), LT_ELIMIT);
	err = (struct lt_error){0};
	assert_int_equal(lt_conf_parse(&conf, "/nowhere/slurm.conf", &err), LT_ENOENT);
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
		const int code =
		    lt_plugstack_read(&found, write_file("plugstack.conf", cases[i].text), &err);

		if (code != (cases[i].line != NULL ? LT_OK : LT_ENOENT) ||
		    found.count != cases[i].count ||
		    strcmp(found.text, cases[i].line != NULL ? cases[i].line : "") != 0)
			fail_msg("%s: %d %d \"%s\" %s", cases[i].why, code, found.count, found.text,
			    err.text);
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
	    lt_plugin_version(write_file("x.so", "\177ELF\2"), &version, &err), LT_EINPUT);
	err = (struct lt_error){0};
	/* this program is ELF but no plugin */
	assert_int_equal(lt_plugin_version("/proc/self/exe", &version, &err), LT_EINPUT);
	err = (struct lt_error){0};
	assert_int_equal(lt_plugin_version("/nowhere/x.so", &version, &err), LT_ENOENT);
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
	static const char *const names[] = {"slurm.conf", "hosts.conf", "loop.conf",
	    "plugstack.conf", "plug1.d", "x.so", "tide.inc", "inner.conf", "sub/outer.conf"};
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/sub", folder);
	return rmdir(path) == 0 ? rmdir(folder) : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_include),
	    cmocka_unit_test(test_old_and_default),
	    cmocka_unit_test(test_whole),
	    cmocka_unit_test(test_plugstack),
	    cmocka_unit_test(test_plugin_version),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
