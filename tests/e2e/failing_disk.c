/* A disk that fails on demand. Preloaded into a process, it fails operations on files below FAILING_FOLDER for as
 * long as the file FAILING_ORDER names an error: "write 28" fails every write with error 28, "sync 5" every sync with
 * error 5. Everything else works normally. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int failure_of(const char *deed, int file) {
    const char *folder = getenv("FAILING_FOLDER"), *order = getenv("FAILING_ORDER");
    char link[64], path[4096], text[64] = "", ordered[16] = "";
    int number = 0, descriptor;
    ssize_t size;
    if (!folder || !order || (descriptor = open(order, O_RDONLY | O_CLOEXEC)) < 0)
        return 0;
    size = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    if (size <= 0 || sscanf(text, "%15s %d", ordered, &number) != 2 || strcmp(ordered, deed))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    size = readlink(link, path, sizeof path - 1);
    if (size <= 0)
        return 0;
    path[size] = 0;
    return strncmp(path, folder, strlen(folder)) ? 0 : number;
}

#define FAILING(result, name, action, parameters, arguments)              \
    result name parameters {                                            \
        static result(*real) parameters;                                \
        int kept = errno, number = failure_of(action, file);              \
        if (!real)                                                      \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                  \
        errno = number ? number : kept;                                 \
        return number ? -1 : real arguments;                            \
    }

FAILING(ssize_t, write, "write", (int file, const void *bytes, size_t size), (file, bytes, size))
FAILING(ssize_t, pwrite, "write", (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
FAILING(ssize_t, pwrite64, "write", (int file, const void *bytes, size_t size, off64_t at), (file, bytes, size, at))
FAILING(int, fsync, "sync", (int file), (file))
FAILING(int, fdatasync, "sync", (int file), (file))
