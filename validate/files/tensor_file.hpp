// SPDX-License-Identifier: Apache-2.0
// Tensors in files, as kernels of other languages and machines read and write them: .safetensors, and .npz, stored or deflated.
// A file may be anything that anyone wrote.  What is read is mapped, not copied, but for members of an .npz that are deflated or
// lie column by column.  So a file that is cut while it is read ends the reading thread with SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/dtype.hpp"

namespace assay {

// A tensor of a file, row-major and without gaps, at any address.
struct FileTensor {
  std::string name;
  std::string dtype;             // as the file names it: "BF16", "<f4"
  std::optional<DType> known{};  // the same in our words; empty: no tensor of an op has it
  std::vector<std::int64_t> shape{};
  std::span<const std::byte> data{};
};

struct TensorFile {
  std::vector<FileTensor> tensors{};
  // Of .safetensors: __metadata__.  Of .npz: texts without axes.
  std::map<std::string, std::string> metadata{};
  std::vector<std::shared_ptr<const void>> memory{};  // that holds the data

  const FileTensor* find(std::string_view name) const;
};

// Reads a file; its first bytes say which format it has.  Throws BadInput, one sentence that begins with the path.
TensorFile read_tensors(const std::string& path);

// Throws BadInput if a file that read_tensors() has mapped has changed since: then any value that was read may be wrong.
void require_unchanged_files();
// The sentence of that error if a mapped file has the address; else null.  For a handler of SIGBUS.
const char* change_at(const void* address);

// Reads the bytes of a file, into which the result refers.  Throws BadInput, a sentence about "it".
TensorFile safetensors_in(std::span<const std::byte> bytes);
TensorFile npz_in(std::span<const std::byte> bytes);

// Writes tensors whose dtype is known, whole or not at all, in the format that the path's ending names.  In .npz, bf16 is written
// as its bits in uint16, and metadata that has a tensor's name is left out.  Throws BadInput.
void write_tensors(const std::string& path, const TensorFile&);
// Throws BadInput if the path names no format, or the file cannot be written.
void require_tensors_writable(const std::string& path);

// Moves the axes of a tensor, whose axis i becomes axis order[i], and its elements with them, into memory of the file's own.
void put_in_order(FileTensor&, const std::vector<std::size_t>& order, TensorFile&);

// The value of a tensor with one element, of any form: a real number, a boolean as yes or no, or a text.  Throws BadInput.
std::string value_text(const FileTensor&);

// "[3, 65]"
std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace assay
