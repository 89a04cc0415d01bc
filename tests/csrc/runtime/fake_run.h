// Inputs and outputs of fake_model.c, and what it must answer.
#pragma once

#include <cmath>
#include <vector>

#include "runtime/session.h"

namespace cuvil::test {

alignas(64) inline constexpr float kWeights[4] = {1, 2, 3, 4};

inline std::span<const uint8_t> weights() { return {reinterpret_cast<const uint8_t*>(kWeights), sizeof(kWeights)}; }

/// One run at N rows.
class FakeRun {
 public:
  explicit FakeRun(int64_t rows, int64_t row = 0) : rows_(rows), row_(row) {
    const size_t n = static_cast<size_t>(rows);
    for (size_t i = 0; i < n * 4; ++i) image_.push_back(static_cast<float>(i % 7) - 3);
    for (size_t i = 0; i < n; ++i) scale_.push_back(static_cast<float>(i % 3) - 0.5f);
    picked_.assign(4, NAN);
    sums_.assign(n, NAN);
    total_.assign(1, NAN);
    image_shape_[0] = scale_shape_[0] = rows;
  }

  std::vector<InputArray> inputs() {
    return {{image_.data(), image_.size() * 4, image_shape_},
            {scale_.data(), scale_.size() * 4, scale_shape_},
            {&row_, 8, {}}};
  }
  std::vector<Shape> shapes() { return {image_shape_, scale_shape_, {}}; }
  std::vector<OutputArray> outputs() {
    return {{picked_.data(), 16}, {sums_.data(), sums_.size() * 4}, {total_.data(), 4}};
  }
  /// Whether the outputs are right (exactly: the sums are done in the same order).
  bool right() const {
    float total = 0;
    for (size_t n = 0; n < scale_.size(); ++n) {
      float sum = 0;
      for (size_t c = 0; c < 4; ++c) {
        float value = image_[n * 4 + c] * kWeights[c] * scale_[n];
        value = value > 0 ? value : 0;
        sum += value;
        if (static_cast<int64_t>(n) == row_ && picked_[c] != value) return false;
      }
      if (sums_[n] != sum) return false;
      total += sum;
    }
    return total_[0] == total;
  }
  void forget() {
    picked_.assign(4, NAN);
    sums_.assign(static_cast<size_t>(rows_), NAN);
    total_[0] = NAN;
  }

 private:
  int64_t rows_, row_;
  int64_t image_shape_[2] = {0, 4}, scale_shape_[1] = {0};
  std::vector<float> image_, scale_, picked_, sums_, total_;
};

}  // namespace cuvil::test
