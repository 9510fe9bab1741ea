#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the code blocks of all pages.  Prints FILE:LINE of each block that breaks a rule:
#   - every `validate` line of a block (```, ```console, ```sh) must parse; it is not run;
#   - every `$` line of a ```console block is run and must print the lines below it (```console no-run: it is not run);
#   - a block that names a file, ```cpp FILE, must be an excerpt of it;
#   - in docs/device-words.md, the compiler must give the table's error for each CUDA word, and accept each of our words.
# An expected line `...` stands for any lines, `...` within a line for any text.  Times, dates, commits, versions of the judge, core
# counts, build paths and runs of spaces are not compared.
#   docs.sh SOURCE BUILD COMPILER     checks the tree by the programs in BUILD/bin; COMPILER is a g++, or empty
#   docs.sh --self-test COMPILER      checks that each kind of violation is found, and nothing else
set -uo pipefail
export LC_ALL=C NO_COLOR=1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

tracked() {
  git ls-files -co --exclude-standard 2>/dev/null || find . \( -name 'build*' -o -name .git \) -prune -o -type f -printf '%P\n'
}

# blocks: the lines of the code blocks of all pages as FILE:LINE<tab>KIND<tab>LINE, KIND the words after the fence, or plain.
blocks() {
  tracked | grep '\.md$' | xargs -r awk '
    FNR == 1 { fenced = 0 }
    /^ *```/ { kind = $0; sub(/^ *```/, "", kind); fenced = !fenced; next }
    fenced { printf "%s:%d\t%s\t%s\n", FILENAME, FNR, kind == "" ? "plain" : kind, $0 }'
}

# Command lines, which are parsed and not run.  The text from a pipe or a redirection on is cut off.
commands() {  # commands BIN
  local place kind line words status=0
  while IFS=$'\t' read -r place kind line; do
    case $kind in plain | console* | sh | bash) ;; *) continue ;; esac
    [[ $line =~ ^(\$ )?([A-Z_]+=[^ ]* )*([A-Za-z0-9_./-]*/)?validate( .*)?$ ]] || continue
    line=$(sed -E 's/ ([|<>]|[0-9]?>&?|&&|;).*//; s/ +# .*//; s/^\$ //; s/^([A-Z_]+=[^ ]* )*//' <<<"$line")
    set -f
    if ! eval "words=($line)" 2>/dev/null; then
      echo "$place: the line is no command: $line"
      status=1
      continue
    fi
    set +f
    local said
    said=$(ASSAY_PARSE_ONLY=1 "$1/${words[0]##*/}" "${words[@]:1}" 2>&1 </dev/null) && continue
    echo "$place: $said"
    status=1
  done < <(blocks)
  return $status
}

normalised() {
  sed -E 's/[0-9]+(\.[0-9]+)?(e-?[0-9]+)? ?(ns|us|µs|ms|s|min|h)([^A-Za-z0-9]|$)/N \3\4/g
    s/[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:]+Z)?/DATE/g
    s/commit [0-9a-f]{7,40}/commit HASH/g; s/ judge=[0-9a-f]+/ judge=HASH/g; s/[0-9]+ cores?/N cores/g; s#(\.\./)+rooms/[a-z]+/##g; s#/[^ :]*/(build/bin/)#\1#g
    s/[ \t]+/ /g; s/ $//' "$@"
}

# A run that takes 10 s or more tells what the threads did: by the host's speed.
without_work() { awk '/^ work of all threads: / { told = 1 } told { told = !/ s$/; next } { print }'; }

# same EXPECTED GOT: compares files; `...` as above.
same() {
  awk '
    function fits(pattern, text,   n, part, i, at) {
      n = split(pattern, part, /\.\.\./)
      if (n == 1) return pattern == text
      if (substr(text, 1, length(part[1])) != part[1]) return 0
      text = substr(text, length(part[1]) + 1)
      for (i = 2; i < n; ++i) {
        if ((at = index(text, part[i])) == 0) return 0
        text = substr(text, at + length(part[i]))
      }
      return length(text) >= length(part[n]) && substr(text, length(text) - length(part[n]) + 1) == part[n]
    }
    FNR == NR { want[++m] = $0; next }
    { got[++k] = $0 }
    END {
      star = 0
      for (i = j = 1; j <= k;) {
        if (i <= m && want[i] ~ /^ ?\.\.\.$/) { star = i++; mark = j }
        else if (i <= m && fits(want[i], got[j])) { ++i; ++j }
        else if (star) { if (i > furthest) { furthest = i; there = j } i = star + 1; j = ++mark }
        else { printf "  expected  %s\n  got       %s\n", i <= m ? want[i] : "nothing more", got[j]; exit 1 }
      }
      while (i <= m && want[i] ~ /^ ?\.\.\.$/) ++i
      if (i > m) exit 0
      if (furthest > i) { i = furthest }
      printf "  expected  %s\n  got       no such line; the last: %s\n", want[i], got[k]; exit 1
    }' "$1" "$2"
}

# Console blocks, which are run in a folder with links to the tree and its build.
consoles() {  # consoles BUILD
  local entry block status=0
  mkdir -p "$work/run"
  for entry in * .ci; do [ ! -e "$entry" ] || [ "$entry" = build ] || ln -sfn "$PWD/$entry" "$work/run/$entry"; done
  ln -sfn "$(realpath "$1")" "$work/run/build"
  rm -f "$work"/block.*
  blocks | awk -F '\t' -v to="$work/block" '
    $2 != "console" { open = 0; next }
    { place = $1; line = substr($0, length($1) + length($2) + 3); number = $1; sub(/.*:/, "", number) }
    open && number != last + 1 { open = 0 }
    { last = number }
    line ~ /^\$ / {
      file = sprintf("%s.%04d", to, ++n); open = 1
      print place > (file ".at"); print substr(line, 3) > (file ".command"); printf "" > file
      next
    }
    open { print line > file }'
  for block in "$work"/block.????; do
    [ -f "$block" ] || continue
    (cd "$work/run" && timeout 3600 bash "$block.command" >"$work/output" 2>&1 </dev/null)
    normalised "$work/output" | without_work >"$work/got"
    normalised "$block" >"$work/want"
    same "$work/want" "$work/got" >"$work/why" && continue
    echo "$(<"$block.at"): $(<"$block.command")"
    cat "$work/why"
    status=1
  done
  return $status
}

# The lines of an excerpt must be in the file that its fence names.
excerpts() {
  local block status=0
  rm -f "$work"/excerpt.*
  blocks | awk -F '\t' -v to="$work/excerpt" '
    $2 !~ /^[a-z]+ .*[.\/]/ { open = 0; next }
    { line = substr($0, length($1) + length($2) + 3); number = $1; sub(/.*:/, "", number); of = $2; sub(/^[a-z]+ /, "", of) }
    !open || number != last + 1 {
      file = sprintf("%s.%04d", to, ++n); open = 1
      print $1 > (file ".at"); print of > (file ".of"); print "..." > file
    }
    { last = number; print line > file }'
  for block in "$work"/excerpt.????; do
    [ -s "$block" ] || continue
    echo ... >>"$block"
    [ -f "$(<"$block.of")" ] || { echo "$(<"$block.at"): there is no $(<"$block.of")"; status=1; continue; }
    same "$block" "$(<"$block.of")" >"$work/why" && continue
    echo "$(<"$block.at"): not in $(<"$block.of")"
    cat "$work/why"
    status=1
  done
  return $status
}

# The tables of device words, with the head | CUDA | ...: | `CUDA` | `ours` | `error` | ...  The error is the compiler's or that of kernel_rules.sh.
device_words() {  # device_words COMPILER
  local page=docs/device-words.md status=0
  [ -f "$page" ] || return 0
  awk -F '|' '!/^\|/ { words = 0 } /^\| CUDA / { words = 1 } words && /^\| `/ && NF > 4 {
    for (i = 2; i <= 4; ++i) gsub(/^ *`?|`? *$/, "", $i)
    printf "%d\t%s\t%s\t%s\n", FNR, $2, $3, $4
  }' "$page" >"$work/words"
  [ -s "$work/words" ] || { echo "$page: no table of words"; return 1; }
  { printf '#include "cuda/core/kernel.cuh"\n#include "cuda/core/hopper.cuh"\nnamespace assay::on_simt {\n__global__ void k(float*, int) {}\n'
    awk -F '\t' '{
      for (i = 2; i <= 3; ++i)
        if ($i != "" && $i != "–")
          printf "#line %d \"%s\"\nvoid word_%d_%d(half* h, float* x, float* y, int i, void* stream) { %s }\n",
            $1, i == 2 ? "theirs" : "ours", FNR, i, $i
    }' "$work/words"
    printf '}\n'; } >"$work/words.cpp"
  local march=
  case $(uname -m) in x86_64) march=-march=x86-64-v3 ;; esac
  "$1" -std=c++20 $march -fsyntax-only -Wno-all -Wno-unknown-pragmas -I. -Isimt "$work/words.cpp" >"$work/said" 2>&1
  grep '^ours:.*error' "$work/said" | sed "s#^ours:#$page:#" && status=1
  mkdir -p "$work/rules/cuda/op"
  { printf '// SPDX-License-Identifier: Apache-2.0\n// Idea.\nnamespace assay::ROOM(op, k) {\n'
    cut -f 2 "$work/words"; } >"$work/rules/cuda/op/k.cu"
  bash "$here/kernel_rules.sh" "$work/rules" >"$work/ruled"
  local number=0 line theirs ours error
  while IFS=$'\t' read -r line theirs ours error; do
    number=$((number + 1))
    [ -n "$error" ] && [ "$error" != – ] || continue
    grep -F -q "error: $error" <(grep "^theirs:$line:" "$work/said") && continue
    grep "^cuda/op/k.cu:$((number + 3)):" "$work/ruled" | grep -F -q "$error" && continue
    echo "$page:$line: nobody says of $theirs: $error"
    status=1
  done <"$work/words"
  return $status
}

docs() {  # docs SOURCE BUILD COMPILER
  local status=0
  cd "$1" || exit 2
  commands "$2/bin" || status=1
  consoles "$2" || status=1
  excerpts || status=1
  [ -z "${3-}" ] || device_words "$3" || status=1
  return $status
}

if [ "$1" != --self-test ]; then
  docs "$@" && echo "every code block does what it shows"
  exit
fi

source "$here/plant.sh"
plant ops/core/sum.hpp '// A sum.'
plant docs/page.md '```console' '$ echo a  b; echo 12.3 s' 'a b' '7 s' '$ printf "1\n2\n3\n4\n"' '1' '...' '4' '$ echo a long line' \
  'a ... line' '$ echo wrong!' 'right' '$ printf "1\n2\n"!' '1' '$ printf "1\n"!' '1' '2' '$ printf "1\n2\n3\n"!' '...' '4' \
  '$ echo a long line!' 'a ... word' '$ true' '$ echo something!' '```' '' '```console no-run' '$ build/bin/validate run --wrong!' \
  'no' '```' '```' 'build/bin/validate run --right' 'A=1 build/bin/validate run --wrong!' '$ validate run --wrong | cat!' \
  'validate run "--right" >x 2>&1' 'make validate --wrong' '```' '```text' 'validate run --wrong' '```' \
  '```cpp ops/core/sum.hpp' '// A sum.' '```' '```cpp ops/core/sum.hpp' '// Two sums.!' '```' '```cpp ops/none.hpp' 'int x;!' '```' \
  '```cpp' 'int none;' '```' '```sh' 'validate run --wrong!' '```'
[ -z "${2-}" ] || plant docs/device-words.md '| CUDA | ours | error | checks |' '|---|---|---|---|' \
  "| \`__syncthreads();\` | \`sync_block();\` | \`'__syncthreads' was not declared in this scope\` | all |" \
  '| `asm("x");` | – | `inline assembly` | – |' '| `i = 1;` | `i = 2;` | – | – |' \
  '| `i = 1;` | – | `not declared` | !' '| `gone();` | `gone_too();` | – | !' \
  '' '| field | type | default | meaning |' '|---|---|---|---|' '| `gone();` | `gone_too();` | `none` | no word |'
plant cuda/core/hopper.cuh ''
plant cuda/core/kernel.cuh '#define __global__' 'struct half {}; inline void sync_block() {}'
mkdir -p "$tree/build/bin"
printf '#!/bin/sh\n[ -n "$ASSAY_PARSE_ONLY" ] || exit 3\ncase " $* " in *" --wrong "*) echo unknown flag; exit 2 ;; esac\n' \
  >"$tree/build/bin/validate"
chmod +x "$tree/build/bin/validate"

(docs "$tree" "$tree/build" "${2-}") >"$work/all" && { echo "violations do not fail the check"; exit 1; }
grep -oE '^[^ :]+:[0-9]+' "$work/all" | sort >"$work/found"
sort "$work/planted" | diff - "$work/found" || { echo "< missed   > false alarm"; cat "$work/all"; exit 1; }
echo "$(wc -l <"$work/found") planted violations found, no false alarm"
