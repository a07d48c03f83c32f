# SPDX-License-Identifier: GPL-2.0-or-later
# schema.py SCHEMA FILE: prints where a JSON file is not of a JSON Schema 2020-12.
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1], encoding="utf-8"))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for error in validator.iter_errors(json.load(open(sys.argv[2], encoding="utf-8"))):
    print(ascii("/".join(map(str, error.path)) + ": " + error.message)[:200])
