// What the bench needs from below JavaScript: the calling thread's processor time, the memory's
// bandwidth, and the softmax between OpenBLAS's products. Compiled for this processor.

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace {

double seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

typedef float Vector __attribute__((vector_size(64)));

// exp(x) for x <= 0, to about 2 units in the last place; 0 below -87. Cephes' polynomial: plain
// arithmetic that the compiler turns into vectors.
inline float exp_below_zero(float x) {
  const float clamped = x < -87.0f ? -87.0f : x;
  const float shifted = clamped * 1.44269504088896341f + 12582912.0f;
  const float whole = shifted - 12582912.0f;
  float rest = clamped - whole * 0.693359375f;
  rest = rest + whole * 2.12194440e-4f;
  float power = 1.9875691500e-4f;
  power = power * rest + 1.3981999507e-3f;
  power = power * rest + 8.3334519073e-3f;
  power = power * rest + 4.1665795894e-2f;
  power = power * rest + 1.6666665459e-1f;
  power = power * rest + 5.0000001201e-1f;
  power = power * rest * rest + rest + 1.0f;
  int32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  bits = (bits << 23) + 0x3f800000;
  float scale;
  memcpy(&scale, &bits, sizeof scale);
  return power * scale;
}

}  // namespace

extern "C" {

double bench_thread_seconds() { return seconds(CLOCK_THREAD_CPUTIME_ID); }

// `length` floats on huge pages where the system grants them, each written once. Null if there is
// no memory. They stay until the process ends.
float* bench_take(size_t length) {
  const size_t page = size_t{2} << 20;
  const size_t bytes = (length * sizeof(float) + page - 1) / page * page;
  void* memory = aligned_alloc(page, bytes);
  if (memory == nullptr) return nullptr;
  madvise(memory, bytes, MADV_HUGEPAGE);
  memset(memory, 1, bytes);
  return static_cast<float*>(memory);
}

// Reads `length` floats (a multiple of 128).
float bench_read(const float* from, size_t length) {
  const Vector* vectors = reinterpret_cast<const Vector*>(from);
  Vector sums[8] = {};
  for (size_t i = 0; i < length / 16; i += 8) {
    for (size_t j = 0; j < 8; j++) sums[j] += vectors[i + j];
  }
  Vector total{};
  for (const Vector& sum : sums) total += sum;
  return total[0];
}

// Reads and writes `length` floats in place.
void bench_read_write(float* values, size_t length, float factor) {
  for (size_t i = 0; i < length; i++) values[i] *= factor;
}

// Three streams of `length` floats (a multiple of 8): two read, one written, past the caches where
// that can be said.
void bench_triad(float* to, const float* a, const float* b, size_t length, float factor) {
#if defined(__AVX__)
  const __m256 by = _mm256_set1_ps(factor);
  for (size_t i = 0; i < length; i += 8) {
    const __m256 product = _mm256_mul_ps(by, _mm256_load_ps(b + i));
    _mm256_stream_ps(to + i, _mm256_add_ps(_mm256_load_ps(a + i), product));
  }
  _mm_sfence();
#else
  for (size_t i = 0; i < length; i++) to[i] = a[i] + factor * b[i];
#endif
}

// Turns logits without bias, rows x classes, into the loss's derivative by them, in place: softmax
// less the target, which is shared out evenly over a row's labels. Writes each row's loss. Adds
// `bias_scale` times the sum over rows to `bias`. `threads` threads share the rows; `sums` has room
// for threads x classes floats.
void bench_softmax(float* logits, float* bias, float bias_scale, const uint32_t* label_offsets,
                   const uint32_t* labels, size_t rows, size_t classes, int threads, float* sums,
                   float* losses) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static, 1)
    for (int part = 0; part < threads; part++) {
      float* sum = sums + static_cast<size_t>(part) * classes;
      memset(sum, 0, classes * sizeof(float));
      const size_t begin = rows * static_cast<size_t>(part) / static_cast<size_t>(threads);
      const size_t end = rows * static_cast<size_t>(part + 1) / static_cast<size_t>(threads);
      for (size_t row = begin; row < end; row++) {
        float* z = logits + row * classes;
        const uint32_t* first = labels + label_offsets[row];
        const uint32_t* last = labels + label_offsets[row + 1];
        const float target = 1.0f / static_cast<float>(last - first);
        float largest = -INFINITY;
#pragma omp simd reduction(max : largest)
        for (size_t i = 0; i < classes; i++) {
          z[i] += bias[i];
          largest = z[i] > largest ? z[i] : largest;
        }
        float of_labels = 0;
        for (const uint32_t* label = first; label < last; label++) of_labels += target * z[*label];
        float total = 0;
#pragma omp simd reduction(+ : total)
        for (size_t i = 0; i < classes; i++) {
          z[i] = exp_below_zero(z[i] - largest);
          total += z[i];
        }
        losses[row] = largest + logf(total) - of_labels;
        const float inverse = 1.0f / total;
#pragma omp simd
        for (size_t i = 0; i < classes; i++) {
          z[i] *= inverse;
          sum[i] += z[i];
        }
        for (const uint32_t* label = first; label < last; label++) {
          z[*label] -= target;
          sum[*label] -= target;
        }
      }
    }
#pragma omp for
    for (size_t i = 0; i < classes; i++) {
      float total = 0;
      for (int part = 0; part < threads; part++) {
        total += sums[static_cast<size_t>(part) * classes + i];
      }
      bias[i] += bias_scale * total;
    }
  }
}

}  // extern "C"
