#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kills a run at random moments, resumes it, kills that at random too, and so on: the record of the run that ends must equal that of
# an unbroken run, but for times.  $1: the binaries' folder; $2: how many kills (15); $3: a seed.
source "$(dirname "$0")/../checks.sh"
kills=${2:-15}
RANDOM=${3:-$$}
cp "$validate" judge && validate=$tmp/judge  # a program of its own, so that its processes can be counted
export ASSAY_DATASETS=${ASSAY_DATASETS:-$sources/datasets}
some=(--backend simt --suite smoke --op softmax --kernel naive --dtype f16 --quiet)
now() { echo $((10#$(date +%s%3N))); }
begin=$(now)
exits 0 "$validate" run "${some[@]}" --json unbroken.jsonl
lasts=$(($(now) - begin))  # milliseconds: where kills are likely to hit
untimed unbroken.jsonl >expected
pause() { sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"; }
declare -A sent  # hits by signal
done_kills=0 completed=0 resumed=0

while ((done_kills < kills)); do
  [[ -s part.jsonl ]] && resumed=$((resumed + 1))
  "$validate" run "${some[@]}" --resume part.jsonl >out 2>err </dev/null &
  run=$!
  signals=(KILL TERM INT "INT INT" HUP)
  signal=${signals[RANDOM % 5]}
  pause $((RANDOM % (lasts + lasts / 8 + 1)))
  for one in $signal; do
    kill "-$one" $run 2>/dev/null
    [[ $signal == *" "* ]] && pause $((RANDOM % 30))
  done
  wait $run 2>/dev/null
  code=$?
  checks=$((checks + 1))
  case $code in
    0)
      completed=$((completed + 1))
      same "a run after $resumed resumed ones" "" "$(diff expected <(untimed part.jsonl) | head -3 | cut -c1-300)"
      rm -f part.jsonl
      resumed=0
      continue
      ;;
    130) [[ $signal != KILL ]] || fail "kill -$signal" "exit 137" "exit 130" ;;
    137) [[ $signal == KILL ]] || fail "kill -$signal" "exit 130" "exit 137" ;;
    # Before the program has installed its handlers, a signal ends it at once.
    143 | 129) [[ ! -s part.jsonl || $(tail -1 part.jsonl) != *'"interrupted":false'* ]] || fail "kill -$signal" "exit 130" "exit $code" ;;
    *) fail "kill -$signal" "an end by the signal" "exit $code: $(<err)" ;;
  esac
  done_kills=$((done_kills + 1))
  sent[$signal]=$((${sent[$signal]:-0} + 1))
  [[ $code != 130 || ! -s part.jsonl ]] && continue
  whole_lines part.jsonl "kill -$signal"
  [[ $(tail -1 part.jsonl) == *'"record":"end"'*'"interrupted":true'* ]] ||
    fail "kill -$signal, the last record" "an end, interrupted" "$(tail -1 part.jsonl | cut -c1-200)"
done
exits 0 "$validate" run "${some[@]}" --resume part.jsonl
same "the last resumed run" "" "$(diff expected <(untimed part.jsonl) | head -3 | cut -c1-300)"
checks=$((checks + 1))
none_left() { [[ -z $(running "$validate") ]]; }
until_so none_left || fail "$done_kills kills" "no process left" "$(running "$validate")"
for signal in "${!sent[@]}"; do printf '%s %s  ' "${sent[$signal]}" "$signal"; done
printf '= %s kills, %s runs completed and equal to the unbroken one\n' "$done_kills" "$((completed + 1))"
verdict
