// SPDX-License-Identifier: Apache-2.0
// What a run was asked to judge, and how another run goes on from its record file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "validate/command/commands.hpp"
#include "validate/records/output_file.hpp"

namespace assay {

// What the head of a run's records says of its tasks.
RunHead::Plan plan_of(const std::vector<Task>& tasks, const RunFlags& flags);

// A record file that a run writes.
struct Begun {
  std::unique_ptr<JsonLines> file;  // null: no file was asked for
  std::vector<Record> records;      // of an earlier run: cases that it judged
};

// Opens the record file of an earlier run, and takes from `tasks` what it judged.  The file then holds its head and these cases.
// A file that does not exist or holds no whole line is begun with `head`.  Throws BadInput if the file is of another run.
Begun resume(const std::string& path, std::vector<Task>& tasks, const RunHead& head);

}  // namespace assay
