/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Yearly averages of the grids behind cloud regions, for cloud_region.c. The
 * factors are those of Cloud Carbon Footprint (see cloud_region.h).
 */
#include <stddef.h>

#include "cloud_region.h"

static const struct lt_cloud_region aws[] = {
    {"us-east-1", 415.755, "EPA, SERC"},
    {"us-east-2", 440.187, "EPA, RFC"},
    {"us-west-1", 350.861, "EPA, WECC"},
    {"us-west-2", 350.861, "EPA, WECC"},
    {"us-gov-east-1", 415.755, "EPA, SERC"},
    {"us-gov-west-1", 350.861, "EPA, WECC"},
    {"af-south-1", 928, "carbonfootprint.com"},
    {"ap-east-1", 810, "carbonfootprint.com"},
    {"ap-south-1", 708, "carbonfootprint.com"},
    {"ap-northeast-3", 506, "carbonfootprint.com"},
    {"ap-northeast-2", 500, "carbonfootprint.com"},
    {"ap-southeast-1", 408.5, "EMA Singapore"},
    {"ap-southeast-2", 790, "carbonfootprint.com"},
    {"ap-northeast-1", 506, "carbonfootprint.com"},
    {"ca-central-1", 130, "carbonfootprint.com"},
    {"cn-north-1", 555, "carbonfootprint.com"},
    {"cn-northwest-1", 555, "carbonfootprint.com"},
    {"eu-central-1", 338, "EEA"},
    {"eu-west-1", 316, "EEA"},
    {"eu-west-2", 228, "EEA"},
    {"eu-south-1", 233, "EEA"},
    {"eu-west-3", 52, "EEA"},
    {"eu-north-1", 8, "EEA"},
    {"me-south-1", 732, "carbonfootprint.com"},
    {"sa-east-1", 74, "carbonfootprint.com"},
};

static const struct lt_cloud_region azure[] = {
    {"centralus", 472.23, "EPA, MRO"},
    {"eastus", 415.755, "EPA, SERC"},
    {"eastus2", 415.755, "EPA, SERC"},
    {"eastus3", 415.755, "EPA, SERC"},
    {"northcentralus", 440.187, "EPA, RFC"},
    {"southcentralus", 396.293, "EPA, TRE"},
    {"westcentralus", 350.861, "EPA, WECC"},
    {"westus", 350.861, "EPA, WECC"},
    {"westus2", 350.861, "EPA, WECC"},
    {"westus3", 350.861, "EPA, WECC"},
    {"eastasia", 810, "carbonfootprint.com"},
    {"southeastasia", 408.5, "EMA Singapore"},
    {"northeurope", 316, "EEA"},
    {"westeurope", 390, "EEA"},
    {"centralindia", 708, "carbonfootprint.com"},
    {"southindia", 708, "carbonfootprint.com"},
    {"westindia", 708, "carbonfootprint.com"},
    {"uksouth", 228, "EEA"},
    {"ukwest", 228, "EEA"},
    {"francecentral", 67, "EEA"},
    {"finlandcentral", 77, "EEA"},
    {"germanywestcentral", 402, "EEA"},
    {"belgiumcentral", 154, "EEA"},
    {"swedencentral", 9, "EEA"},
};

static const struct lt_cloud_region gcp[] = {
    {"us-central1", 479, "Google"},
    {"us-east1", 500, "Google"},
    {"us-east4", 383, "Google"},
    {"us-west1", 117, "Google"},
    {"us-west2", 248, "Google"},
    {"us-west3", 561, "Google"},
    {"us-west4", 491, "Google"},
    {"asia-east1", 541, "Google"},
    {"asia-east2", 626, "Google"},
    {"asia-northeast1", 524, "Google"},
    {"asia-northeast2", 524, "Google"},
    {"asia-northeast3", 540, "Google"},
    {"asia-south1", 723, "Google"},
    {"asia-southeast1", 493, "Google"},
    {"asia-southeast2", 772, "Google"},
    {"australia-southeast1", 725, "Google"},
    {"europe-north1", 181, "Google"},
    {"europe-west1", 196, "Google"},
    {"europe-west2", 257, "Google"},
    {"europe-west3", 319, "Google"},
    {"europe-west4", 474, "Google"},
    {"europe-west6", 29, "Google"},
    {"northamerica-northeast1", 143, "Google"},
    {"southamerica-east1", 109, "Google"},
};

const struct lt_cloud lt_clouds[] = {
    {"aws", aws, 25},
    {"azure", azure, 24},
    {"gcp", gcp, 24},
    {NULL, NULL, 0},
};
