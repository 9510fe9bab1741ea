// SPDX-License-Identifier: Apache-2.0
#include "ptx.hpp"

#include <stdexcept>

#include "block_run.hpp"
#include "findings.hpp"
#include "grid.hpp"
#include "machine.hpp"
#include "place.hpp"

namespace simt::ptx {

namespace {

// Note: it outlives a launch, since a finding leaves the fiber that runs a block without unwinding it.
BlockRun& block_run() {
  static BlockRun run;
  return run;
}

// While it lives, the machine takes a body for a whole block.
struct WholeBlocks {
  WholeBlocks() { detail::running_launch.whole_block = true; }
  ~WholeBlocks() { detail::running_launch.whole_block = false; }
  WholeBlocks(const WholeBlocks&) = delete;
  WholeBlocks& operator=(const WholeBlocks&) = delete;
};

struct Closure {
  const Program& program;
  const std::byte* parameters;
  mutable bool prepared = false;
};

void run_block(const void* closure) {
  const auto& c = *static_cast<const Closure*>(closure);
  if (!c.prepared) block_run().prepare(c.program, c.parameters);
  c.prepared = true;
  block_run().run();
}

}  // namespace

void launch(const Program& program, const Shape& shape, const void* stream, std::span<const std::byte> parameters) {
  if (parameters.size() != program.parameter_bytes)
    throw std::invalid_argument("the bytes of the parameters are not those of the entry");
  const std::string& file = program.module->file;
  const auto line = static_cast<unsigned>(program.function.line);
  const auto& needed = program.function.threads;
  if (needed[0] != 0 && (needed[0] != shape.block.x || needed[1] != shape.block.y || needed[2] != shape.block.z))
    throw Fault({"bad_launch", "a block of other threads than the .reqntid of '" + program.function.name + "'", file,
                 static_cast<int>(line)});
  const Closure closure{program, parameters.data()};
  const WholeBlocks whole;
  try {
    detail::run_grid({.grid = shape.grid,
                      .block = shape.block,
                      .shared_bytes = program.dynamic_at + shape.dynamic_shared_bytes,
                      .body = run_block,
                      .closure = &closure,
                      .where = new_place(file, line, line),
                      .stream = stream,
                      .dependent = shape.dependent});
  } catch (const Fault& fault) {
    Finding f = fault.finding();
    const Where& at = detail::findings.trouble.where;
    if (!f.file.empty() && f.file != file && at.column() != 0)
      f.message += ", at line " + std::to_string(at.column()) + " of " + file;
    throw Fault(f);
  }
}

}  // namespace simt::ptx
