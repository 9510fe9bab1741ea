#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a run ends on a signal without waiting for its workers, and leaves whole lines in its file and no worker.  $1: the
# binaries' folder.
source "$(dirname "$0")/../checks.sh"

ended() { [[ $(readlink "/proc/$1/exe" 2>/dev/null) != "$validate" ]]; }  # a zombie counts as ended
state() { cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null; }
under_way() { [[ $(state "$run") == Z || $(grep -c '"record":"case"' run.jsonl 2>/dev/null) -gt 20 && -n $(workers_of "$run") ]]; }
workers_of() { cat "/proc/$1/task/$1/children" 2>/dev/null; }
stopped() { [[ $(state "$1") != [RSD] ]]; }
start() {  # starts a run and stops it and its workers; their ids are in $run and $workers
  rm -f run.jsonl
  "$validate" run --backend simt --suite full --timeout 86400 --json run.jsonl >out 2>err </dev/null &
  run=$!
  until_so under_way
  kill -STOP "$run"
  until_so stopped "$run"
  workers=$(workers_of "$run")
  checks=$((checks + 1))
  [[ -n $workers ]] || fail "run --suite full" "workers" "none: $(<err)"
  local pid
  for pid in $workers; do kill -STOP "$pid"; done
}
end() {  # end SIGNAL CODE: sends the signal, lets the run continue and expects exit code CODE; $sent names the signal
  sent="kill -$1"
  kill "-$1" "$run"
  kill -CONT "$run" 2>/dev/null
  until_so ended "$run" 2>/dev/null || { fail "$sent" "an end" "still running"; kill -KILL "$run"; }
  wait "$run" 2>/dev/null
  same "$sent" "exit $2" "exit $?"
  whole_lines run.jsonl "$sent"
}
none_left() {
  local pid
  for pid in $workers; do until_so ended "$pid" || fail "$sent, workers left" "none" "$pid"; done
}

for signal in INT TERM; do
  # Note: a shell starts background processes with SIGINT ignored, but the command installs its own handler.
  start
  end $signal 130
  same "$sent, the last record" '"interrupted":true' "$(tail -1 run.jsonl | grep '"record":"end"' | grep -o '"interrupted":[a-z]*')"
  holds "$sent, the last line" "$(tail -1 out)" "interrupted"
  holds "$sent, what goes on" "$(<out)" "goes on with --resume run.jsonl"
  none_left
done

start
end KILL 137
none_left

# If the reader of its output leaves, the run ends and the record file is complete.
rm -f run.jsonl
timeout $hangs "$validate" run --backend simt --suite full --json run.jsonl 2>err | head -1 >out
same "run | head -1" "exit 130" "exit ${PIPESTATUS[0]}"
same "run | head -1, on stderr" "" "$(<err)"
whole_lines run.jsonl "run | head -1"
same "run | head -1, the last record" '"interrupted":true' "$(tail -1 run.jsonl | grep '"record":"end"' | grep -o '"interrupted":[a-z]*')"

# Of a selfcheck, what was not judged is not called missed.
if [[ -e $bin/validate-trial ]]; then
  timeout -s INT 2 "$bin/validate-trial" selfcheck --backend simt --suite full --md interrupted.md >out 2>err
  lacks "selfcheck, interrupted" "$(<out)" " missed"
  holds "selfcheck, interrupted" "$(<out)" " caught so far · interrupted"
  same "its page" "" "$(cat interrupted.md)"
fi

# What a shell had started before it became this program is not this program's to end.
bash -c 'sleep 86400 & echo $! >before; exec "$@"' bash "$validate" replay --backend simt "softmax/naive f16 rows=1 cols=9" >out 2>err </dev/null
same "replay, of a shell" "exit 0" "exit $?"
kill "$(<before)" 2>/dev/null
same "a child from before" "was there" "$([[ $? == 0 ]] && echo was there)"
verdict
