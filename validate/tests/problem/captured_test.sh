#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The goldens against the tensors of datasets/captured, skipped (77) where their package is not to be had.  The argument is the
# binaries' folder; ASSAY_CAPTURED names another folder of the same files.
bin=$(cd "$1" && pwd) || exit 2
manifest=$(cd "$(dirname "$0")/../../.." && pwd)/datasets/captured/manifest.json
of() { sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p" "$manifest" | head -1; }
package=$(of package) version=$(of version) root=${ASSAY_CAPTURED:-$(of root)}
if [[ ! -d $root ]]; then
  echo "skipped: no $root  (apt-get install -y $package)"
  exit 77
fi
here=$(dpkg-query -W -f='${Version}' "$package" 2>/dev/null)
if [[ -z ${ASSAY_CAPTURED:-} && -n $here && $here != "$version" ]]; then
  echo "skipped: $package $here is here, the manifest has the sums of $version"
  exit 77
fi
exec "$bin/assay_tests" "[captured]"
