// SPDX-License-Identifier: Apache-2.0
// Sets of kernels that are not built in, such as the broken ones: each is a program, a worker (validate/CMakeLists.txt).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Program and arguments of a set's worker; the last is the backend.  `set`: the name of one beside this program, or a file.  One
// beside this program confines itself, as our own worker does; a file from elsewhere is confined before it starts, as any
// program. Throws BadInput if there is none.
std::vector<std::string> worker_of_set(const std::string& set, std::string_view backend);

}  // namespace assay
