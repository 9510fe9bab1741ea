#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run that is stopped: it ends soon, its file holds whole lines, no worker survives.  The first argument is the
# binaries' folder.
source "$(dirname "$0")/../checks.sh"

workers_of() { cat "/proc/$1/task/$1/children"; }
start() {  # leaves the process in $run and its workers in $workers
  rm -f run.jsonl
  "$validate" run --backend simt --suite full --json run.jsonl >out 2>err </dev/null &
  run=$!
  for ((i = 0; i < 100; ++i)); do
    [[ $(grep -c '"record":"case"' run.jsonl 2>/dev/null) -gt 20 ]] && break
    sleep 0.1
  done
  workers=$(workers_of "$run")
  checks=$((checks + 1))
  [[ -n $workers ]] || fail "run --suite full" "workers" "none"
}
survivors() {
  local pid
  for pid in $workers; do
    ended_within "$pid" 3 || echo "$pid"
  done
}

for signal in INT TERM; do
  # Note: a shell starts background processes with SIGINT ignored; the command asks for it all the same.
  start
  kill -$signal "$run"
  ended_within "$run" 2 || fail "kill -$signal" "an end within 2 s" "still running"
  wait "$run"
  same "kill -$signal" "exit 130" "exit $?"
  whole_lines run.jsonl "kill -$signal"
  same "kill -$signal, the last record" '"interrupted":true' "$(tail -1 run.jsonl | grep '"record":"end"' | grep -o '"interrupted":[a-z]*')"
  holds "kill -$signal, the last line" "$(tail -1 out)" "interrupted"
  same "kill -$signal, workers left" "" "$(survivors)"
done

start
kill -KILL "$run"
wait "$run" 2>/dev/null
same "kill -KILL" "exit 137" "exit $?"
whole_lines run.jsonl "kill -KILL"
same "kill -KILL, workers left" "" "$(survivors)"

# A reader that goes away ends the run, and the records still end well.
rm -f run.jsonl
timeout 60 "$validate" run --backend simt --suite full --json run.jsonl 2>err | head -1 >out
code=${PIPESTATUS[0]}
same "run | head -1" "an end" "$([[ $code != 124 ]] && echo an end)"
same "run | head -1, on stderr" "" "$(<err)"
whole_lines run.jsonl "run | head -1"
verdict
