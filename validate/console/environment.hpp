// SPDX-License-Identifier: Apache-2.0
// The variables of the environment that belong to this program: ASSAY_*.
#pragma once

namespace assay {

// Throws BadInput if one of them has a value that it may not have, whether or not this call of the program would read it, or if a
// variable has almost the name of one.  docs/readers.md lists them.
void check_environment();

}  // namespace assay
