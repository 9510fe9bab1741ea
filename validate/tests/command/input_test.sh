#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that hostile files of records and datasets are refused in one sentence, and that nothing of them reaches a terminal, a page
# or a spreadsheet as a command.  $1: the binaries' folder.
source "$(dirname "$0")/../checks.sh"
run='{"record":"run","schema":1,"version":"0","commit":"c","compiler":"g","build":"b","backend":"cuda","device":"d","host":"h","date":"t","suite":"s","seed":1}'
times='"time_us":{"median":5,"p5":4,"p95":6,"min":3,"max":7,"samples":9},"flops":1,"bytes":{"formula":1,"unfused_formula":1},"copy_rate_bytes_per_s":1,"share_of_copy":0.5,"margin_after_timing":0.3'
row() { echo "{\"record\":\"bench\",\"op\":\"softmax\",\"kernel\":\"$1\",\"dtype\":\"f16\",\"shape\":\"$2\",$times}"; }
{ echo "$run"; row naive rows=1; } >good.jsonl
exits 0 "$validate" report good.jsonl -o good.md
read_by_all() {  # read_by_all PART FILE: report, compare, --same-as, --last-failed, --resume and merge refuse it
  refuses "$1" "$validate" report "$2" -o x.md
  refuses "$1" "$validate" compare good.jsonl "$2"
  refuses "$1" "$validate" compare "$2" good.jsonl
  refuses "$1" "$validate" run --backend simt --suite sanitize --op softmax --same-as "$2"
  refuses "$1" "$validate" run --backend simt --last-failed "$2"
  refuses "$1" "$validate" merge "$2" --json x.jsonl
  refuses "${3-$1}" "$validate" run --backend simt --suite sanitize --resume "$2"
}

# --- depth and numbers
deep=$(printf '[%.0s' $(seq 100000))
{ echo "$run"; echo "{\"record\":\"bench\",\"x\":$deep${deep//[/]}}"; } >deep.jsonl
read_by_all "'deep.jsonl' line 2 is not a record: its lists and objects lie too deep in each other" deep.jsonl "only a record of run can be resumed"
echo "$deep" >deeper.jsonl
read_by_all "'deeper.jsonl' line 1 is not a record: its lists and objects lie too deep in each other" deeper.jsonl
refuses "too deep" "$validate" probe --backend simt --against deep.jsonl
for value in 1e308 1.7e308; do
  sed "2s/\"median\":5/\"median\":$value/" good.jsonl >large.jsonl
  refuses "'large.jsonl' line 2: 'median' is" "$validate" report large.jsonl -o x.html
  refuses "'large.jsonl' line 2: 'median' is" "$validate" compare large.jsonl good.jsonl
done
for value in 1e309 -1e400; do
  sed "2s/\"median\":5/\"median\":$value/" good.jsonl >large.jsonl
  refuses "'large.jsonl' line 2 is not a record: a number of it is out of range" "$validate" report large.jsonl -o x.html
done

# --- no files: nothing waits
mkfifo pipe
for what in "pipe it is a pipe, not a file" "/dev/zero it is a device, not a file" ". Is a directory"; do
  read -r file why <<<"$what"
  read_by_all "cannot read '$file': $why" "$file"
  refuses "cannot read '$file': $why" "$validate" probe --backend simt --against "$file"
done
data() {  # data PART COMMAND...: copies the datasets into `data`, breaks them by the command, and runs
  rm -rf data && cp -r "$sources/datasets" data && eval "$2"
  refuses "$1" "$validate" run --backend simt --suite sanitize --op softmax --datasets data
}
some=data/models/gpt2-124m.json
data "$some: cannot be read: it is a pipe, not a file" "rm $some; mkfifo $some"
data "$some: cannot be read: it is a device, not a file" "rm $some; ln -s /dev/zero $some"
data "data/edges/softmax.json: cannot be read: Is a directory" "rm data/edges/softmax.json; mkdir data/edges/softmax.json"
data "data/models: not a folder of datasets" "rm -r data/models; mkfifo data/models"
data "$some: its lists and objects lie too deep" "echo '$deep' >$some"
data "the text has a control character" "sed -i '0,/\"name\": *\"/s//&\\\\u001b[2J/; 0,/\"source\": *\"/s//&\\\\u001b[2J/' $some"
data "a number is out of range" "sed -i 's/\"hidden\": *[0-9]*/\"hidden\": 1e999/' $some"
bench() { refuses "$1" "$validate" bench --backend simt --op softmax --kernel naive --datasets data; }
rm -rf data && cp -r "$sources/datasets" data
rm data/bench/softmax.json && mkfifo data/bench/softmax.json
bench "data/bench/softmax.json: cannot be read: it is a pipe, not a file"
rm data/bench/softmax.json && echo "{\"shapes\":$deep" >data/bench/softmax.json
bench "data/bench/softmax.json: its lists and objects lie too deep"

# --- control characters and formulas
evil='\u001b[2J\u0007\r\n\u007f\u009b31m'
{
  head=${run/\"device\":\"d\"/\"device\":\"d$evil\"}
  echo "${head/\"commit\":\"c\"/\"commit\":\"@c$evil\"}"
  row "=HYPERLINK(1)$evil" "rows=1"
  for first in + - @; do row "${first}1+1" "${first}x"; done
  echo "{\"record\":\"case\",\"op\":\"softmax\",\"kernel\":\"k$evil\",\"dtype\":\"f16\",\"verdict\":\"failed\",\"reason\":\"r$evil\",\"repro\":\"softmax/k f16 rows=1$evil\"}"
} >evil.jsonl
controls() { LC_ALL=C tr -d '\n' <"$1" | LC_ALL=C grep -c -a -P '[\x00-\x1f\x7f]|\xc2[\x80-\x9f]'; }
for end in md html csv; do
  call "$validate" report evil.jsonl -o evil.$end
  [[ $end == csv ]] && sed -i 's/\r$//' evil.csv
  same "control characters in evil.$end" 0 "$(controls evil.$end)"
  cp "$tmp/out" said && cat "$tmp/err" >>said
  same "control characters of '$called'" 0 "$(controls said)"
done
same "cells of evil.csv that are formulas" 0 "$(grep -c -E '(^|,)"?[=+@-]' <(sed 1d evil.csv | sed -E 's/,-?[0-9.e+-]+//g'))"
holds "evil.csv" "$(<evil.csv)" "'=HYPERLINK(1)"
sed 's/"verdict":"failed"/"verdict":"passed"/' evil.jsonl >before.jsonl
call "$validate" compare before.jsonl evil.jsonl --all
same "compare evil.jsonl" "exit 1" "exit $code"
cp "$tmp/out" said && cat "$tmp/err" >>said
same "control characters of '$called'" 0 "$(controls said)"
call "$validate" replay --backend simt --from evil.jsonl
cp "$tmp/out" said && cat "$tmp/err" >>said
same "control characters of '$called'" 0 "$(controls said)"
verdict
