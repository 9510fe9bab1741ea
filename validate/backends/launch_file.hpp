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
  enum class Kind : std::uint8_t { pointer, word, wide, single, workspace, map };
  struct Member {
    Kind kind = Kind::pointer;
    std::size_t tensor = 0;   // of a pointer or a map
    Expression expression{};  // of a number; of the workspace an offset in bytes
    std::vector<int> box{};   // of a map: elements along each axis, innermost first
    int swizzle = 0;          // of a map: bytes, or 0
    std::size_t bytes() const { return kind == Kind::map ? 128 : kind == Kind::word || kind == Kind::single ? 4 : 8; }
  };
  std::vector<Member> members;
  std::size_t bytes() const;  // with the padding of a struct
};

// A tensor of a case as a tensor map describes it, innermost axis first.
struct MappedTensor {
  void* data = nullptr;
  int rank = 0, element_bytes = 0;
  enum class Element : std::uint8_t { half, bfloat16, single } element{};
  std::int64_t extents[5]{}, strides_bytes[5]{};  // strides of axes 1 to 4
  int box[5]{}, swizzle = 0;
};
// Throws std::runtime_error if the case has no such tensor.
MappedTensor mapped(const LaunchParameter::Member& map, const AssayCall& call);

struct FileLaunch {
  std::map<std::string, std::string> entries;  // by dtype
  std::array<Expression, 3> grid, block;
  Expression shared;
  std::vector<LaunchParameter> parameters;
  bool dependent = false;  // it may begin before the launch before it has ended
  std::string where;       // its file and place, for messages
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
