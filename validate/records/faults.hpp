// SPDX-License-Identifier: Apache-2.0
// FOLDER/OP/faults.txt: for each broken kernel of an op a case that shows its fault, so that a test need not search for one.
//
//   [KERNEL]        the file broken/KERNEL.cu, or an edit of a right kernel:
//   fault: TEXT     what is wrong; then `caught by:`, `kernel:` and the lines of the edit (cmake/faults.py), kept as they are
//   after: LINE     where the fault needs earlier calls: a case that the same process judges before
//   witness: LINE   the case, as `validate replay` takes it
//   tier: T1        the tier that fails it (docs/judging.md)
#pragma once

#include <span>
#include <string>
#include <vector>

#include "validate/records/record.hpp"

namespace assay {

struct Fault {
  std::string kernel;
  std::string after{};  // a repro line; empty: the witness fails alone
  std::string witness;  // a repro line
  Tier tier = Tier::T1;
  std::string edit{};  // its lines, each with its end; empty: the fault is a file
};

// The file of an op in a folder laid out like cuda/.
std::string faults_path(const std::string& folder, const std::string& op);
// Reads it.  Throws BadInput, naming file and line, if it is missing or not of this form.
std::vector<Fault> read_faults(const std::string& path);
// The same, but a fault may lack its witness, as a new edit does; nothing if there is no file.
std::vector<Fault> read_edits(const std::string& path);
// The text of the file, sorted by kernel.
std::string faults_text(std::vector<Fault> faults);

}  // namespace assay
