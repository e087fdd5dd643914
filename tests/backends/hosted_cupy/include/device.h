// The words of CUDA for a compiler of the host: a kernel's text compiles as it is.
//
// A kernel becomes a function of one thread. `grid.cpp` calls it for all threads, one after the
// other: it sets `threadIdx` and its relatives, and changes threads at `__syncthreads`.
#pragma once

// Without the special functions of C++17, which no kernel calls: reading them from the compiled
// header takes a compiler longer than most kernels.
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#define _GLIBCXX_USE_STD_SPEC_FUNCS 0

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
// One block runs at a time, so that its shared memory is static.
#define __shared__ static

struct dim3 {
  unsigned int x, y, z;
};
extern "C" {
extern dim3 threadIdx, blockIdx, blockDim, gridDim;
extern const int warpSize;
void __syncthreads();
void *dynamic_shared();  // what `extern __shared__` declares
}
double normcdfinv(double);
double erfinv(double);
double erfcinv(double);
double cyl_bessel_i0(double);
double cyl_bessel_i1(double);
double erfcx(double);

namespace {  // what a kernel does not use is then not compiled

using ::ceil;
using ::copysign;
using ::erfcinv;
using ::erfcx;
using ::erfinv;
using ::exp;
using ::exp10;
using ::fabs;
using ::floor;
using ::fmax;
using ::fmin;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::log;
using ::log1p;
using ::log2;
using ::nextafter;
using ::normcdfinv;
using ::pow;
using ::cyl_bessel_i0;
using ::cyl_bessel_i1;
using ::signbit;
using ::sqrt;
using ::trunc;

inline void __syncwarp(unsigned int = ~0u) { __syncthreads(); }
inline void __threadfence() {}
inline void __threadfence_block() {}
template <typename T> T __ldg(const T *at) { return *at; }

// Bits -------------------------------------------------------------------------------------------

template <typename Out, typename In> Out bits_of(In value) {
  static_assert(sizeof(Out) == sizeof(In), "as many bits");
  Out made;
  memcpy(&made, &value, sizeof made);
  return made;
}
inline int __float_as_int(float x) { return bits_of<int>(x); }
inline unsigned int __float_as_uint(float x) { return bits_of<unsigned int>(x); }
inline float __int_as_float(int x) { return bits_of<float>(x); }
inline float __uint_as_float(unsigned int x) { return bits_of<float>(x); }
inline long long __double_as_longlong(double x) { return bits_of<long long>(x); }
inline double __longlong_as_double(long long x) { return bits_of<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(bits_of<long long>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(bits_of<long long>(x)); }
inline double __hiloint2double(int high, int low) {
  return bits_of<double>(static_cast<long long>(high) << 32 | static_cast<unsigned int>(low));
}
inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
inline unsigned int __umulhi(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>(static_cast<unsigned long long>(x) * y >> 32);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}

// Half precision: CuPy's class is made of these ---------------------------------------------------

inline unsigned short __float2half_rn(float x) {
  return bits_of<unsigned short>(static_cast<_Float16>(x));
}
inline float __half2float(unsigned short bits) { return bits_of<_Float16>(bits); }

// Numbers: what CUDA has beside the library of C --------------------------------------------------

template <typename X, typename Y> using Wider = decltype(X() + Y());
template <typename X, typename Y, typename = typename std::enable_if<
    std::is_arithmetic<X>::value && std::is_arithmetic<Y>::value>::type>
Wider<X, Y> max(X x, Y y) {
  if (std::is_floating_point<Wider<X, Y>>::value) return fmax(Wider<X, Y>(x), Wider<X, Y>(y));
  return Wider<X, Y>(x) < Wider<X, Y>(y) ? y : x;
}
template <typename X, typename Y, typename = typename std::enable_if<
    std::is_arithmetic<X>::value && std::is_arithmetic<Y>::value>::type>
Wider<X, Y> min(X x, Y y) {
  if (std::is_floating_point<Wider<X, Y>>::value) return fmin(Wider<X, Y>(x), Wider<X, Y>(y));
  return Wider<X, Y>(y) < Wider<X, Y>(x) ? y : x;
}
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rsqrt(float x) { return 1 / sqrtf(x); }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline double rcbrt(double x) { return 1 / cbrt(x); }
inline float rcbrt(float x) { return 1 / cbrtf(x); }
inline double sinpi(double x) { return sin(M_PI * fmod(x, 2)); }
inline float sinpi(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline double cospi(double x) { return cos(M_PI * fmod(x, 2)); }
inline float cospi(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
inline float exp10(float x) { return powf(10.0f, x); }
inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline float normcdf(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline float normcdfinv(float x) { return static_cast<float>(normcdfinv(double(x))); }
inline float erfinv(float x) { return static_cast<float>(erfinv(double(x))); }
inline float erfcinv(float x) { return static_cast<float>(erfcinv(double(x))); }
inline float cyl_bessel_i0(float x) { return static_cast<float>(cyl_bessel_i0(double(x))); }
inline float cyl_bessel_i1(float x) { return static_cast<float>(cyl_bessel_i1(double(x))); }
inline float cyl_bessel_i0f(float x) { return cyl_bessel_i0(x); }
inline float cyl_bessel_i1f(float x) { return cyl_bessel_i1(x); }
inline float erfcxf(float x) { return static_cast<float>(erfcx(double(x))); }
inline float normcdff(float x) { return normcdf(x); }
inline float normcdfinvf(float x) { return normcdfinv(x); }
inline float erfinvf(float x) { return erfinv(x); }
inline float erfcinvf(float x) { return erfcinv(x); }
inline float sinpif(float x) { return sinpi(x); }
inline float cospif(float x) { return cospi(x); }
inline float rcbrtf(float x) { return rcbrt(x); }
inline float erfcx(float x) { return static_cast<float>(erfcx(double(x))); }

// Atomic operations: threads take turns, so that none interrupts another --------------------------

template <typename T> T atomic(T *at, T value) {
  const T old = *at;
  *at = value;
  return old;
}
#define ATOMICS(T)                                                                               \
  inline T atomicAdd(T *at, T x) { return atomic<T>(at, *at + x); }                              \
  inline T atomicExch(T *at, T x) { return atomic<T>(at, x); }
#define INTEGER_ATOMICS(T)                                                                       \
  ATOMICS(T)                                                                                     \
  inline T atomicSub(T *at, T x) { return atomic<T>(at, *at - x); }                              \
  inline T atomicAnd(T *at, T x) { return atomic<T>(at, *at & x); }                              \
  inline T atomicOr(T *at, T x) { return atomic<T>(at, *at | x); }                               \
  inline T atomicXor(T *at, T x) { return atomic<T>(at, *at ^ x); }                              \
  inline T atomicMax(T *at, T x) { return atomic<T>(at, *at < x ? x : *at); }                    \
  inline T atomicMin(T *at, T x) { return atomic<T>(at, x < *at ? x : *at); }                    \
  inline T atomicCAS(T *at, T compared, T x) { return atomic<T>(at, *at == compared ? x : *at); }
ATOMICS(float)
ATOMICS(double)
INTEGER_ATOMICS(int)
INTEGER_ATOMICS(unsigned int)
INTEGER_ATOMICS(unsigned long long)

// CuPy's own headers -----------------------------------------------------------------------------

#include <cupy/complex.cuh>
#include <cupy/carray.cuh>
struct half;
unsigned short __half_as_ushort(const half &);
half __ushort_as_half(unsigned short);
#include <cupy/float16.cuh>
inline unsigned short __half_as_ushort(const half &x) { return __half_raw(x).x; }
inline half __ushort_as_half(unsigned short bits) { return half(__half_raw{bits}); }
#include <cupy/bfloat16.cuh>
#include <cupy/atomics.cuh>
#include <cupy/math_constants.h>
}  // namespace

#undef __CUDACC__  // CuPy's special functions then take the library of C++
#undef M_PI_2  // which NVIDIA's compiler has not, and some of CuPy's kernels declare
#undef M_PI_4
#undef M_1_PI
#undef M_2_PI

// A kernel's arguments, as the driver passes them: the address of each ----------------------------

template <size_t... I> struct Places {};
template <size_t N, size_t... I> struct Count : Count<N - 1, N - 1, I...> {};
template <size_t... I> struct Count<0, I...> { typedef Places<I...> type; };
template <typename T> struct Plain { typedef T type; };
template <typename T> struct Plain<const T> { typedef T type; };

template <typename... T, size_t... I>
void one_thread(void (*kernel)(T...), void **at, Places<I...>) {
  kernel(*reinterpret_cast<typename Plain<T>::type *>(at[I])...);
}
template <typename... T> void one_thread(void (*kernel)(T...), void **at) {
  one_thread(kernel, at, typename Count<sizeof...(T)>::type());
}
