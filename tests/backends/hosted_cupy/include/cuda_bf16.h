// The type of NVIDIA's header of this name that CuPy's headers use, for the host.
#pragma once

struct __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  explicit __nv_bfloat16(float value) {
    unsigned int whole;
    memcpy(&whole, &value, 4);
    bits = value != value ? 0x7fff : (whole + 0x7fff + (whole >> 16 & 1)) >> 16;
  }
  operator float() const {
    const unsigned int whole = static_cast<unsigned int>(bits) << 16;
    float value;
    memcpy(&value, &whole, 4);
    return value;
  }
};
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  __nv_bfloat16 made;
  made.bits = bits;
  return made;
}
inline bool __hisnan(__nv_bfloat16 x) { return (x.bits & 0x7fff) > 0x7f80; }
inline bool __hisinf(__nv_bfloat16 x) { return (x.bits & 0x7fff) == 0x7f80; }
