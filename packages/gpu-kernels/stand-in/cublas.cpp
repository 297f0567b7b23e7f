/**
 * The functions of cuBLAS that ../src/cuda/cublas.ts calls, under their own names. Matrices lie column by column;
 * products are plain loops, done when the stream comes to them.
 */
#include <algorithm>
#include <cstdint>
#include <map>

#include "calls.h"
#include "enqueue.h"

using namespace stand_in;

namespace {

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasMath_t { CUBLAS_DEFAULT_MATH = 0 };
typedef struct cublasContext* cublasHandle_t;

struct Library {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr workspace = 0;
  /** What the toolkit's default is depends on its version. */
  bool has_default_math = false;
};

std::map<cublasHandle_t, Library>& libraries() {
  static std::map<cublasHandle_t, Library> all;
  return all;
}

/** Calls of a context that has failed fail; FAIL has a status of cuBLAS, or an error of the driver, as its code. */
template <typename F>
cublasStatus_t library_call(const char* name, CUcontext of, F body) {
  const std::lock_guard<std::recursive_mutex> hold(driver().lock);
  const auto found = driver().contexts.find(of);
  if (found == driver().contexts.end()) return CUBLAS_STATUS_NOT_INITIALIZED;
  Context& context = found->second;
  if (context.failure != CUDA_SUCCESS || driver().lost != CUDA_SUCCESS) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  const CUresult injected = injected_failure(name, &context);
  if (injected == CUDA_SUCCESS) return body(context);
  // Of the driver's errors, what cuBLAS makes of them.
  if (injected == CUDA_ERROR_OUT_OF_MEMORY) return CUBLAS_STATUS_ALLOC_FAILED;
  return injected >= CUDA_ERROR_NO_DEVICE ? CUBLAS_STATUS_EXECUTION_FAILED
                                          : static_cast<cublasStatus_t>(injected);
}

/** Of a handle that there is. */
template <typename F>
cublasStatus_t handle_call(const char* name, cublasHandle_t handle, F body) {
  const auto found = libraries().find(handle);
  if (found == libraries().end()) return CUBLAS_STATUS_NOT_INITIALIZED;
  Library& library = found->second;
  return library_call(name, library.context,
                      [&](Context& context) { return body(library, context); });
}

/** Bytes from the first element to the last of a matrix whose columns lie `stride` elements apart. */
size_t bytes_of(int rows, int columns, int stride) {
  if (rows == 0 || columns == 0) return 0;
  return 4 * (static_cast<size_t>(columns - 1) * stride + rows);
}

struct Matrix {
  CUdeviceptr address;
  size_t bytes;
  /** Between elements along the result's own index, and along the common one. */
  size_t outer, inner;
  float at(int own, int common) const {
    return reinterpret_cast<const float*>(address)[own * outer + common * inner];
  }
};

Matrix left(CUdeviceptr address, int operation, int m, int k, int stride) {
  const size_t apart = static_cast<size_t>(stride);
  if (operation == CUBLAS_OP_N) return {address, bytes_of(m, k, stride), 1, apart};
  return {address, bytes_of(k, m, stride), apart, 1};
}

Matrix right(CUdeviceptr address, int operation, int n, int k, int stride) {
  const size_t apart = static_cast<size_t>(stride);
  if (operation == CUBLAS_OP_N) return {address, bytes_of(k, n, stride), apart, 1};
  return {address, bytes_of(n, k, stride), 1, apart};
}

}  // namespace

size_t stand_in::library_handles() { return libraries().size(); }

STAND_IN_EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return library_call("cublasCreate_v2", current_context, [&](Context&) {
    *handle = new_handle<cublasHandle_t>();
    libraries()[*handle].context = current_context;
    return CUBLAS_STATUS_SUCCESS;
  });
}

STAND_IN_EXPORT cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  const std::lock_guard<std::recursive_mutex> hold(driver().lock);
  return libraries().erase(handle) == 1 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

STAND_IN_EXPORT cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, CUstream stream) {
  return handle_call("cublasSetStream_v2", handle, [&](Library& library, Context& context) {
    if (context.streams.count(stream) == 0) return CUBLAS_STATUS_INVALID_VALUE;
    library.stream = stream;
    // As cuBLAS does: each stream has a workspace of its own.
    library.workspace = 0;
    return CUBLAS_STATUS_SUCCESS;
  });
}

STAND_IN_EXPORT cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, CUdeviceptr workspace,
                                                     size_t bytes) {
  return handle_call("cublasSetWorkspace_v2", handle, [&](Library& library, Context& context) {
    if (!context.memory.has(workspace, bytes)) return CUBLAS_STATUS_INVALID_VALUE;
    library.workspace = workspace;
    return CUBLAS_STATUS_SUCCESS;
  });
}

STAND_IN_EXPORT cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return handle_call("cublasSetMathMode", handle, [&](Library& library, Context&) {
    library.has_default_math = mode == CUBLAS_DEFAULT_MATH;
    return CUBLAS_STATUS_SUCCESS;
  });
}

/** C = alpha · op(A) · op(B) + beta · C, where op(A) is m × k, op(B) k × n and C m × n. */
STAND_IN_EXPORT cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t a_operation,
                                              cublasOperation_t b_operation, int m, int n, int k,
                                              const float* alpha, CUdeviceptr a, int a_stride,
                                              CUdeviceptr b, int b_stride, const float* beta,
                                              CUdeviceptr c, int c_stride) {
  return handle_call("cublasSgemm_v2", handle, [&](Library& library, Context& context) {
    const auto is_operation = [](int value) { return value == CUBLAS_OP_N || value == CUBLAS_OP_T; };
    if (!is_operation(a_operation) || !is_operation(b_operation) || m < 0 || n < 0 || k < 0 ||
        alpha == nullptr || beta == nullptr ||
        a_stride < std::max(1, a_operation == CUBLAS_OP_N ? m : k) ||
        b_stride < std::max(1, b_operation == CUBLAS_OP_N ? k : n) || c_stride < std::max(1, m)) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    // It would take memory that nobody has counted, and TensorFloat-32 where the default has it.
    if (library.workspace == 0) return CUBLAS_STATUS_ALLOC_FAILED;
    if (!library.has_default_math) return CUBLAS_STATUS_NOT_SUPPORTED;
    const Matrix first = left(a, a_operation, m, k, a_stride);
    const Matrix second = right(b, b_operation, n, k, b_stride);
    const size_t bytes = bytes_of(m, n, c_stride);
    const float by = *alpha, again = *beta;
    Memory* const memory = &context.memory;
    const CUresult result = enqueue(context, library.stream, Kind::kKernel, [=] {
      if (!memory->has(first.address, first.bytes) || !memory->has(second.address, second.bytes) ||
          !memory->has(c, bytes)) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
      }
      auto* const out = reinterpret_cast<float*>(c);
      for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) {
          float sum = 0;
          for (int l = 0; l < k; l++) sum += first.at(i, l) * second.at(j, l);
          float& element = out[static_cast<size_t>(j) * c_stride + i];
          // With a beta of 0 what is there is not read: it may be NaN.
          element = again == 0 ? by * sum : by * sum + again * element;
        }
      }
      return CUDA_SUCCESS;
    });
    return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
  });
}
