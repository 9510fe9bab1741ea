#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the wheel of the program in a build folder, with the licence texts of what is within it, and checks by its tag that no glibc
# newer than 2.34 is needed.  Where auditwheel is installed (pip install auditwheel), it must say the same: it also looks for
# libraries that the wheel lacks.
#   wheel.sh BUILD FOLDER      BUILD: configured with -DASSAY_PORTABLE=ON; FOLDER: where the wheel goes
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
folder=$2
newest=34  # glibc 2.34: RHEL 9, Ubuntu 22.04, Debian 12
refuse() { echo "assay: $1" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree"
ln -s "$tree/datasets" "$tree/LICENSE" "$work/tree/"
cp -r "$tree/python" "$work/tree/"  # pip leaves its files beside what it packs
rm -rf "$work/tree/python/build" "$work/tree/python/tests" "$work"/tree/python/*.egg-info
python3 "$tree/cmake/notices.py" "$build" "$work/tree/python/assay/notices"
ASSAY_VALIDATE=$build/bin/validate python3 -m pip --disable-pip-version-check wheel -q --no-deps -w "$work" "$work/tree/python" ||
  refuse "pip could not make the wheel"
wheel=$(echo "$work"/assay-*.whl)

within() { [[ $1 =~ manylinux_2_([0-9]+)_ ]] && [ "${BASH_REMATCH[1]}" -le $newest ]; }
within "$wheel" || refuse "the wheel needs a newer glibc than 2.$newest: ${wheel##*/}"
if python3 -c 'import auditwheel' 2>/dev/null; then
  said=$(python3 -m auditwheel show "$wheel" | tr -s '\n ' ' ')
  tag=$(grep -o 'following platform tag: "[^"]*"' <<<"$said") || refuse "auditwheel gives no tag: $said"
  within "$tag" || refuse "auditwheel says otherwise than the wheel's tag: $said"
  echo "auditwheel: ${tag#*: }"
else
  echo "auditwheel is not installed, so it was not asked (pip install auditwheel)"
fi
mkdir -p "$folder"
mv "$wheel" "$folder/"
echo "$folder/${wheel##*/}"
