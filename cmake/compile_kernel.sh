#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles a file of assay_add_kernel(), and if that fails names each CUDA word of the kernel that is no word of the device layer,
# with ours from the tables of docs/device-words.md.
#   compile_kernel.sh PAGE FOLDER COMPILER ARGUMENT...     FOLDER: of the generated files
page=$1 folder=$2
shift 2
kernel=''
for argument; do
  case $argument in "$folder"/*.cpp | "$folder"/*.cu) kernel=$argument ;; esac
done
"$@"
code=$?
[ -n "$kernel" ] || exit $code
file=$(sed -n 's/^#include "\(.*\)"$/\1/p' "$kernel")
room=$(sed -n 's/^\/\/ \([a-z0-9_]*\) \(.*\)$/\1, *\2/p' "$kernel")
if [ $code != 0 ]; then
  awk -v page="$page" -v file="$file" '
    FILENAME == page {
      if (!/^\| `/) next
      split($0, column, / \| /)
      sub(/^\| `/, "", column[1])
      for (i = 1; i <= 3; ++i) gsub(/^ *`|` *$/, "", column[i])
      word = ""
      if (match(column[3], /^\047[A-Za-z_0-9]*\047 (was not|has not)/)) { word = column[3]; sub(/^\047/, "", word); sub(/\047.*/, "", word) }
      else if (column[3] ~ /^inline assembly/) word = "asm"
      else if (column[3] ~ /^expected primary-expression/) word = "<<<"
      if (word == "" || word in ours) next
      sub(/ *\|$/, "", column[4])
      ours[word] = column[2] == "–" ? column[4] : "write like \"" column[2] "\""
      next
    }
    {
      code = $0
      gsub(/"[^"]*"/, "\"\"", code)
      if (block) { if (!sub(/^.*\*\//, "", code)) next; block = 0 }
      gsub(/\/\*([^*]|\*[^\/])*\*\//, "", code)
      sub(/\/\/.*/, "", code)
      if (sub(/\/\*.*/, "", code)) block = 1
      for (word in ours)
        if (!(word in told) && (word == "<<<" ? index(code, word) : code ~ "(^|[^A-Za-z0-9_:])" word "([^A-Za-z0-9_]|$)")) {
          told[word] = 1
          printf "%s:%d: %s is a word of CUDA alone; %s  (%s)\n", file, FNR, word, ours[word], page
        }
    }' "$page" "$file" | sort -t: -k2,2n >&2
fi
if ! grep -q "ROOM( *$room *)" "$file"; then
  echo "$file: it opens no namespace assay::ROOM($(echo "$room" | tr -d '*')); a kernel with a launcher of its own is judged as a plugin  ($page, door.md beside it)" >&2
  exit 1
fi
exit $code
