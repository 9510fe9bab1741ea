#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Continues a sentence with the small checkpoint: 80 bytes by the golden decoder, and the first of them by our kernels, on the
# simulated GPU or on a real one.  Both must agree.
#   generate.sh BIN [TEXT]        BIN: the folder of the program validate
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=$1 text=${2:-The word hacker means}
checkpoint=$tree/datasets/checkpoints/bytes

golden=$("$bin/validate" model "$checkpoint" --golden --prompt-text "$text" --tokens 80)
echo "golden   $golden"
kernels=$("$bin/validate" model "$checkpoint" --prompt-text "$text" --tokens 8)
echo "kernels  $kernels"
[ "${golden:0:${#kernels}}" = "$kernels" ] || { echo "the kernels' text is not the golden's"; exit 1; }
