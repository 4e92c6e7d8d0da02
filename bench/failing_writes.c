/* Simulate a disk that becomes full. Preloaded into a process, this library allows FAULT_AFTER bytes to be written to files
 * below FAULT_PREFIX and fails every later write there with "no space left". For bench.update_faults:
 * cc -shared -fPIC -o failing_writes.so bench/failing_writes.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/types.h>
#include <unistd.h>

static long written;

static int is_full(int file, size_t size) {
    const char *prefix = getenv("FAULT_PREFIX"), *after = getenv("FAULT_AFTER");
    char link[64], path[4096];
    ssize_t length;
    if (!prefix || !after)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return 0;
    path[length] = 0;
    if (strncmp(path, prefix, strlen(prefix)))
        return 0;
    return __atomic_add_fetch(&written, size, __ATOMIC_RELAXED) > atol(after);
}

#define FAILING(name, parameters, arguments)                            \
    ssize_t name parameters {                                           \
        static ssize_t(*real) parameters;                               \
        int kept = errno;                                               \
        if (is_full(file, size)) {                                      \
            errno = ENOSPC;                                             \
            return -1;                                                  \
        }                                                               \
        if (!real)                                                      \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                  \
        errno = kept;                                                   \
        return real arguments;                                          \
    }

FAILING(write, (int file, const void *bytes, size_t size), (file, bytes, size))
FAILING(pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
FAILING(pwrite64, (int file, const void *bytes, size_t size, off64_t at), (file, bytes, size, at))
FAILING(sendfile, (int file, int from, off_t *at, size_t size), (file, from, at, size))
FAILING(copy_file_range, (int from, off64_t *in, int file, off64_t *out, size_t size, unsigned flags),
        (from, in, file, out, size, flags))
