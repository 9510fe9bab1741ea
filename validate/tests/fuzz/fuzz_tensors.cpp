// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of tensors, .safetensors or .npz, and as a member of an .npz.  Of what is taken, every tensor lies in the
// file or in memory of its own, and is written and read again as it was.
#include <deque>
#include <numeric>
#include <string>

#include "validate/files/formats.hpp"
#include "validate/tests/fuzz/fuzz.hpp"

using namespace assay;
using namespace assay::fuzz;

namespace {

void require_sound(const TensorFile& file) {
  unsigned sum = 0;
  for (const FileTensor& t : file.tensors) {
    for (const std::byte b : t.data) sum += std::to_integer<unsigned>(b);  // touches each, for the sanitizers
    if (t.known)
      require(bytes_of(t.shape, size_of(*t.known)) == static_cast<std::int64_t>(t.data.size()),
              "a tensor has the bytes of its shape");
  }
  require(sum < ~0u, "fewer bytes than that");
}

using Pieces = void (*)(const TensorFile&, std::deque<std::string>&, std::vector<std::string_view>&);

void require_kept(TensorFile file, Pieces pieces_of, TensorFile (*read)(std::span<const std::byte>)) {
  std::erase_if(file.tensors, [](const FileTensor& t) { return !t.known || t.name.size() > 1000; });
  for (const FileTensor& t : file.tensors)  // Note: bytes that are no UTF-8 are replaced
    for (const char c : t.name)
      if (static_cast<unsigned char>(c) >= 0x80 || &t != file.find(t.name)) return;
  if (file.find("__metadata__")) return;
  file.metadata.clear();
  std::deque<std::string> own;
  std::vector<std::string_view> pieces;
  pieces_of(file, own, pieces);
  std::string whole;
  for (const std::string_view piece : pieces) whole += piece;
  const TensorFile again = read(std::as_bytes(std::span(whole)));
  require(again.tensors.size() <= file.tensors.size(), "no tensor is added");
  for (const FileTensor& t : again.tensors) {
    const FileTensor* const before = file.find(t.name);
    require(before && before->known == t.known && before->shape == t.shape, "a tensor is read as it was written");
    require(std::equal(t.data.begin(), t.data.end(), before->data.begin(), before->data.end()), "and has its elements");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto as = [&](auto read) {
    accepted([&] {
      const TensorFile file = read(bytes);
      require_sound(file);
      require_kept(file, safetensors_pieces, safetensors_in);
      require_kept(file, npz_pieces, npz_in);
    });
  };
  as(safetensors_in);
  as(npz_in);
  as([](std::span<const std::byte> member) {
    TensorFile file;
    add_npy("x", member, file);
    return file;
  });
  return 0;
}
