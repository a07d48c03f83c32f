/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Made for tests only, of a CA whose key nobody has: a server at 127.0.0.1, a client, and another
 * CA.
 */
#ifndef LT_KUBE_CERTIFICATES_H
#define LT_KUBE_CERTIFICATES_H

static const char ca_pem[] = "-----BEGIN CERTIFICATE-----\n"
			     "MIIBejCCASGgAwIBAgIUU/Y3ZqtZWQtT75rShDWbWuU7kHswCgYIKoZIzj0EAwIw\n"
			     "EjEQMA4GA1UEAwwHdGVzdC1jYTAgFw0yNjExMjYwNDM5MjFaGA8yMTI2MTEwMjA0\n"
			     "MzkyMVowEjEQMA4GA1UEAwwHdGVzdC1jYTBZMBMGByqGSM49AgEGCCqGSM49AwEH\n"
			     "A0IABAOIewq5viYaUoEDciK7pnt0ApkPpJMxOLeX4zqiQg9hvCI28bS6GniZBPnE\n"
			     "XjJakE/DJL3CWQqZUU8yJJbmBwmjUzBRMB0GA1UdDgQWBBS8FUHppMETsllBfVQF\n"
			     "+zC9o3UtHjAfBgNVHSMEGDAWgBS8FUHppMETsllBfVQF+zC9o3UtHjAPBgNVHRMB\n"
			     "Af8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIC8mUn5rDQ9GY97s6ciixZo1BCaf\n"
			     "TC/2mwxFg0tQYYrsAiBH9b+MGa1BOj7HibuGHoHILDxjL2GcbHFrTxQyLdpYMg==\n"
			     "-----END CERTIFICATE-----\n";

static const char other_ca_pem[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBfTCCASOgAwIBAgIUXAD9k3MGNhHieg2s664a0w3S+b8wCgYIKoZIzj0EAwIw\n"
    "EzERMA8GA1UEAwwIb3RoZXItY2EwIBcNMjYxMTI2MDQzOTIxWhgPMjEyNjExMDIw\n"
    "NDM5MjFaMBMxETAPBgNVBAMMCG90aGVyLWNhMFkwEwYHKoZIzj0CAQYIKoZIzj0D\n"
    "AQcDQgAEbfc8X03clkJbVHkXNMPa+gYk9CCAwaAjCrRDTWNOcSuJxrTCxIYBOTM3\n"
    "pKngsZIU9Z2d37Gf06KDaYQ0/Pj5VaNTMFEwHQYDVR0OBBYEFIgrpYTiOyjYWI2O\n"
    "Qt7V1OXsGEdzMB8GA1UdIwQYMBaAFIgrpYTiOyjYWI2OQt7V1OXsGEdzMA8GA1Ud\n"
    "EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAKYaul81IloyKs/LiHdTkFE4\n"
    "bixx05RwR13sN804ndDrAiBdoOqyTULR/r6SCHs+Ky64OlYwIl6oPJRI23G60BSf\n"
    "Jg==\n"
    "-----END CERTIFICATE-----\n";

static const char server_pem[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBkDCCATWgAwIBAgIUYApVEzMAvNXhkYBWeWibdufVkCowCgYIKoZIzj0EAwIw\n"
    "EjEQMA4GA1UEAwwHdGVzdC1jYTAgFw0yNjExMjYwNDM5MjFaGA8yMTI2MTEwMjA0\n"
    "MzkyMVowETEPMA0GA1UEAwwGc2VydmVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD\n"
    "QgAEgskxojSz42FUsXoXLyWErCzubEHeY6xcz/BDK1guuuGg7W9zu5P/P9YrWIJz\n"
    "5nAcEcgHk02CMBMIHUg5acVZ76NoMGYwDwYDVR0RBAgwBocEfwAAATATBgNVHSUE\n"
    "DDAKBggrBgEFBQcDATAdBgNVHQ4EFgQUd9TL3O3oNbk4KuRYyJtLK+WjuyAwHwYD\n"
    "VR0jBBgwFoAUvBVB6aTBE7JZQX1UBfswvaN1LR4wCgYIKoZIzj0EAwIDSQAwRgIh\n"
    "APkJZ9eVDwIrufu9JXvGtDKrGfmfPYtJtv0s5LXTmtgkAiEA6FSezq9Mk2ZyQUBm\n"
    "q4E36Z+dcqa2l8CfLai8S6XDmsU=\n"
    "-----END CERTIFICATE-----\n";

static const char server_key_pem[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgB+qevuAgXCQZmFLM\n"
    "bxkhRzvI34K+whJDTsQWqo+0Ck6hRANCAASCyTGiNLPjYVSxehcvJYSsLO5sQd5j\n"
    "rFzP8EMrWC664aDtb3O7k/8/1itYgnPmcBwRyAeTTYIwEwgdSDlpxVnv\n"
    "-----END PRIVATE KEY-----\n";

static const char client_pem[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBfjCCASSgAwIBAgIUYApVEzMAvNXhkYBWeWibdufVkCswCgYIKoZIzj0EAwIw\n"
    "EjEQMA4GA1UEAwwHdGVzdC1jYTAgFw0yNjExMjYwNDM5MjFaGA8yMTI2MTEwMjA0\n"
    "MzkyMVowETEPMA0GA1UEAwwGY2xpZW50MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD\n"
    "QgAEsP5tuDc/LvDZ43x7OBRLsFGyigZrquJD2cncpXvA2GY7MUwaQW/3n1vf/hsA\n"
    "5fCXfqOH9gDAqhXkTAZr7r9vGaNXMFUwEwYDVR0lBAwwCgYIKwYBBQUHAwIwHQYD\n"
    "VR0OBBYEFOrb2iH06EKrUzSU7TmI+JvmFxH8MB8GA1UdIwQYMBaAFLwVQemkwROy\n"
    "WUF9VAX7ML2jdS0eMAoGCCqGSM49BAMCA0gAMEUCIEtYKhIS4gTId2cZiKKZ4g8h\n"
    "Jr2cD8Fw9FPDCOp+fz/7AiEAi85CyENb3tY+e+2aEIOZ+mbQQREgRthttWzyzAE7\n"
    "Lp4=\n"
    "-----END CERTIFICATE-----\n";

static const char client_key_pem[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgt35UO/b0GW7sozE/\n"
    "2G/ZaIpC20hhuRmsQcRL3bPD2O2hRANCAASw/m24Nz8u8NnjfHs4FEuwUbKKBmuq\n"
    "4kPZydyle8DYZjsxTBpBb/efW9/+GwDl8Jd+o4f2AMCqFeRMBmvuv28Z\n"
    "-----END PRIVATE KEY-----\n";

#endif
