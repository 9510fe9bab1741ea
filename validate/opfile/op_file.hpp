// SPDX-License-Identifier: Apache-2.0
// Ops that files describe, as JSON (docs/own-op.md):
//   {"op": "geglu", "axes": {"tokens": 0}, "inputs": {"gate": "tokens ffn", "up": "tokens ffn"}, "outputs": {"y": "tokens ffn"},
//    "formula": ["y = gelu_erf(gate) * up"]}
#pragma once

#include <string>
#include <vector>

#include "validate/opfile/own_op.hpp"

namespace assay {

// Adds the ops of these files, JSON or Python, to the program's, in this process and in those that it starts.  Call it before any
// op is looked for.  Throws BadInput, one sentence that begins with the file and the place in it.
void use_op_files(const std::vector<std::string>& paths);

// Throws BadInput if this process has no kernel of an op in use that is among `chosen`, or of any if that is empty: it would not
// be judged.
void require_kernels_of_files(const std::vector<std::string>& chosen);

// Flags by which a command can be repeated, with those before them that name the files in use: "--op-file geglu.json --plugin
// ...".
std::string with_op_files(const std::string& flags);

// Reads one.  Throws BadInput.
OwnOp read_op_file(const std::string& path);

}  // namespace assay
