// SPDX-License-Identifier: Apache-2.0
// A launch file: how the entries of a PTX module are launched for a case of an op (docs/ptx.md).
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "validate/backends/expression.hpp"
#include "validate/worker/listing.hpp"

namespace assay {

// A parameter of an entry, or the members of one that is a struct.
struct LaunchParameter {
  enum class Kind : std::uint8_t { pointer, word, wide, single, workspace };
  struct Member {
    Kind kind = Kind::pointer;
    std::size_t tensor = 0;   // of a pointer
    Expression expression{};  // of a number; of the workspace an offset in bytes
    std::size_t bytes() const { return kind == Kind::word || kind == Kind::single ? 4 : 8; }
  };
  std::vector<Member> members;
  std::size_t bytes() const;  // with the padding of a struct
};

struct FileLaunch {
  std::map<std::string, std::string> entries;  // by dtype
  std::array<Expression, 3> grid, block;
  Expression shared;
  std::vector<LaunchParameter> parameters;
  std::string where;  // FILE:POINTER, for messages
};

struct LaunchFile {
  std::string text;  // of the file
  const Op* op = nullptr;
  ListedKernel kernel;  // without its code
  std::vector<Expression> supports;
  Expression workspace{0.0};
  std::vector<FileLaunch> launches;
};

// Throws BadInput, one sentence that begins with the file and a JSON pointer.
LaunchFile read_launch_file(const std::string& path);

}  // namespace assay
