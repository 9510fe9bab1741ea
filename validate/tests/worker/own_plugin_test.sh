#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a GPU: kernels of the tree as a plugin get the records of the same built in, but for their names.
#   own_plugin_test.sh BINARIES PLUGINS
source "$(dirname "$0")/../checks.sh"
plugin=$(cd "$2" && pwd -P)/own.so
outcomes() { grep '"record":"case"' "$1" | sed -E 's/_again"/"/; s/"(loaded|code)":"[^"]*",|"not_checked":\[[^]]*\],|"seconds":[^,}]*,?|"repro":"[^"]*"//g' | sort; }
"$validate" run --backend cuda --skip-exit 77 --plugin "$plugin" --suite smoke --quiet --json theirs.jsonl
code=$?
[ $code != 77 ] || exit 77
same "verdict of the plugin" 0 $code
for kernel in softmax/warp_row layernorm/warp_row linear/mma_tiled; do
  exits 0 "$validate" run --backend cuda --kernel $kernel --suite smoke --json ours.jsonl
  outcomes ours.jsonl >ours
  grep "\"op\":\"${kernel%/*}\"" theirs.jsonl >of_kernel
  outcomes of_kernel >theirs
  same "records of $kernel" "$(<ours)" "$(<theirs)"
done
exits 0 "$validate" doctor --backend cuda --plugin "$plugin"
exits 0 "$validate" bench --plugin "$plugin" --op softmax --kernel warp_row,warp_row_again --shape "rows=4096 cols=1024" --dtype f16 --times-only --json times.jsonl
same "rows of both" 2 "$(grep -c '"kernel":"warp_row\(_again\)\?".*"processes":6' times.jsonl)"
verdict
