#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pytest.sh FILE ARGUMENT...: runs a file of tests by pytest.  Where no interpreter has pytest, the test is skipped (exit code 77)
# and says so; where CI is set, it then fails.
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import sys, pytest; sys.exit(sys.version_info < (3, 9) or pytest.version_tuple < (7,))' 2>/dev/null; then
    # Note: nothing of a run stays in the tree, and no plugin that happens to be installed has a say.
    export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONDONTWRITEBYTECODE=1
    exec "$python" -m pytest -q --tb=short -rs -p no:cacheprovider "$@"
  fi
done
why="no python3 here is 3.9 or later and has pytest 7 or later  (apt-get install -y python3-pytest)"
[ -z "${CI:-}" ] || { echo "FAILED: $why"; exit 1; }
echo "SKIPPED: $why"
exit 77
