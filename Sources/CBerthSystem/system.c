#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "CBerthSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

long long berth_changed(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) return -1;
#if defined(__APPLE__)
    struct timespec changed = status.st_mtimespec;
#else
    struct timespec changed = status.st_mtim;
#endif
    return (long long)changed.tv_sec * 1000000000 + changed.tv_nsec;
}

int berth_open(const char *path, int flags, int mode) {
    for (;;) {
        int descriptor = open(path, flags | O_CLOEXEC, mode);
        if (descriptor >= 0) return descriptor;
        if (errno != EINTR) return -errno;
    }
}

int berth_pipe(int *ends) {
#if defined(__linux__)
    // In one step: a child that another thread starts in between would hold the ends open.
    return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
#else
    if (pipe(ends) != 0) return errno;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

int berth_reserve(int descriptor, long count) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return errno;
#if defined(__linux__)
    for (;;) {
        if (fallocate(descriptor, FALLOC_FL_KEEP_SIZE, status.st_size, count) == 0) return 0;
        if (errno == EOPNOTSUPP || errno == ENOSYS) return 0;
        if (errno != EINTR) return errno;
    }
#elif defined(__APPLE__)
    // Counts from the end of what the file has on the disk, so only what is lacking is asked for.
    off_t lacking = status.st_size + count - (off_t)status.st_blocks * 512;
    if (lacking <= 0) return 0;
    fstore_t request = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = lacking};
    if (fcntl(descriptor, F_PREALLOCATE, &request) != -1 || errno == ENOTSUP) return 0;
    return errno;
#else
    (void)count;
    return 0;
#endif
}

int berth_lock(int descriptor) {
    while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

pid_t berth_peer_process(int descriptor) {
#if defined(__linux__)
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    return credentials.pid;
#elif defined(__APPLE__)
    pid_t process = -1;
    socklen_t length = sizeof process;
    if (getsockopt(descriptor, SOL_LOCAL, LOCAL_PEERPID, &process, &length) != 0) return -1;
    return process;
#else
    (void)descriptor;
    return -1;
#endif
}

long berth_peer_user(int descriptor) {
#if defined(__linux__)
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    return credentials.uid;
#else
    uid_t user;
    gid_t group;
    if (getpeereid(descriptor, &user, &group) != 0) return -1;
    return user;
#endif
}

// A socket address holds about 104 bytes of path; a longer path goes through a descriptor of its folder.
static int fill_address(const char *path, struct sockaddr_un *address, int *folder) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    *folder = -1;
    size_t length = strlen(path);
    if (length < sizeof address->sun_path) {
        memcpy(address->sun_path, path, length);
        return 0;
    }
#if defined(__linux__)
    const char *slash = strrchr(path, '/');
    if (!slash) return ENAMETOOLONG;
    char parent[4096];
    size_t parent_length = (size_t)(slash - path);
    if (parent_length >= sizeof parent) return ENAMETOOLONG;
    memcpy(parent, path, parent_length);
    parent[parent_length] = 0;
    *folder = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*folder < 0) return errno;
    int written = snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", *folder, slash + 1);
    if (written < 0 || (size_t)written >= sizeof address->sun_path) {
        close(*folder);
        *folder = -1;
        return ENAMETOOLONG;
    }
    return 0;
#else
    return ENAMETOOLONG;
#endif
}

int berth_unix_socket(const char *path, int listen_backlog) {
#if defined(__linux__)
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
#else
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor >= 0) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
#endif
    if (descriptor < 0) return -errno;
#if defined(SO_NOSIGPIPE)
    int on = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    struct sockaddr_un address;
    int folder;
    int error = fill_address(path, &address, &folder);
    if (!error) {
        if (listen_backlog > 0) {
            unlink(path);
            if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) error = errno;
            // Nobody can connect before listen(), so the mode is in force in time.
            if (!error && chmod(path, 0600) != 0) error = errno;
            if (!error && listen(descriptor, listen_backlog) != 0) error = errno;
        } else {
            while (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
                if (errno == EINTR) continue;
                error = errno;
                break;
            }
        }
    }
    if (folder >= 0) close(folder);
    if (error) {
        close(descriptor);
        return -error;
    }
    return descriptor;
}

void berth_die_with_parent(void) {
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}
