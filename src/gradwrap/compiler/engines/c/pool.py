"""The threads of kernels: one pool for the whole process, in a library of its own.

A kernel hands a nest of loops to the pool in *segments*, whose number depends on the nest alone.
Each thread has a range of the segments, and takes from the ranges of others when its own is done.
So the calling thread never waits for a thread that has not begun, and results do not depend on the
number of threads. A call that finds the pool in use performs all segments itself. So do all calls
for a while after one had to wait for a thread whose core another process took.

OpenMP would do the same with less code here. But its pool does not survive a fork (GCC's waits
forever in the child), the compiler of `ziglang` comes without it, and a second copy of it beside
that of BLAS would make twice as many threads as there are cores.
"""

from __future__ import annotations

import ctypes
import functools
from typing import NamedTuple

from gradwrap.compiler.engines.c.library import LoadedLibrary, loaded
from gradwrap.compiler.engines.register import Unsupported

MOST_THREADS = 256
MOST_SEGMENTS = 256
HEAD = 64
"""The bytes before a workspace, which hold the `team` of a call."""
TEAM = """\
typedef union { void *p; double d; float f; int64_t l; uint8_t b; } slot;
typedef void part(const slot *, long, long, long);
typedef struct { long threads; void (*split)(long, part *, const slot *, long); char *room; } team;
#define CUT(units, part, parts) ((units)*(part)/(parts))
#define TEAM (((const team *)w)[-1])
#define SPLIT(f, c, n) do { \\
    if (TEAM.threads > 1) TEAM.split(TEAM.threads, f, c, n); else f(c, 0, n, 0); \\
} while (0)
"""
"""The declarations of a source whose kernels have parts for several threads."""
SOURCE = """\
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

typedef void part(const void *, long, long, long);

enum { MOST = MOST_THREADS, SPINS = 1000, CLOSED = 1 << 30, STACK = 1 << 21, LATE = 100000 };

typedef struct { long next, end; char apart[112]; } range;
typedef struct { pthread_mutex_t lock; pthread_cond_t begun; int asleep; unsigned seen; } bed;

static range ranges[MOST] __attribute__((aligned(128)));
static bed beds[MOST];
static part *job;
static const void *context;
static long members;  /* the threads of the job, with the caller */
static int state = CLOSED;  /* the workers in the job, and whether no other may enter */
static int in_use;
static int64_t alone_until;  /* the time from which calls use the workers again */
static unsigned jobs;
static long workers;
static int is_ready;

static void rest(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static long perform(long mine) {
    long count = 0;
    for (long k = 0; k < members; k++) {
        range *r = ranges + (mine + k) % members;
        for (;;) {
            if (__atomic_load_n(&r->next, __ATOMIC_RELAXED) >= r->end) break;
            const long at = __atomic_fetch_add(&r->next, 1, __ATOMIC_RELAXED);
            if (at >= r->end) break;
            job(context, at, at + 1, mine);
            count++;
        }
    }
    return count;
}

static void wake(long number) {
    bed *b = beds + number;
    if (__atomic_load_n(&b->asleep, __ATOMIC_SEQ_CST)) {
        pthread_mutex_lock(&b->lock);
        pthread_cond_signal(&b->begun);
        pthread_mutex_unlock(&b->lock);
    }
}

/* Each thread wakes two others, so that many begin quickly. */
static void wake_two(long mine) {
    for (long number = 2 * mine + 1; number <= 2 * mine + 2; number++)
        if (number < members && number <= workers) wake(number);
}

static void *work(void *number) {
    const long mine = (intptr_t)number;
    bed *b = beds + mine;
    unsigned seen = b->seen;
    for (;;) {
        for (long i = 0; i < SPINS && __atomic_load_n(&jobs, __ATOMIC_ACQUIRE) == seen; i++) rest();
        if (__atomic_load_n(&jobs, __ATOMIC_ACQUIRE) == seen) {
            pthread_mutex_lock(&b->lock);
            __atomic_store_n(&b->asleep, 1, __ATOMIC_SEQ_CST);
            while (__atomic_load_n(&jobs, __ATOMIC_SEQ_CST) == seen)
                pthread_cond_wait(&b->begun, &b->lock);
            __atomic_store_n(&b->asleep, 0, __ATOMIC_SEQ_CST);
            pthread_mutex_unlock(&b->lock);
        }
        seen = __atomic_load_n(&jobs, __ATOMIC_ACQUIRE);
        if (!(__atomic_fetch_add(&state, 1, __ATOMIC_ACQ_REL) & CLOSED) && mine < members) {
            wake_two(mine);
            perform(mine);
        }
        __atomic_fetch_sub(&state, 1, __ATOMIC_RELEASE);
    }
    return 0;
}

/* In the child of a fork the workers do not exist. */
static void forget(void) {
    workers = 0;
    in_use = 0;
    alone_until = 0;
    state = CLOSED;
}

static void hire(long wanted) {
    if (!is_ready) is_ready = pthread_atfork(0, 0, forget) ? -1 : 1;
    if (is_ready < 0) return;
    pthread_attr_t how;
    sigset_t all, before;
    if (pthread_attr_init(&how)) return;
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&how, STACK);
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);  /* signals are for the threads of the program */
    while (workers < wanted) {
        pthread_t made;
        bed *b = beds + workers + 1;
        pthread_mutex_init(&b->lock, 0);
        pthread_cond_init(&b->begun, 0);
        b->asleep = 0;
        b->seen = jobs;
        if (pthread_create(&made, &how, work, (void *)(intptr_t)(workers + 1))) break;
        workers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, 0);
    pthread_attr_destroy(&how);
}

void split(long threads, part *f, const void *c, long segments) {
    if (threads > segments) threads = segments;
    if (threads > MOST) threads = MOST;
    const int64_t start = now();
    if (threads < 2 || start < __atomic_load_n(&alone_until, __ATOMIC_RELAXED)
        || __atomic_exchange_n(&in_use, 1, __ATOMIC_ACQUIRE)) {
        f(c, 0, segments, 0);
        return;
    }
    if (workers < threads - 1) hire(threads - 1);
    job = f;
    context = c;
    members = threads;
    for (long k = 0; k < threads; k++) {
        __atomic_store_n(&ranges[k].next, segments * k / threads, __ATOMIC_RELAXED);
        ranges[k].end = segments * (k + 1) / threads;
    }
    __atomic_fetch_and(&state, ~CLOSED, __ATOMIC_RELEASE);
    __atomic_fetch_add(&jobs, 1, __ATOMIC_SEQ_CST);
    wake_two(0);
    const long count = perform(0);
    __atomic_fetch_or(&state, CLOSED, __ATOMIC_ACQ_REL);
    long spins = 0;
    const int64_t done = now();
    for (; __atomic_load_n(&state, __ATOMIC_ACQUIRE) != CLOSED; spins++)
        if (spins < SPINS) rest(); else sched_yield();
    if (spins > SPINS) {  /* did a worker lose its core in the middle of a segment? */
        const int64_t end = now(), waited = end - done;
        if (waited > LATE + 4 * (done - start) / (count ? count : 1))
            __atomic_store_n(&alone_until, end + 10 * waited, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&in_use, 0, __ATOMIC_RELEASE);
}
""".replace("MOST_THREADS", str(MOST_THREADS))
"""The source of the pool's library."""


class Team(ctypes.Structure):
    """The `team` of `TEAM`: what lies before a workspace."""

    _fields_ = (
        ("threads", ctypes.c_long),
        ("split", ctypes.c_void_p),
        ("room", ctypes.c_void_p),
    )


class Pool(NamedTuple):
    """The pool, or the reason why it could not be made."""

    library: LoadedLibrary | None
    """It is never closed, since its threads run in it."""
    split: int
    """The address of its function."""
    reason: str = ""


@functools.cache
def pool() -> Pool:
    """Return the pool of the process; its threads are made when they are first needed."""
    try:
        library = loaded(SOURCE, [], ("-pthread",))
        address = ctypes.cast(library["split"], ctypes.c_void_p).value
    except (Unsupported, AttributeError) as error:
        return Pool(None, 0, f"there is no pool of threads: {error}")
    return Pool(library, address or 0)
