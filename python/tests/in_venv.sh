#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a file of tests by pytest in a virtual environment under the build folder, which the first call makes.  Without network, or
# without Python 3.11, it is skipped (exit code 77) and says so; where CI is set, it then fails.
# Files whose tests all need PyTorch are skipped always.
#   in_venv.sh BUILD FILE
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd) || exit 2
packages="numpy ml_dtypes pytest distributed setuptools>=70.1"
venv=$build/python-venv

skip() {
  [ -z "${CI:-}" ] || { echo "FAILED: $1"; exit 1; }
  echo "SKIPPED: $1"
  exit 77
}
python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  skip "the tests of python/ need Python 3.11 with venv and pip (python3-venv)"
exec 9>"$venv.lock"
flock 9
if [ "$(cat "$venv/packages" 2>/dev/null)" != "$packages" ]; then
  # Note: without network pip waits long, so it is asked once for all tests of a run.
  [ -z "$(find "$venv.failed" -mmin -10 2>/dev/null)" ] || skip "pip could not install $packages: $(tail -1 "$venv.log")"
  rm -rf "$venv"
  # shellcheck disable=SC2086
  python3 -m venv "$venv" && "$venv/bin/python" -m pip --disable-pip-version-check install -q $packages >"$venv.log" 2>&1 &&
    echo "$packages" >"$venv/packages" || { touch "$venv.failed"; false; } || skip "pip cannot install $packages: $(tail -1 "$venv.log")"
fi
exec 9>&-
cd "$here" || exit 2
export ASSAY_VALIDATE=$build/bin/validate PYTHONPATH=$here/.. PYTHONDONTWRITEBYTECODE=1 PATH=$venv/bin:$PATH
"$venv/bin/python" -m pytest -q -p no:cacheprovider "$2"
code=$?
[ $code != 5 ] || exit 77  # nothing is left to run: PyTorch or a GPU is missing, as pytest says
exit $code
