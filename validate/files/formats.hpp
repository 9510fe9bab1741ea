// SPDX-License-Identifier: Apache-2.0
// What the formats of tensor files share.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "validate/files/tensor_file.hpp"

namespace assay {

inline constexpr std::int64_t kMostFileExtent = std::int64_t{1} << 60;  // of an axis, and of a tensor's bytes

// Bytes of a shape with elements of this size; -1: more than kMostFileExtent.
std::int64_t bytes_of(const std::vector<std::int64_t>& shape, std::int64_t element);

// Whether the elements are texts of .npz.
bool is_text(const FileTensor&);

// Adds a member of an .npz, a .npy file, to the tensors or to the metadata.  Throws BadInput, a sentence about "it".
void add_npy(const std::string& name, std::span<const std::byte> bytes, TensorFile& to);
std::string npy_header(std::string_view descr, std::span<const std::int64_t> shape);

// The pieces of a file, in order.  Those that are no tensor's data are kept in `own`.
void safetensors_pieces(const TensorFile&, std::deque<std::string>& own, std::vector<std::string_view>& pieces);
void npz_pieces(const TensorFile&, std::deque<std::string>& own, std::vector<std::string_view>& pieces);

}  // namespace assay
