#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that files which pages and comments name exist.  Prints FILE:LINE of each name that does not:
#   - every relative link of an .md file, and its anchor; every path of the tree that it has in backticks;
#   - every source file or page that a comment of a source file names.
#   citations.sh SOURCE           checks the tree
#   citations.sh --self-test      checks that each kind of violation is found, and nothing else
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LC_ALL=C
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

tracked() {
  git ls-files -co --exclude-standard 2>/dev/null | while read -r file; do [ ! -f "$file" ] || echo "$file"; done | grep . || find . \( -name 'build*' -o -name .git \) -prune -o -type f -printf '%P\n'
}

# Placeholders in a path, OP and <device> and *, stand for any name, {a,b} for either.
paths_awk='
  BEGIN {
    while ((getline line < list) > 0) {
      file[line] = 1; name = line
      while (sub(/^[^\/]*\//, "", name)) suffix[name] = 1
      suffix[line] = 1
      for (folder = line; sub(/\/[^\/]*$/, "", folder);) known[folder] = 1
      if (split(line, part, "/") > 1) top[part[1]] = 1
    }
  }
  function as_pattern(path) {
    gsub(/\.\.\./, "\002", path); gsub(/\*+|<[^>]*>/, "\001", path)
    while (match(path, /(^|[\/_])([A-Z][A-Z]+|stem)/))
      path = substr(path, 1, RSTART - 1 + (substr(path, RSTART, 1) ~ /[\/_]/)) "\001" substr(path, RSTART + RLENGTH)
    gsub(/[.+]/, "[&]", path)
    while (match(path, /\{[^{}]*\}/)) {
      either = substr(path, RSTART + 1, RLENGTH - 2); gsub(/,/, "|", either)
      path = substr(path, 1, RSTART - 1) "(" either ")" substr(path, RSTART + RLENGTH)
    }
    gsub(/\001/, "[^/]*", path); gsub(/\002/, ".*", path)
    return path
  }
  function exists(path, anywhere,   p, f) {
    sub(/:[0-9].*$/, "", path); sub(/\/$/, "", path); sub(/^\.\//, "", path)
    if (path in file || path in known || (anywhere && path in suffix)) return 1
    if (path in decided) return decided[path]
    p = as_pattern(path)
    if (p ~ /[*|]/) {
      for (f in file) if (f ~ ((anywhere ? "(^|/)" : "^") p "$")) return decided[path] = 1
      for (f in known) if (f ~ ("^" p "$")) return decided[path] = 1
    }
    return decided[path] = 0
  }'

# Links, anchors, and paths in backticks.
pages() {
  tracked >"$work/files"
  grep '\.md$' "$work/files" >"$work/md" || return 0
  xargs awk -v list="$work/files" "$paths_awk"'
    function wrong(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; bad = 1 }
    function slug(title) {
      title = tolower(title); gsub(/\]\([^)]*\)/, "", title); gsub(/[^a-z0-9 _-]/, "", title); gsub(/ /, "-", title)
      return title
    }
    FNR == 1 { fenced = 0; if (!(FILENAME in seen)) { seen[FILENAME] = 1; second = 0 } else second = 1 }
    /^ *```/ { fenced = !fenced; next }
    fenced { next }
    !second {
      if (/^#+ /) { title = $0; sub(/^#+ +/, "", title); anchor[FILENAME "#" slug(title)] = 1 }
      for (rest = $0; match(rest, /<a (id|name)="[^"]*"/); rest = substr(rest, RSTART + RLENGTH)) {
        id = substr(rest, RSTART, RLENGTH - 1); sub(/^[^"]*"/, "", id); anchor[FILENAME "#" id] = 1
      }
      next
    }
    {
      text = $0
      while (match(text, /`[^`]+`/)) {
        n = split(substr(text, RSTART + 1, RLENGTH - 2), word, /[ \047"=;()]+/)
        text = substr(text, 1, RSTART - 1) "_" substr(text, RSTART + RLENGTH)
        for (i = 1; i <= n; ++i) {
          w = word[i]; sub(/[.,:]+$/, "", w)
          if (split(w, part, "/") > 1 && part[1] in top && !exists(w, 0)) wrong("there is no " w)
        }
      }
      while (match(text, /\]\([^() ]+\)/)) {
        target = substr(text, RSTART + 2, RLENGTH - 3)
        text = substr(text, RSTART + RLENGTH)
        if (target ~ /^[a-z]+:/) continue
        hash = index(target, "#"); at = hash ? substr(target, hash + 1) : ""
        path = hash ? substr(target, 1, hash - 1) : target
        if (path == "") path = FILENAME
        else {
          folder = FILENAME; if (!sub(/\/[^\/]*$/, "", folder)) folder = ""
          path = (folder == "" ? "" : folder "/") path
          sub(/\/$/, "", path)
          while (sub(/(^|\/)\.\//, "/", path)) {}
          while (match(path, /[^\/]+\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
          sub(/^\//, "", path)
        }
        if (!(path in file) && !(path in known)) wrong("the link leads nowhere: " target)
        else if (at != "" && !((path "#" at) in anchor)) wrong("the link has no such anchor: " target)
      }
    }
    END { exit bad }' < <(cat "$work/md" "$work/md")
}

# Files that comments name.  A name that the same file also uses outside comments is skipped, since the file may create it.
comments() {
  tracked >"$work/files"
  grep -E '\.(hpp|cpp|cu|cuh|cmake|sh|py)$|(^|/)CMakeLists\.txt$' "$work/files" | xargs -r awk -v list="$work/files" "$paths_awk"'
    function tell() {
      for (w in cited) if (index(code, w) == 0) { printf "%s: the comment names %s, which is not there\n", cited[w], w; bad = 1 }
      split("", cited); code = ""
    }
    FNR == 1 { tell(); hash = FILENAME !~ /\.(hpp|cpp|cu|cuh)$/ }
    {
      at = hash ? match($0, /(^|[ \t])#/) : match($0, /(^|[^:"])\/\//)
      if (at == 0) { code = code "\n" $0; next }
      code = code "\n" substr($0, 1, at - 1)
      text = substr($0, at)
      while (match(text, /[A-Za-z0-9_.<>*][A-Za-z0-9_.\/<>*-]*\.(hpp|cpp|cuh|cu|md|cmake|sh|py)/)) {
        w = substr(text, RSTART, RLENGTH); after = substr(text, RSTART + RLENGTH, 1); text = substr(text, RSTART + RLENGTH)
        if (w !~ />/) sub(/^</, "", w)
        if (after ~ /[A-Za-z0-9_]/ || w ~ /^[.*<]/ && w !~ /\//) continue
        if (!exists(w, 1)) cited[w] = FILENAME ":" FNR
      }
    }
    END { tell(); exit bad }'
}

citations() {
  cd "$1" || exit 2
  local status=0
  pages || status=1
  comments || status=1
  return $status
}

if [ "$1" != --self-test ]; then
  citations "$1" && echo "what pages and comments name is there"
  exit
fi

source "$here/plant.sh"
plant ops/add.hpp '// As core/sum.hpp has it, and sum.hpp; reference/OP.cpp is any.' '// See gone.hpp.!' '// See docs/gone.md, and page.md.!' \
  'int x;  // as ops/core/gone.hpp!' 'const char* url = "https://x.hpp"; // about sums' '// Note: <ops/core/sum.hpp>, reference/stem.cpp'
plant ops/core/sum.hpp '// A sum.'
plant reference/add.cpp '// The golden of ops/add.hpp.'
plant cmake/All.cmake '# Writes made.cpp, and not lost.cpp.!' 'file(WRITE made.cpp "")' '# ops/add.hpp'
plant tool.py 'x = 1  '"# see tool.sh!"
plant docs/other.md '# The other page' '## `err/bound`, and more' '<a id="here"></a>' '```' '## no heading' '```'
plant docs/page.md 'See [other](other.md), [more](other.md#errbound-and-more), [here](other.md#here), [up](../ops/add.hpp).' \
  '# Page' 'See [gone](gone.md).!' 'See [no anchor](other.md#gone).!' 'See [fenced](other.md#no-heading).!' \
  'See [not mine](#gone).!' 'See [beyond](../../x.md).!' '[core](../ops/core/), [out](https://x.y/z#q), [me](#page)' \
  'In `ops/add.hpp`, `ops/core/`, `ops/add.hpp:12`, `ops/OP.hpp`, `reference/<op>.cpp`, `ops/*/sum.hpp`, `add/naive`, `a/b`.' \
  'In `ops/gone.hpp`.!' 'In `ops/core/OP.cpp`.!' 'In `run --json ops/gone/x.json`.!' 'In `reference/{add,gone}.hpp`.!' \
  '`ops/{add,core/sum}.hpp`' '```' '[gone](gone.md) `ops/gone.hpp`' '```'

(citations "$tree") >"$work/all" && { echo "violations do not fail the check"; exit 1; }
grep -oE '^[^ :]+:[0-9]+' "$work/all" | sort >"$work/found"
sort "$work/planted" | diff - "$work/found" || { echo "< missed   > false alarm"; cat "$work/all"; exit 1; }
echo "$(wc -l <"$work/found") planted violations found, no false alarm"
