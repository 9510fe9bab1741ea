# SPDX-License-Identifier: Apache-2.0
# Checks for the shell tests: source this with the folder of the binaries as $1.  A failed check prints the command, what was
# expected and what came; `verdict` ends the test.  The working directory is a temporary folder.
bin=$(cd "$1" && pwd -P) || exit 2
validate=$bin/validate
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tmp=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
failures=0 checks=0 refusals=0

fail() {  # fail COMMAND EXPECTED GOT
  failures=$((failures + 1))
  printf 'FAILED  %s\n  expected  %s\n  got       %s\n' "$1" "$2" "$3"
}
same() {  # same WHAT EXPECTED GOT
  checks=$((checks + 1))
  [[ $2 == "$3" ]] || fail "$1" "$2" "$3"
}
holds() {  # holds WHAT TEXT PART: the text holds the part
  checks=$((checks + 1))
  [[ $2 == *"$3"* ]] || fail "$1" "...$3..." "${2:0:600}"
}
lacks() {
  checks=$((checks + 1))
  [[ $2 != *"$3"* ]] || fail "$1" "no '$3'" "${2:0:600}"
}
# Seconds that only a hanging command takes, even on the slowest host: no check depends on speed.
hangs=600
# call COMMAND...: leaves its exit code in $code, its output in $out, its errors in $err.
call() {
  called="$*"
  timeout -k 5 $hangs "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
  code=$?
  out=$(<"$tmp/out") err=$(<"$tmp/err")
}
# exits CODE COMMAND...
exits() {
  local expected=$1
  shift
  call "$@"
  checks=$((checks + 1))
  [[ $code == "$expected" ]] || fail "$called" "exit $expected" "exit $code: ${err:0:300}"
}
# works COMMAND...: exits 0 and prints something.
works() {
  call "$@"
  same "$called" "exit 0" "exit $code"
  checks=$((checks + 1))
  [[ -n $out ]] || fail "$called" "some output" "nothing"
}
# refuses PART COMMAND...: expects exit code 2, nothing on stdout, and one line on stderr that holds PART.
refuses() {
  local part=$1
  shift
  call "$@"
  refusals=$((refusals + 1))
  same "$called" "exit 2" "exit $code"
  same "$called" "nothing on stdout" "${out:+${out:0:200}}${out:-nothing on stdout}"
  same "$called" "one line on stderr" "$(wc -l <"$tmp/err" | tr -d ' ' | sed 's/^1$/one/') line on stderr"
  holds "$called" "$err" "$part"
}
# field FILE KEY: prints the values of a key in a record file, one per line (numbers, texts and booleans; needs no jq).
field() { grep -o "\"$2\":\(\"[^\"]*\"\|[^,}]*\)" "$1" | sed 's/^[^:]*://; s/^"//; s/"$//'; }
# untimed FILE: the records of a run without times, sorted: equal for equal runs.
untimed() { sed -E 's/"(seconds|date)":[^,}]*//g; s/"work_seconds":\{[^}]*\}//' "$1" | sort; }
# whole_lines FILE WHAT: every line is a complete JSON object, by python3 if present, else by its first and last character.
whole_lines() {
  checks=$((checks + 1))
  [[ -s $1 && $(tail -c 1 "$1" | od -An -c | tr -d ' ') == '\n' ]] || { fail "$2" "whole lines" "a line cut short"; return; }
  if command -v python3 >/dev/null; then
    python3 -c 'import json,sys; [json.loads(l, parse_constant=lambda c: 1/0) for l in open(sys.argv[1])]' "$1" 2>"$tmp/why" ||
      fail "$2" "one valid JSON object a line" "$(tail -1 "$tmp/why")"
  else
    [[ -z $(grep -v '^{.*}$' "$1") ]] || fail "$2" "one JSON object a line" "$(grep -v '^{.*}$' "$1" | head -1)"
  fi
}
# until_so COMMAND...: waits until the command succeeds; fails after $hangs seconds.
until_so() {
  local begin=$SECONDS
  until "$@"; do
    ((SECONDS - begin < hangs)) || return 1
    sleep 0.1
  done
}
# running PROGRAM: prints the ids of its processes.
running() {
  local exe
  for exe in /proc/[0-9]*/exe; do
    [[ $(readlink "$exe" 2>/dev/null) == "$1" ]] && printf '%s ' "${exe//[^0-9]/}"
  done
}
verdict() {
  ((refusals == 0)) || echo "$refusals wrong inputs refused"
  echo "$checks checks, $failures failed"
  ((failures == 0))
  exit
}
