// A device of one thread: it runs a kernel's threads one after the other, and stands in for the
// CUDA runtime and the driver that CuPy calls.
//
// Threads that meet at `__syncthreads` are coroutines of the C library; the others are a loop.
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <cmath>
#include <vector>

struct dim3 {
  unsigned int x, y, z;
};
extern "C" {
dim3 threadIdx, blockIdx, blockDim, gridDim;
extern const int warpSize = 32;
}

// Threads ----------------------------------------------------------------------------------------

typedef void (*Thread)(void **);

namespace {

struct Fibre {
  ucontext_t begin;
  jmp_buf here;
  dim3 index;
  bool is_new = true, is_done = true;
};

const size_t STACK = 128 << 10;
std::vector<Fibre *> fibres;
Fibre *running = nullptr;
jmp_buf scheduler;
Thread body;
void **arguments;

void live() {
  for (;;) {
    body(arguments);
    running->is_done = true;
    if (!_setjmp(running->here)) _longjmp(scheduler, 1);
  }
}

// Continue a thread until it waits or ends.
void resume(Fibre *fibre) {
  running = fibre;
  threadIdx = fibre->index;
  if (_setjmp(scheduler)) return;
  if (!fibre->is_new) _longjmp(fibre->here, 1);
  fibre->is_new = false;
  setcontext(&fibre->begin);
}

Fibre *fibre_number(size_t number) {
  while (fibres.size() <= number) {
    Fibre *made = new Fibre;
    getcontext(&made->begin);
    made->begin.uc_stack.ss_sp = malloc(STACK);
    made->begin.uc_stack.ss_size = STACK;
    makecontext(&made->begin, live, 0);
    fibres.push_back(made);
  }
  return fibres[number];
}

dim3 unravelled(unsigned long long i, dim3 shape) {
  return {static_cast<unsigned int>(i % shape.x),
          static_cast<unsigned int>(i / shape.x % shape.y),
          static_cast<unsigned int>(i / shape.x / shape.y)};
}

void block_of_fibres(unsigned long long threads, bool backwards) {
  for (unsigned long long i = 0; i < threads; i++) {
    Fibre *fibre = fibre_number(i);
    fibre->index = unravelled(i, blockDim);
    fibre->is_done = false;
  }
  for (bool is_waiting = true; is_waiting;) {  // each turn brings all to the next barrier
    is_waiting = false;
    for (unsigned long long i = 0; i < threads; i++) {
      Fibre *fibre = fibres[backwards ? threads - 1 - i : i];
      if (!fibre->is_done) resume(fibre);
      is_waiting |= !fibre->is_done;
    }
  }
}

}  // namespace

extern "C" void __syncthreads() {
  if (!_setjmp(running->here)) _longjmp(scheduler, 1);
}

extern "C" void *dynamic_shared() {
  static double memory[32 << 10];
  return memory;
}

// Run one thread of a kernel for each place of a grid, block after block.
extern "C" void run_grid(Thread thread, void **at, const unsigned int *shape, int has_barriers,
                         int backwards) {
  gridDim = {shape[0], shape[1], shape[2]};
  blockDim = {shape[3], shape[4], shape[5]};
  body = thread;
  arguments = at;
  const unsigned long long blocks = 1ull * gridDim.x * gridDim.y * gridDim.z;
  const unsigned long long threads = 1ull * blockDim.x * blockDim.y * blockDim.z;
  for (unsigned long long b = 0; b < blocks; b++) {
    blockIdx = unravelled(backwards ? blocks - 1 - b : b, gridDim);
    if (has_barriers) {
      block_of_fibres(threads, backwards);
      continue;
    }
    for (unsigned long long i = 0; i < threads; i++) {
      threadIdx = unravelled(backwards ? threads - 1 - i : i, blockDim);
      thread(at);
    }
  }
}

// Functions of CUDA's library that C has not -----------------------------------------------------

double erfcx(double x) {
  if (x < 20) return std::exp(x * x) * std::erfc(x);
  const double y = 1 / (x * x);
  return (1 - y / 2 * (1 - 3 * y / 2 * (1 - 5 * y / 2))) / (x * 1.7724538509055160273);
}

// The root of erfc(x) = y by Newton's steps, from Winitzki's approximation.
double erfcinv(double y) {
  if (!(y >= 0 && y <= 2)) return NAN;
  if (y == 0 || y == 2) return y == 0 ? INFINITY : -INFINITY;
  const double way = std::log(y * (2 - y)), a = 4.330746750799873 + way / 2;
  double x = std::copysign(std::sqrt(std::sqrt(a * a - way / 0.147) - a), 1 - y);
  for (int turn = 0; turn < 4; turn++) {
    const double error = std::erfc(x) - y, slope = 1.1283791670955126 * std::exp(-x * x);
    const double step = slope > 0 ? error / slope : 0;
    x += step / (1 + x * step);
  }
  return x;
}
double erfinv(double y) {
  if (std::fabs(y) > 0.5) return erfcinv(1 - y);
  double x = 0.8862269254527580 * y;
  for (int turn = 0; turn < 6; turn++) {
    const double step = (std::erf(x) - y) / (1.1283791670955126 * std::exp(-x * x));
    x -= step / (1 + x * step);
  }
  return x;
}
double normcdfinv(double y) { return -1.4142135623730951 * erfcinv(2 * y); }
double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }
double cyl_bessel_i1(double x) { return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x); }

// The runtime and the driver, as CuPy's modules call each other ----------------------------------

typedef struct _object PyObject;
extern "C" {
extern PyObject _Py_NoneStruct;
extern PyObject *PyExc_RuntimeError;
void Py_IncRef(PyObject *);
void PyErr_SetObject(PyObject *, PyObject *);
char *PyBytes_AsString(PyObject *);
}

namespace device {

int is_on = 0, current = 0;
long long next = 1;
PyObject *(*launch)(intptr_t, const unsigned int *, void **);  // returns None, or an error
intptr_t (*find)(intptr_t, PyObject *);
void (*note)(int);
PyObject *properties;
enum { MEMSET, COPY, UPLOAD, DOWNLOAD, WAIT };

PyObject *none() {
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

int getDevice() { return current; }
PyObject *setDevice(int device) {
  current = device;
  return none();
}
int getDeviceCount() { return 16; }  // for CuPy: its tables of streams have that length
int driverGetVersion() { return 12090; }
int runtimeGetVersion() { return 12090; }
int deviceGetAttribute(int attribute, int) {  // warps, threads of a block, compute capability 9.0
  return attribute == 10 ? 32 : attribute == 75 ? 9 : attribute == 76 ? 0 : 1024;
}
PyObject *getDeviceProperties(int) {
  Py_IncRef(properties);
  return properties;
}
int pointerGetMemoryType(intptr_t) { return 1; }  // the host's, without a detour for copies
int deviceCanAccessPeer(int one, int other) { return one == other; }
PyObject *_ensure_context() { return none(); }
PyObject *deviceSynchronize() {
  note(WAIT);
  return none();
}
PyObject *streamSynchronize(intptr_t) {
  note(WAIT);
  return none();
}
intptr_t streamCreate() { return next++; }
intptr_t streamCreateWithFlags(unsigned int) { return next++; }
PyObject *streamDestroy(intptr_t) { return none(); }
int streamIsCapturing(intptr_t) { return 0; }
intptr_t eventCreateWithFlags(unsigned int) { return next++; }
PyObject *eventDestroy(intptr_t) { return none(); }
PyObject *eventRecord(intptr_t, intptr_t) { return none(); }
PyObject *eventSynchronize(intptr_t) {
  note(WAIT);
  return none();
}
PyObject *memset(intptr_t at, int value, size_t size) {
  note(MEMSET);
  ::memset(reinterpret_cast<void *>(at), value, size);
  return none();
}
PyObject *memsetAsync(intptr_t at, int value, size_t size, intptr_t) {
  return memset(at, value, size);
}
PyObject *memcpy(intptr_t to, intptr_t from, size_t size, int kind) {
  note(kind == 1 ? UPLOAD : kind == 2 ? DOWNLOAD : COPY);
  ::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), size);
  return none();
}
PyObject *memcpyAsync(intptr_t to, intptr_t from, size_t size, int kind, intptr_t) {
  return memcpy(to, from, size, kind);
}
intptr_t moduleLoadData(PyObject *number) { return atoll(PyBytes_AsString(number)); }
PyObject *moduleUnload(intptr_t) { return none(); }
intptr_t moduleGetFunction(intptr_t module, PyObject *name) { return find(module, name); }
PyObject *launchKernel(intptr_t kernel, unsigned int gx, unsigned int gy, unsigned int gz,
                       unsigned int bx, unsigned int by, unsigned int bz, unsigned int, intptr_t,
                       intptr_t arguments, intptr_t) {
  const unsigned int shape[] = {gx, gy, gz, bx, by, bz};
  PyObject *said = launch(kernel, shape, reinterpret_cast<void **>(arguments));
  if (said == &_Py_NoneStruct) return said;
  if (said) PyErr_SetObject(PyExc_RuntimeError, said);
  return nullptr;
}

}  // namespace device

extern "C" {
void start_device(PyObject *(*launch)(intptr_t, const unsigned int *, void **),
                  intptr_t (*find)(intptr_t, PyObject *), void (*note)(int),
                  PyObject *properties) {
  Py_IncRef(properties);
  device::properties = properties;
  device::launch = launch;
  device::find = find;
  device::note = note;
}
void switch_device(int users) { device::is_on += users; }
void make_current(int number) { device::current = number; }
}
