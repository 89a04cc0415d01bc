// Every operation of the vector interface, lane by lane, against plain C++; partial accesses next to a page without
// access, so that touching one element too many is a crash.
#include "simd/simd.h"

#include <math.h>
#include <string.h>

#include "../check.h"
#include "../guarded.h"

namespace {

using namespace cuvil::simd;
using cuvil::test::Guard;
using cuvil::test::Guarded;

const float kValues[] = {0.0f,  -0.0f,  1.0f,   -1.0f, 0.5f,     1.5f,      2.5f, -2.5f,           3.49f,     -3.51f,
                         1e10f, -1e10f, 1e-40f, NAN,   INFINITY, -INFINITY, 7.0f, 0x1.fffffep127f, 8388609.0f};
constexpr int kValueCount = sizeof(kValues) / sizeof(kValues[0]);

bool same(float a, float b) { return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b)); }
bool same_number(float a, float b) { return (isnan(a) && isnan(b)) || a == b; }

// Vectors whose lanes run over all pairs of kValues.
template <class Body>
void for_all_pairs(Body body) {
  float a[kLanes], b[kLanes];
  int lane = 0;
  for (int i = 0; i < kValueCount * kValueCount; ++i) {
    a[lane] = kValues[i / kValueCount];
    b[lane] = kValues[i % kValueCount];
    if (++lane == kLanes) body(a, b), lane = 0;
  }
}

#define CHECK_BINARY(vector, scalar, equal)                                                     \
  for_all_pairs([](const float* a, const float* b) {                                            \
    float out[kLanes];                                                                          \
    [[maybe_unused]] const F32 x = F32::load(a), y = F32::load(b);                              \
    (vector).store(out);                                                                        \
    for (int i = 0; i < kLanes; ++i) {                                                          \
      [[maybe_unused]] const float p = a[i], q = b[i];                                          \
      CHECK(equal(out[i], (scalar)), "%g, %g", static_cast<double>(p), static_cast<double>(q)); \
    }                                                                                           \
  })

#define CHECK_COMPARE(op)                                                                              \
  for_all_pairs([](const float* a, const float* b) {                                                   \
    uint8_t out[kLanes];                                                                               \
    (F32::load(a) op F32::load(b)).store(out);                                                         \
    for (int i = 0; i < kLanes; ++i)                                                                   \
      CHECK(out[i] == (a[i] op b[i]), "%g, %g", static_cast<double>(a[i]), static_cast<double>(b[i])); \
  })

float nan_max(float p, float q) { return isnan(p) || isnan(q) ? NAN : p > q ? p : q; }
float nan_min(float p, float q) { return isnan(p) || isnan(q) ? NAN : p < q ? p : q; }

void check_arithmetic() {
  CHECK_BINARY(x + y, p + q, same);
  CHECK_BINARY(x - y, p - q, same);
  CHECK_BINARY(x * y, p * q, same);
  CHECK_BINARY(x / y, p / q, same);
  CHECK_BINARY(-x, -p, same_number);
  CHECK_BINARY(max(x, y), nan_max(p, q), same_number);
  CHECK_BINARY(min(x, y), nan_min(p, q), same_number);
  CHECK_BINARY(abs(x), fabsf(p), same);
  CHECK_BINARY(sqrt(x), sqrtf(p), same);
  CHECK_BINARY(floor(x), floorf(p), same);
  CHECK_BINARY(ceil(x), ceilf(p), same);
  CHECK_BINARY(trunc(x), truncf(p), same);
  CHECK_BINARY(round_even(x), nearbyintf(p), same);
  CHECK_BINARY(copysign(x, y), copysignf(p, q), same);
  CHECK_BINARY(relu(x), isnan(p) ? p : p > 0 ? p : 0.0f, same_number);
  CHECK_BINARY(clamp(x, F32::zero(), F32::splat(6.0f)), isnan(p) ? p : p < 0 ? 0.0f : p > 6 ? 6.0f : p, same_number);
  CHECK_BINARY(select(x < y, x, y), p < q ? p : q, same);
  CHECK_BINARY(fma(x, y, x), isnan(fmaf(p, q, p)) ? NAN : fmaf(p, q, p),
               [](float u, float v) { return same(u, v) || kLanes == 1; });
  CHECK_BINARY(fma(x, y, -(x * y)), fmaf(p, q, -(p * q)),
               [](float u, float v) { return same_number(u, v) || fabsf(v) < 1e-30f || isnan(v) || isinf(v); });
}

void check_compares() {
  CHECK_COMPARE(==);
  CHECK_COMPARE(!=);
  CHECK_COMPARE(<);
  CHECK_COMPARE(<=);
  CHECK_COMPARE(>);
  CHECK_COMPARE(>=);
  const Mask none = Mask::splat(false), every = Mask::splat(true), one = Mask::first(1);
  CHECK(!any(none) && !all(none) && any(every) && all(every) && any(one) && all(one) == (kLanes == 1), "any, all");
  CHECK(!any(none & every) && all(none | every) && all(none ^ every) && all(~none) && !any(~every), "logic");
  CHECK(!any(is_nan(F32::splat(1.0f))) && all(is_nan(F32::splat(NAN))), "is_nan");
}

template <int k>
void check_lane_fma() {
  float a[kLanes], b[kLanes], c[kLanes], out[kLanes];
  for (int i = 0; i < kLanes; ++i) a[i] = 2.0f + i, b[i] = 3.0f - i, c[i] = 0.5f * i;
  fma_lane<k>(F32::load(c), F32::load(b), F32::load(a)).store(out);
  for (int i = 0; i < kLanes; ++i) CHECK(out[i] == c[i] + b[i] * a[k], "lane %d of k %d", i, k);
  if constexpr (k + 1 < kLanes) check_lane_fma<k + 1>();
}

void check_reductions() {
  float a[kLanes];
  float sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += a[i] = static_cast<float>((i * 7) % 16 - 5);
  float low = a[0], high = a[0];
  for (float x : a) low = fminf(low, x), high = fmaxf(high, x);
  const F32 x = F32::load(a);
  CHECK(reduce_add(x) == sum && reduce_min(x) == low && reduce_max(x) == high, "reductions");
  for (int i = 0; i < kLanes; ++i) {
    const float kept = a[i];
    a[i] = NAN;
    CHECK(isnan(reduce_min(F32::load(a))) && isnan(reduce_max(F32::load(a))), "NaN in lane %d", i);
    a[i] = -100.0f;
    CHECK(reduce_min(F32::load(a)) == -100.0f, "min in lane %d", i);
    a[i] = 100.0f;
    CHECK(reduce_max(F32::load(a)) == 100.0f, "max in lane %d", i);
    a[i] = kept;
  }
}

void check_transpose() {
  F32 square[kLanes];
  float row[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < kLanes; ++j) row[j] = static_cast<float>(i * 100 + j);
    square[i] = F32::load(row);
  }
  transpose(square);
  for (int i = 0; i < kLanes; ++i) {
    square[i].store(row);
    for (int j = 0; j < kLanes; ++j) CHECK(row[j] == static_cast<float>(j * 100 + i), "row %d, column %d", i, j);
  }
}

void check_integers() {
  int32_t a[kLanes], b[kLanes], out[kLanes];
  float f[kLanes];
  for (int i = 0; i < kLanes; ++i) a[i] = i % 3 == 0 ? INT32_MAX - i : -i * 100003, b[i] = i * 7 - 20;
  const I32 x = I32::load(a), y = I32::load(b);
  auto each = [&](I32 got, auto want) {
    got.store(out);
    for (int i = 0; i < kLanes; ++i)
      CHECK(out[i] == static_cast<int32_t>(want(static_cast<int64_t>(a[i]), static_cast<int64_t>(b[i]))), "lane %d", i);
  };
  each(x + y, [](int64_t p, int64_t q) { return p + q; });
  each(x - y, [](int64_t p, int64_t q) { return p - q; });
  each(x * y, [](int64_t p, int64_t q) { return p * q; });
  each(x & y, [](int64_t p, int64_t q) { return p & q; });
  each(x | y, [](int64_t p, int64_t q) { return p | q; });
  each(x ^ y, [](int64_t p, int64_t q) { return p ^ q; });
  each(~x, [](int64_t p, int64_t) { return ~p; });
  each(shift_left<5>(x), [](int64_t p, int64_t) { return static_cast<int64_t>(static_cast<uint64_t>(p) << 5); });
  each(shift_right<5>(x), [](int64_t p, int64_t) { return p >> 5; });
  each(min(x, y), [](int64_t p, int64_t q) { return p < q ? p : q; });
  each(max(x, y), [](int64_t p, int64_t q) { return p > q ? p : q; });
  each(select(x > y, x, y), [](int64_t p, int64_t q) { return p > q ? p : q; });
  each(select(x < y, x, y), [](int64_t p, int64_t q) { return p < q ? p : q; });
  each(select(x == y, x, y), [](int64_t, int64_t q) { return q; });
  each(select(x != y, x, y), [](int64_t p, int64_t) { return p; });
  each(bitcast_i32(bitcast_f32(x)), [](int64_t p, int64_t) { return p; });
  to_f32(x).store(f);
  for (int i = 0; i < kLanes; ++i) CHECK(f[i] == static_cast<float>(a[i]), "to_f32 lane %d", i);
  for (int i = 0; i < kLanes; ++i) f[i] = 2.5f - static_cast<float>(i) * 0.75f;
  to_i32_trunc(F32::load(f)).store(out);
  for (int i = 0; i < kLanes; ++i) CHECK(out[i] == static_cast<int>(f[i]), "trunc lane %d", i);
  to_i32_nearest(F32::load(f)).store(out);
  for (int i = 0; i < kLanes; ++i) CHECK(out[i] == static_cast<int>(nearbyintf(f[i])), "nearest lane %d", i);
}

void check_partial(int n, Guard guard) {
  Guarded<float> in(n, guard), out(n, guard), strided(n > 0 ? (n - 1) * 3 + 1 : 0, guard);
  Guarded<int32_t> ints(n, guard), ints_out(n, guard);
  Guarded<uint8_t> bytes(n, guard), bytes_out(n, guard);
  for (int i = 0; i < n; ++i)
    in[i] = 1.0f + i, ints[i] = 5 - i, bytes[i] = i % 3 == 1 ? 200 : 0, strided[i * 3] = 9.0f + i;
  float lane[kLanes];
  F32::load_partial(in.data(), n).store(lane);
  for (int i = 0; i < kLanes; ++i) CHECK(lane[i] == (i < n ? 1.0f + i : 0.0f), "load_partial(%d) lane %d", n, i);
  F32::load(lane).store_partial(out.data(), n);
  for (int i = 0; i < n; ++i) CHECK(out[i] == in[i], "store_partial(%d) lane %d", n, i);
  F32::load_strided_partial(strided.data(), 3, n).store(lane);
  for (int i = 0; i < kLanes; ++i)
    CHECK(lane[i] == (i < n ? 9.0f + i : 0.0f), "load_strided_partial(%d) lane %d", n, i);
  F32::load(lane).store_strided_partial(strided.data(), 3, n);
  for (int i = 0; i < n; ++i) CHECK(strided[i * 3] == 9.0f + i, "store_strided_partial(%d) lane %d", n, i);
  if (n == kLanes) {
    F32::load_strided(strided.data(), 3).store(lane);
    for (int i = 0; i < kLanes; ++i) CHECK(lane[i] == 9.0f + i, "load_strided lane %d", i);
    F32::load_strided(in.data(), 1).store_strided(strided.data(), 3);
    for (int i = 0; i < kLanes; ++i) CHECK(strided[i * 3] == 1.0f + i, "store_strided lane %d", i);
    Mask::load(bytes.data()).store(bytes_out.data());
    for (int i = 0; i < n; ++i) CHECK(bytes_out[i] == (i % 3 == 1), "mask bytes lane %d", i);
  }
  int32_t int_lane[kLanes];
  I32::load_partial(ints.data(), n).store(int_lane);
  for (int i = 0; i < kLanes; ++i) CHECK(int_lane[i] == (i < n ? 5 - i : 0), "I32::load_partial(%d) lane %d", n, i);
  I32::load(int_lane).store_partial(ints_out.data(), n);
  for (int i = 0; i < n; ++i) CHECK(ints_out[i] == 5 - i, "I32::store_partial(%d) lane %d", n, i);
  const Mask mask = Mask::load_partial(bytes.data(), n);
  mask.store_partial(bytes_out.data(), n);
  for (int i = 0; i < n; ++i) CHECK(bytes_out[i] == (i % 3 == 1), "Mask partial(%d) lane %d", n, i);
  select(Mask::first(n), F32::splat(1.0f), F32::zero()).store(lane);
  for (int i = 0; i < kLanes; ++i) CHECK(lane[i] == (i < n ? 1.0f : 0.0f), "Mask::first(%d) lane %d", n, i);
}

}  // namespace

int main() {
  check_arithmetic();
  check_compares();
  check_lane_fma<0>();
  check_reductions();
  check_transpose();
  check_integers();
  for (int n = 0; n <= kLanes; ++n) {
    check_partial(n, Guard::kAfter);
    check_partial(n, Guard::kBefore);
  }
  return cuvil::test::finish("simd_test");
}
