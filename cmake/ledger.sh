#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes BUILD/ledger.tsv.gz, the verdicts of this state of the tree, and says how it differs from reports/ledger.tsv.gz.
#   ledger.sh BUILD [FOLDER...]      FOLDER: packed in reports/trial, like faults_1 or sound, whose kernels are built and judged too
# Every kernel and every variant over smoke, every broken kernel on its witness, the kernels of a FOLDER over smoke.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || { echo "ledger.sh: give the folder of the build" >&2; exit 2; }
build=$1
shift
for folder in "$@"; do
  [ -f "reports/trial/$folder.tar.xz" ] || { echo "ledger.sh: there is no archive reports/trial/$folder.tar.xz" >&2; exit 2; }
done
records=$build/ledger
mkdir -p "$records"

# judged NAME COMMAND...: writes records/NAME.jsonl.  Bad verdicts are results here; anything else ends the script.
judged() {
  local name=$1 code=0
  shift
  "$@" --backend simt --timeout 3600 --json "$records/$name.jsonl" >"$records/$name.txt" 2>&1 || code=$?
  echo "$name: $(tail -1 "$records/$name.txt")"
  [ "$code" -le 1 ] || { tail -5 "$records/$name.txt" >&2; exit "$code"; }
}

# names_in KIND FOLDER...: of the kernels that stand there, or were written there from edits
names_in() {
  local kind=$1
  shift
  find "$@" -path "*/$kind/*.cu" -printf '%f\n' | sed 's/[.]cu$//' | sort -u | paste -sd, -
}

judged smoke "$build/bin/validate" run --suite smoke
judged variants "$build/bin/validate" run --set trial --suite smoke --kernel "$(names_in variants cuda "$build/generated/faults")" --no-shrink
judged witnesses "$build/bin/validate" selfcheck --witnesses cuda
sound=(--sound "$records/smoke.jsonl" --sound "$records/variants.jsonl") faults=(--faults "$records/witnesses.jsonl")
trial=build-trial/ledger  # one for all folders, so that what they share is compiled once
source reports/trial/build.sh
for folder in "$@"; do
  kernels=$(unpacked "$folder")
  built "$kernels" . "$trial"
  if [ -n "$(names_in broken "$kernels")" ]; then
    judged "$folder" "$trial/bin/validate" selfcheck --suite smoke
    faults+=(--faults "$records/$folder.jsonl")
  else
    judged "$folder" "$trial/bin/validate" run --set trial --suite smoke --kernel "$(names_in variants "$kernels")" --no-shrink
    sound+=(--sound "$records/$folder.jsonl")
  fi
done
"$build/bin/validate" ledger "$build/ledger.tsv" "${sound[@]}" "${faults[@]}"
gzip -9nf "$build/ledger.tsv"
[ ! -f reports/ledger.tsv.gz ] || "$build/bin/validate" ledger-diff reports/ledger.tsv.gz "$build/ledger.tsv.gz"
