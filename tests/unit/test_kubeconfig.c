/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kubeconfig files and a pod's ServiceAccount: whom they name, and what each refusal says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "base64.h"
#include "kube_certificates.h"
#include "kubeconfig.h"
#include "source_fixture.h"

#define CONTEXT                                                                                    \
	"current-context: c\n"                                                                     \
	"contexts: [{name: c, context: {cluster: k, user: u, namespace: n}}]\n"
#define CLUSTER(keys) "clusters: [{name: k, cluster: {" keys "}}]\n"
#define SERVER CLUSTER("server: 'https://h:6443'")
#define USER(keys) "users: [{name: u, user: {" keys "}}]\n"
/* "-----BEGIN X-----" */
#define PEM_DATA "LS0tLS1CRUdJTiBYLS0tLS0="

static const struct {
	const char *why, *text;
	const char *server, *ca, *certificate, *token; /* text or path */
} good[] = {
    {"a token", CONTEXT SERVER USER("token: t.o-k_e.n"), "https://h:6443", NULL, NULL, "t.o-k_e.n"},
    {"data, with breaks in it",
	CONTEXT CLUSTER("server: 'https://h/base/', certificate-authority-data: "
			"\"LS0tLS1CRUdJ\\nTiBYLS0tLS0=\"")
	    USER("client-certificate-data: " PEM_DATA ", client-key-data: " PEM_DATA),
	"https://h/base", "-----BEGIN X-----", "-----BEGIN X-----", NULL},
    {"files are relative to it",
	CONTEXT CLUSTER("server: 'https://h', certificate-authority: ca.crt")
	    USER("client-certificate: /c, client-key: /k, tokenFile: t/t"),
	"https://h", "/etc/kube/ca.crt", "/c", "/etc/kube/t/t"},
    {"data counts, not the file; the token's file, not the token",
	CONTEXT CLUSTER("server: 'https://h', certificate-authority: ca.crt, "
			"certificate-authority-data: " PEM_DATA) USER("token: t, tokenFile: /t"),
	"https://h", "-----BEGIN X-----", NULL, "/t"},
    {"nothing is nothing",
	CONTEXT CLUSTER("server: 'https://h', certificate-authority: , "
			"insecure-skip-tls-verify: false, proxy-url: ''")
	    USER("token: null, exec: ~"),
	"https://h", NULL, NULL, NULL},
    {"a proxy on this host", CONTEXT CLUSTER("server: 'http://127.0.0.1:8001'") USER("token: t"),
	"http://127.0.0.1:8001", NULL, NULL, "t"},
    {"no user's secret", CONTEXT CLUSTER("server: 'http://other:8001'") USER("x: y"),
	"http://other:8001", NULL, NULL, NULL},
    {"the context's own, of several",
	"current-context: c\n"
	"contexts:\n"
	"- {name: b, context: {cluster: kb, user: ub}}\n"
	"- {name: c, context: {cluster: k, user: u, namespace: n}}\n"
	"clusters:\n"
	"- {name: kb, cluster: {server: 'https://b', "
	"insecure-skip-tls-verify: true}}\n"
	"- {name: k, cluster: {server: 'https://h'}}\n"
	"users:\n"
	"- {name: ub, user: {exec: {command: aws}}}\n"
	"- {name: u, user: {token: t}}\n",
	"https://h", NULL, NULL, "t"},
};

static void
assert_secret(const char *why, const struct lt_kube_secret *secret, const char *want)
{
	const char *const got = secret->path != NULL ? secret->path : secret->text;

	if ((got == NULL) != (want == NULL) || (got != NULL && strcmp(got, want) != 0))
		fail_msg(
		    "%s: got %s, want %s", why, got == NULL ? "-" : got, want == NULL ? "-" : want);
}

static void
test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct lt_kube_config config;
		struct lt_error err = {0};

		if (lt_kubeconfig_parse(&config, "/etc/kube/config", good[i].text,
			strlen(good[i].text), &err) != LT_OK)
			fail_msg("%s: %s", good[i].why, err.text);
		assert_string_equal(config.server, good[i].server);
		assert_string_equal(config.name_space, "n");
		assert_secret(good[i].why, &config.ca, good[i].ca);
		assert_secret(good[i].why, &config.certificate, good[i].certificate);
		assert_secret(good[i].why, &config.token, good[i].token);
		lt_kube_config_free(&config);
	}
}

static const struct {
	const char *why, *text, *says;
} bad[] = {
    {"nothing", "", "f: got no mapping, want a kubeconfig"},
    {"a list", "- a\n", "f:1:1: got no mapping, want a kubeconfig"},
    {"no YAML", "a: [\n", "f:2:1: YAML: "},
    {"too deep", "[[[[[[[[[[[[[[[[[[[[\n", "f:1: YAML nested deeper than 16 levels"},
    {"no current context", "contexts: []\n",
	"f:1:1: current-context: missing (kubectl config use-context sets it)"},
    {"another context", "current-context: x\n" CONTEXT,
	"f:3:11: contexts: got none with the name \"x\""},
    {"no contexts", "current-context: x\n",
	"f:1:1: contexts: got no list, want one with a context \"x\""},
    {"a context without a user",
	"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n",
	"f:2:31: context \"c\": got no user, want its name"},
    {"no cluster of the name", CONTEXT "clusters: [{name: x}]\n",
	"f:3:11: clusters: got none with the name \"k\""},
    {"a cluster that is none", CONTEXT "clusters: [{name: k, cluster: 5}]\n",
	"f:3:12: \"k\": got no mapping cluster, want one"},
    {"no server", CONTEXT CLUSTER("") USER("token: t"),
	"f:3:31: server: got \"\", want https://HOST:PORT"},
    {"a server that is none", CONTEXT CLUSTER("server: h") USER("token: t"),
	"f:3:40: server: got \"h\", want https://HOST:PORT"},
    {"a server without a host", CONTEXT CLUSTER("server: 'https:///'") USER("token: t"),
	"server: got \"https:///\", want https://HOST:PORT"},
    {"a server with a password", CONTEXT CLUSTER("server: 'https://a:b@h'") USER("token: t"),
	"want https://HOST:PORT"},
    {"no verification",
	CONTEXT CLUSTER("server: 'https://h', insecure-skip-tls-verify: true") USER("token: t"),
	"f:3:79: insecure-skip-tls-verify: got \"true\": whoever answered "
	"would get lowtide's token; want certificate-authority or "
	"certificate-authority-data"},
    {"a proxy of its own",
	CONTEXT CLUSTER("server: 'https://h', proxy-url: 'http://p'") USER("token: t"),
	"k: got proxy-url: want it in the environment, as HTTPS_PROXY"},
    {"a plugin", CONTEXT SERVER USER("exec: {command: aws, args: [eks, get-token]}"),
	"f:4:32: u: got exec (aws): lowtide runs no plugins; want the token of "
	"a ServiceAccount"},
    {"an old plugin", CONTEXT SERVER USER("auth-provider: {name: gcp}"),
	"u: got auth-provider (gcp): lowtide runs no plugins"},
    {"a password", CONTEXT SERVER USER("username: a, password: b"),
	"u: got username: want a token or a client-certificate"},
    {"someone else", CONTEXT SERVER USER("token: t, as: admin"), "u: got as: want the user itself"},
    {"no base64",
	CONTEXT CLUSTER("server: 'https://h', certificate-authority-data: '!'") USER("token: t"),
	"certificate-authority-data: got something else, want PEM text in "
	"base64"},
    {"base64 of something else",
	CONTEXT CLUSTER("server: 'https://h', certificate-authority-data: YQ==") USER("token: t"),
	"certificate-authority-data: got something else, want PEM"},
    {"a certificate without its key", CONTEXT SERVER USER("client-certificate: c"),
	"got a client-certificate alone, want client-certificate and client-key"},
    {"a key without its certificate", CONTEXT SERVER USER("client-key: k"),
	"got a client-key alone, want client-certificate and client-key"},
    {"a token of two words", CONTEXT SERVER USER("token: 'a b'"),
	"token: got blanks in it or more than 16384 bytes, want a token"},
    {"a token in a list", CONTEXT SERVER USER("token: [a]"), "token: got a list, want a text"},
    {"a token with a NUL byte", CONTEXT SERVER USER("token: \"a\\0b\""),
	"token: got a NUL byte, want a text"},
    {"a token in the clear", CONTEXT CLUSTER("server: 'http://h:8001'") USER("token: t"),
	"f:4:25: a token for \"http://h:8001\", want a server with https://"},
    {"a server that only begins as this host",
	CONTEXT CLUSTER("server: 'http://localhost.example.com'") USER("token: t"),
	"want a server with https://"},
    {"another whose name begins as an address of this host",
	CONTEXT CLUSTER("server: 'http://127.evil.example'") USER("token: t"),
	"want a server with https://"},
    {"a namespace that is too long",
	"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: "
	"u, namespace: "
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}}]"
	"\n",
	"namespace: got 66 characters, want at most 63"},
};

static void
test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lt_kube_config config;
		struct lt_error err = {0};
		const int code =
		    lt_kubeconfig_parse(&config, "f", bad[i].text, strlen(bad[i].text), &err);

		if (code != LT_EINPUT)
			fail_msg("%s: %d", bad[i].why, code);
		assert_says(bad[i].why, &err, bad[i].says);
		assert_null(config.server);
		assert_null(config.token.text);
	}
}

/* ---- files ---- */

static char dir[64];

static const char *
path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void
put(const char *name, const char *text)
{
	FILE *const file = fopen(path_of(name), "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static const struct {
	const char *why, *name, *text; /* NULL = without it */
	int code;
	const char *says;
} pods[] = {
    {"as it is", "token", "t\n", LT_OK, ""},
    {"no token", "token", NULL, LT_ENOENT, "/token: No such file or directory"},
    {"an empty token", "token", "\n", LT_EINPUT, "/token: got a token of 0 bytes, want 1 to 16384"},
    {"a token with a break", "token", "a\nb", LT_EINPUT,
	"/token: got blanks or other bytes within, want a token"},
    {"no CA", "ca.crt", NULL, LT_ENOENT, "/ca.crt: No such file or directory"},
    {"a CA that is none", "ca.crt", "x", LT_EINPUT,
	"/ca.crt: got something else, want PEM text (-----BEGIN ...)"},
    {"no namespace", "namespace", NULL, LT_OK, ""},
};

static void
test_pod(void **state)
{
	const struct lt_kube_place place = {.account_dir = dir, .host = "::1", .port = "443"};

	(void)state;
	for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
		struct lt_kube_config config;
		struct lt_error err = {0};

		put("token", "t");
		put("ca.crt", ca_pem);
		put("namespace", "ns\n");
		unlink(path_of(pods[i].name));
		if (pods[i].text != NULL)
			put(pods[i].name, pods[i].text);
		const int code = lt_kube_config_load(&config, &place, &err);
		if (code != pods[i].code)
			fail_msg("%s: %d %s", pods[i].why, code, err.text);
		assert_says(pods[i].why, &err, pods[i].says);
		if (code != LT_OK)
			continue;
		assert_true(config.in_pod);
		assert_string_equal(config.server, "https://[::1]:443");
		assert_string_equal(config.token.text, "t");
		assert_string_equal(config.ca.text, ca_pem);
		assert_string_equal(
		    config.name_space, strcmp(pods[i].name, "namespace") == 0 ? "" : "ns");
		lt_kube_config_free(&config);
	}
}

/* A file that changes is read; one that can't be read leaves what was. */
static void
test_refresh(void **state)
{
	const struct lt_kube_place place = {.account_dir = dir, .host = "h", .port = "443"};
	struct lt_kube_config config;
	struct lt_error err = {0};

	(void)state;
	put("token", "one");
	put("ca.crt", ca_pem);
	assert_int_equal(lt_kube_config_load(&config, &place, NULL), LT_OK);
	put("token", "two");
	assert_int_equal(lt_kube_config_refresh(&config, false, &err), LT_OK);
	assert_string_equal(config.token.text, "two");
	unlink(path_of("token"));
	assert_int_equal(lt_kube_config_refresh(&config, false, &err), LT_OK);
	assert_string_equal(config.token.text, "two");
	assert_int_equal(lt_kube_config_refresh(&config, true, &err), LT_ENOENT);
	assert_string_equal(config.token.text, "two");
	put("token", "three");
	/* A minute later, also where the time of the file says nothing. */
	config.token.read_ms -= LT_KUBE_SECRET_AGE_MS;
	assert_int_equal(lt_kube_config_refresh(&config, false, NULL), LT_OK);
	assert_string_equal(config.token.text, "three");
	lt_kube_config_free(&config);
}

static void
test_places(void **state)
{
	struct lt_kube_config config;
	char text[8192], data[2048], list[256];
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_kube_config_load(&config, &(struct lt_kube_place){0}, &err), LT_EINPUT);
	assert_says("nowhere", &err, "KUBECONFIG is not set, and this is no pod");
	err = (struct lt_error){0};
	assert_int_equal(
	    lt_kube_config_load(&config, &(struct lt_kube_place){.kubeconfig = "/no/file"}, &err),
	    LT_ENOENT);
	assert_says("no file", &err, "KUBECONFIG: /no/file: No such file or directory");
	err = (struct lt_error){0};
	snprintf(list, sizeof(list), "%s:/no/other", path_of("config"));
	assert_int_equal(
	    lt_kube_config_load(&config, &(struct lt_kube_place){.kubeconfig = list}, &err),
	    LT_ENOENT);
	assert_says("a list", &err, "want one file (kubectl config view");
	err = (struct lt_error){0};
	put("key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nx\n-----END ENCRYPTED "
		   "PRIVATE KEY-----\n");
	lt_base64(data, (const unsigned char *)client_pem, strlen(client_pem));
	snprintf(text, sizeof(text),
	    CONTEXT SERVER "users: [{name: u, user: {client-certificate-data: '%s', "
			   "client-key: key}}]\n",
	    data);
	put("config", text);
	snprintf(list, sizeof(list), "%s", path_of("config"));
	assert_int_equal(
	    lt_kube_config_load(&config, &(struct lt_kube_place){.kubeconfig = list}, &err),
	    LT_EINPUT);
	assert_says("a key with a password", &err, "/key: got a key with a password");
	put("key", client_key_pem);
	assert_int_equal(
	    lt_kube_config_load(&config, &(struct lt_kube_place){.kubeconfig = list}, NULL), LT_OK);
	assert_string_equal(config.certificate.text, client_pem);
	assert_string_equal(config.key.text, client_key_pem);
	lt_kube_config_free(&config);
}

static int
start(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/lt-kubeconfig-XXXXXX");
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static int
end(void **state)
{
	static const char *const names[] = {"token", "ca.crt", "namespace", "config", "key"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path_of(names[i]));
	return rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good),
	    cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_pod),
	    cmocka_unit_test(test_refresh),
	    cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, start, end);
}
