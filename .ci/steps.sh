# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts beside it that go on after a failure.  They set `steps`, the names of the steps to do, and `logs`, a folder.
wanted() { [[ " $steps " == *" $1 "* ]]; }
step() { # step NAME COMMAND...: writes its output to a log and shows the last LINES_SHOWN lines, 3 by default; exit code 77: skipped
  limited "$1" 0 "${@:2}"
}
limited() { # limited NAME SECONDS COMMAND...: the same; a program is ended after so many seconds, 0: never; a function is not
  local name=$1 start=$SECONDS limit=(timeout -k 5 "$2") code
  shift 2
  [ "$(type -t "$1")" != function ] || limit=()
  "${limit[@]}" "$@" >"$logs/$name.log" 2>&1
  code=$?
  [ $code = 0 ] || [ $code = 77 ] || echo "$name" >>"$logs/failed"
  printf '== %s: exit %s, %s s\n%s\n' "$name" $code $((SECONDS - start)) "$(tail -n "${LINES_SHOWN:-3}" "$logs/$name.log")"
}
outcome() { # says which steps have failed; its exit code is the script's
  if [ ! -s "$logs/failed" ]; then echo "all steps passed"; else echo "failed: $(paste -sd ' ' "$logs/failed")" && return 1; fi
}
