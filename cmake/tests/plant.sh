# SPDX-License-Identifier: Apache-2.0
# For the self-tests of pages, which source it with $work set.
# A small tree, in which a line that ends in "!" is a violation.
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
