/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a pod has by claims, as resource.k8s.io/v1 has these: counted by hand, and what is not
 * understood is said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "kube_facts.h"

static json_t *
load(const char *text)
{
	json_error_t why;
	json_t *const json = json_loads(text, 0, &why);

	if (json == NULL)
		fail_msg("%s: %s", why.text, text);
	return json;
}

/* As the watcher writes it: the claim beside the object. */
#define CLAIM(requests, results)                                                                   \
	"{\"spec\":{\"resourceClaims\":[{\"name\":\"a\"}]},"                                       \
	"\"lowtideClaims\":{\"a\":{\"requests\":[" requests "],\"results\":[" results              \
	"],\"sharers\":2}}}"
#define EXACTLY(class, more) "{\"exactly\":{\"deviceClassName\":\"" class "\"" more "}}"
#define GOT(driver, device, more)                                                                  \
	"{\"driver\":\"" driver "\",\"pool\":\"p\",\"device\":\"" device "\"" more "}"

static const struct {
	const char *object;
	uint64_t micro;
	const char *why; /* begins so; "" = all is understood */
} cases[] = {
    {"{\"spec\":{}}", 0, ""},
    {CLAIM(EXACTLY("gpu", ",\"count\":3"), ""), 3000000, ""},
    {CLAIM(EXACTLY("mig", ""), ""), 1000000, ""},
    {CLAIM(EXACTLY("mig", ",\"selectors\":[{\"cel\":{\"expression\":"
			  "\"device.attributes['gpu.nvidia.com'].profile == "
			  "'2g.20gb'\"}}]"),
	 ""),
	285714, ""},
    /* Another profile would do as well: a whole one is sure. */
    {CLAIM(EXACTLY("mig", ",\"selectors\":[{\"cel\":{\"expression\":"
			  "\"x.profile == '1g.10gb' || x.profile == "
			  "'7g.80gb'\"}}]"),
	 ""),
	1000000, ""},
    {CLAIM(EXACTLY("mig", ",\"selectors\":[{\"cel\":{\"expression\":"
			  "\"!(x.profile == '1g.10gb')\"}}]"),
	 ""),
	1000000, ""},
    {CLAIM(EXACTLY("gpu", ",\"adminAccess\":true"), ""), 0, ""},
    {CLAIM(EXACTLY("imex", ""), ""), 0, ""},
    {CLAIM("{\"firstAvailable\":[{\"deviceClassName\":\"gpu\",\"count\":2},"
	   "{\"deviceClassName\":\"gpu\",\"count\":5}]}",
	 ""),
	5000000, ""},
    {CLAIM("{\"firstAvailable\":[{\"deviceClassName\":\"gpu\"},"
	   "{\"deviceClassName\":\"tpu\"}]}",
	 ""),
	1000000, "claim a: not known is DeviceClass tpu"},
    {CLAIM(EXACTLY("tpu", ""), ""), 0, "claim a: not known is DeviceClass tpu"},
    {CLAIM(EXACTLY("either", ""), ""), 0, "claim a: not known is DeviceClass"},
    {CLAIM(EXACTLY("open", ""), ""), 0, "claim a: not known is DeviceClass"},
    {CLAIM(EXACTLY("gpu", ",\"allocationMode\":\"All\""), ""), 0,
	"claim a: not counted is allocationMode All"},
    {CLAIM(EXACTLY("gpu", ",\"count\":0"), ""), 0, "claim a: not counted"},
    {CLAIM("{\"name\":\"new\"}", ""), 0, "claim a: not understood"},
    {"{\"spec\":{\"resourceClaims\":[{\"name\":\"a\"}]}}", 0, "claim a: it can't be read"},
    /* What it got; two pods share it. */
    {CLAIM(EXACTLY("gpu", ",\"count\":8"), GOT("gpu.nvidia.com", "gpu-0", "")), 500000, ""},
    {CLAIM("", GOT("gpu.nvidia.com", "mig-0", "") "," GOT("gpu.nvidia.com", "gpu-9", "")),
	71428 + 500000, ""},
    {CLAIM("", GOT("gpu.nvidia.com", "gpu-0", ",\"adminAccess\":true")), 0, ""},
    {CLAIM("", GOT("tpu.google.com", "0", "")), 0, "claim a: not known is driver tpu.google.com"},
    /* By extended resources, in one of two ways. */
    {"{\"spec\":{\"containers\":[{\"resources\":{\"limits\":"
     "{\"example.com/a100\":\"2\",\"cpu\":\"1\"}}}]}}",
	2000000, ""},
    {"{\"spec\":{\"containers\":[{\"resources\":{\"limits\":"
     "{\"deviceclass.resource.kubernetes.io/gpu\":\"1\"}}}]}}",
	1000000, ""},
    {"{\"spec\":{\"containers\":[{\"resources\":{\"limits\":"
     "{\"deviceclass.resource.kubernetes.io/tpu\":\"1\"}}}]}}",
	0, "claim deviceclass.resource.kubernetes.io/tpu: not known"},
    {"{\"spec\":{\"containers\":[{\"resources\":{\"limits\":"
     "{\"nvidia.com/gpu\":\"1\"}}}]},\"status\":{\"extendedResourceClaimStatus\":"
     "{\"resourceClaimName\":\"c\",\"requestMappings\":[{\"resourceName\":"
     "\"nvidia.com/gpu\"}]}},\"lowtideClaims\":{\"\":{\"results\":[" GOT(
	 "gpu.nvidia.com", "mig-0", "") "],\"sharers\":1}}}",
	142857, ""},
};

static void
test_claims(void **state)
{
	json_t *const classes =
	    load("[{\"metadata\":{\"name\":\"gpu\"},\"spec\":{\"selectors\":[{\"cel\":"
		 "{\"expression\":\"device.driver == 'gpu.nvidia.com' && x\"}}],"
		 "\"extendedResourceName\":\"example.com/a100\"}},"
		 "{\"metadata\":{\"name\":\"mig\"},\"spec\":{\"selectors\":[{\"cel\":"
		 "{\"expression\":\"device.driver==\\\"gpu.nvidia.com\\\"\"}}]}},"
		 "{\"metadata\":{\"name\":\"imex\"},\"spec\":{\"selectors\":[{\"cel\":"
		 "{\"expression\":\"device.driver == 'compute-domain.nvidia.com'\"}}]}},"
		 "{\"metadata\":{\"name\":\"tpu\"},\"spec\":{\"selectors\":[{\"cel\":"
		 "{\"expression\":\"device.driver == 'tpu.google.com'\"}}]}},"
		 "{\"metadata\":{\"name\":\"either\"},\"spec\":{\"selectors\":[{\"cel\":"
		 "{\"expression\":\"device.driver == 'gpu.nvidia.com' || "
		 "device.driver == 'tpu.google.com'\"}}]}},"
		 "{\"metadata\":{\"name\":\"open\"},\"spec\":{}}]");
	json_t *const slices =
	    load("[{\"spec\":{\"driver\":\"gpu.nvidia.com\",\"nodeName\":\"n\",\"pool\":"
		 "{\"name\":\"p\"},\"devices\":[{\"name\":\"gpu-0\",\"attributes\":"
		 "{\"type\":{\"string\":\"gpu\"}}},{\"name\":\"gpu-1\"},"
		 "{\"name\":\"mig-0\",\"attributes\":{\"gpu.nvidia.com/type\":"
		 "{\"string\":\"mig\"},\"profile\":{\"string\":\"1g.10gb\"}}}]}},"
		 "{\"spec\":{\"driver\":\"dra.net\",\"nodeName\":\"n\",\"pool\":"
		 "{\"name\":\"p\"},\"devices\":[{\"name\":\"nic\"}]}}]");
	struct lt_kube_given given = {.device_classes = lt_kube_claims_classes(classes),
	    .devices = lt_kube_claims_devices(slices)};
	struct lt_kube_node node = {.name = "n"};
	char why[LT_ERROR_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *const object = load(cases[i].object);
		struct lt_kube_need need = {.cpus = 1};
		struct lt_error err = {0};

		assert_int_equal(
		    lt_kube_gpus_asked(&need.gpu_kinds, json_object_get(object, "spec"), &err),
		    LT_OK);
		lt_kube_claims_add(&need, object, &given, why);
		if (need.exact.gpu_micro != cases[i].micro ||
		    strncmp(why, cases[i].why, strlen(cases[i].why)) != 0 ||
		    (cases[i].why[0] == '\0' && why[0] != '\0'))
			fail_msg("%s: got %llu, \"%s\"", cases[i].object,
			    (unsigned long long)need.exact.gpu_micro, why);
		/* Of classes that nobody may list none is known. */
		lt_kube_claims_add(&need, object, NULL, why);
		if (strstr(cases[i].object, "deviceClassName") != NULL &&
		    strstr(cases[i].object, "\"results\":[]") != NULL &&
		    strstr(cases[i].object, "adminAccess") == NULL)
			assert_true(why[0] != '\0');
		json_decref(object);
	}
	/* Two whole ones, and a network that is none; however often. */
	for (int twice = 0; twice < 2; twice++) {
		lt_kube_claims_offered(&node, &given);
		assert_int_equal(node.gpus, 2);
		assert_int_equal(node.exact.gpu_micro, 2000000);
	}
	lt_kube_claims_offered(&node, NULL);
	assert_int_equal(node.gpus, 0);
	json_decref(given.device_classes);
	json_decref(given.devices);
	json_decref(classes);
	json_decref(slices);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_claims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
