#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that the installed command, header, man page, licence and datasets work without the source tree and the build folder.
#   install.sh BUILD CMAKE
set -u
build=$1 cmake=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
fail() { echo "FAILED: $1"; exit 1; }

"$cmake" --install "$build" --prefix "$prefix" >"$prefix/log" 2>&1 || { cat "$prefix/log"; fail "cmake --install"; }
[ -x "$prefix/bin/validate" ] || fail "bin/validate is not there"
[ -f "$prefix/share/assay/datasets/edges/common.json" ] || fail "share/assay/datasets is not there"
cmp -s "$prefix/share/doc/assay/LICENSE" "$(dirname "$0")/../../LICENSE" || fail "the licence is not there"
page=$prefix/share/man/man1/validate.1
grep -q '^\.TH VALIDATE 1' "$page" || fail "the man page is not there"
for flag in 'last\-failed' partial color; do grep -qF -- "\\-\\-$flag" "$page" || fail "the man page has no --$flag"; done
if command -v man >/dev/null && command -v col >/dev/null && man --version >/dev/null 2>&1; then
  text=$(MANWIDTH=100 man --warnings -l "$page" 2>"$prefix/log" | col -b)
  [ ! -s "$prefix/log" ] || { cat "$prefix/log"; fail "the man page has faults"; }
  echo "$text" | grep -q 'validate run' || fail "the man page does not show"
fi
cmp -s "$prefix/include/assay.h" "$(dirname "$0")/../../include/assay.h" || fail "include/assay.h is not there"
if command -v cc >/dev/null; then
  cc -O2 -shared -fPIC -I "$prefix/include" "$(dirname "$0")/../../examples/plugin/softmax.c" -o "$prefix/libsoftmax.so" -lm || fail "a plugin"
  "$prefix/bin/validate" run --plugin "$prefix/libsoftmax.so" --backend host --suite sanitize >"$prefix/log" 2>&1 || { cat "$prefix/log"; fail "the plugin"; }
fi
mkdir "$prefix/elsewhere"
cd "$prefix/elsewhere" || exit 2
unset ASSAY_DATASETS
"$prefix/bin/validate" run --backend simt --suite sanitize --json "$prefix/records.jsonl" >"$prefix/log" 2>&1 || { cat "$prefix/log"; fail "the run"; }
judged=$(grep '^[1-9][0-9]* passed · 0 failed · 0 suspect' "$prefix/log") || fail "nothing was judged"
tail -1 "$prefix/records.jsonl" | grep -q '"record":"end"' || fail "the records do not end"
# Where the set `watch` is built, it is installed too, and sees plain accesses.
if [ -x "$build/bin/sets/watch" ]; then
  "$prefix/bin/validate" replay --set watch --backend simt --watch --no-shrink 'softmax/naive f32 rows=3 cols=65' >"$prefix/log" 2>&1 ||
    { cat "$prefix/log"; fail "the installed set"; }
  grep -q 'not checked' "$prefix/log" && fail "the installed set does not see plain accesses"
fi

# It reads the installed datasets: if they are broken, it names the file.
echo '{' >"$prefix/share/assay/datasets/edges/common.json"
"$prefix/bin/validate" run --backend simt --suite sanitize >"$prefix/log" 2>&1
[ $? = 2 ] || fail "broken datasets are not bad input"
grep -q "edges/common.json" "$prefix/log" || fail "the message does not name the broken file"
echo "installed, and from another folder: $judged"
