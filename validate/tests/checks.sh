# SPDX-License-Identifier: Apache-2.0
# For the tests of the command: source this with the folder of the binaries as $1.  Each check prints the command, what was
# expected and what came when it fails; `verdict` ends the test.
bin=$(cd "$1" && pwd -P) || exit 2
validate=$bin/validate
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tmp=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
failures=0 checks=0

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
# Seconds that nothing here takes but what hangs, on the slowest host: no verdict is about time.
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
# works COMMAND...: exits 0 and says something.
works() {
  call "$@"
  same "$called" "exit 0" "exit $code"
  checks=$((checks + 1))
  [[ -n $out ]] || fail "$called" "some output" "nothing"
}
# refuses PART COMMAND...: bad usage.  Exit 2, nothing on stdout, one line on stderr that holds the part.
refuses() {
  local part=$1
  shift
  call "$@"
  same "$called" "exit 2" "exit $code"
  same "$called" "nothing on stdout" "${out:+${out:0:200}}${out:-nothing on stdout}"
  same "$called" "one line on stderr" "$(wc -l <"$tmp/err" | tr -d ' ' | sed 's/^1$/one/') line on stderr"
  holds "$called" "$err" "$part"
}
# field FILE KEY: the values of a key in a file of records, one a line (numbers, texts and booleans; no jq needed).
field() { grep -o "\"$2\":\(\"[^\"]*\"\|[^,}]*\)" "$1" | sed 's/^[^:]*://; s/^"//; s/"$//'; }
# Every line of a file is JSON, whole and alone: by python3 or jq where there is one, else by its first and last letter.
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
# until_so COMMAND...: waits until the command succeeds; fails where that never comes.
until_so() {
  local begin=$SECONDS
  until "$@"; do
    ((SECONDS - begin < hangs)) || return 1
    sleep 0.1
  done
}
# The processes of a program.
running() {
  local exe
  for exe in /proc/[0-9]*/exe; do
    [[ $(readlink "$exe" 2>/dev/null) == "$1" ]] && printf '%s ' "${exe//[^0-9]/}"
  done
}
verdict() {
  echo "$checks checks, $failures failed"
  ((failures == 0))
  exit
}
