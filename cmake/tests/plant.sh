# SPDX-License-Identifier: Apache-2.0
# Writes small trees for the self-tests of docs.sh and citations.sh, which source it with $work set.  A line that ends in "!" is a
# violation that the test must find.
tree=$work/tree
plant() {  # plant FILE LINE...
  local file=$1 number=0 line
  shift
  mkdir -p "$(dirname "$tree/$file")"
  for line in "$@"; do
    number=$((number + 1))
    case $line in *!) echo "$file:$number" >>"$work/planted" ;; esac
    echo "${line%!}" >>"$tree/$file"
  done
}
