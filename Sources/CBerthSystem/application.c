#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "berth_application.h"

#include <errno.h>

#if defined(__linux__)

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Between fork and exec: only calls that are safe after a fork of a process with threads.
static void become_application(const struct berth_spawn_request *request, pid_t parent, int report) {
    int error = 0;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) error = errno;
    // The parent may have ended before the line above.
    if (!error && getppid() != parent) _exit(127);
    if (!error) {
        int failed = request->new_session ? setsid() < 0 : setpgid(0, 0) != 0;
        if (failed) error = errno;
    }
    struct sigaction action = {0};
    action.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; number++) sigaction(number, &action, 0);

    // Out of the way first, so that no stream overwrites another's source.
    const int streams[3] = {request->standard_input, request->standard_output, request->standard_error};
    int sources[3] = {-1, -1, -1};
    for (int number = 0; number < 3 && !error; number++) {
        sources[number] = fcntl(streams[number], F_DUPFD_CLOEXEC, 10);
        if (sources[number] < 0) error = errno;
    }
    for (int number = 0; number < 3 && !error; number++) {
        if (dup2(sources[number], number) < 0) error = errno;
    }
    // Every other descriptor of the supervisor closes at exec; this catches any that was opened without care.
    syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
    for (int index = 0; index < request->inherited_count && !error; index++) {
        if (fcntl(request->inherited[index], F_SETFD, 0) != 0) error = errno;
    }
    if (!error && request->working_directory && chdir(request->working_directory) != 0) error = errno;

    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, 0);
    if (!error) {
        execve(request->executable, request->arguments, request->environment);
        error = errno;
    }
    ssize_t ignored = write(report, &error, sizeof error);
    (void)ignored;
    _exit(127);
}

int berth_spawn_bound(const struct berth_spawn_request *request, pid_t *process) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return errno;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) become_application(request, parent, report[1]);
    int error = child < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, 0);
    close(report[1]);
    if (!error) {
        // Empty: the exec closed the pipe, so the program runs.
        ssize_t count;
        do {
            count = read(report[0], &error, sizeof error);
        } while (count < 0 && errno == EINTR);
        if (count != sizeof error) error = 0;
        if (error) waitpid(child, 0, 0);
    }
    close(report[0]);
    if (!error) *process = child;
    return error;
}

int berth_adopt_orphans(void) {
    return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 ? 0 : errno;
}

int berth_next_ended_child(pid_t *process) {
    siginfo_t info;
    for (;;) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0) {
            *process = info.si_pid;
            return 0;
        }
        if (errno != EINTR) return errno;
    }
}

int berth_copy_content(int from, int to) {
    int by_reference = 1;
    for (;;) {
        if (by_reference) {
            ssize_t count = copy_file_range(from, 0, to, 0, 1 << 30, 0);
            if (count == 0) return 0;
            if (count > 0 || errno == EINTR) continue;
            if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return errno;
            by_reference = 0;
        }
        char bytes[1 << 16];
        ssize_t count = read(from, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno;
        if (count == 0) return 0;
        for (ssize_t written = 0; written < count;) {
            ssize_t part = write(to, bytes + written, (size_t)(count - written));
            if (part < 0 && errno == EINTR) continue;
            if (part < 0) return errno;
            written += part;
        }
    }
}

#else

int berth_spawn_bound(const struct berth_spawn_request *request, pid_t *process) {
    (void)request, (void)process;
    return ENOSYS;
}

int berth_adopt_orphans(void) {
    return ENOSYS;
}

int berth_next_ended_child(pid_t *process) {
    (void)process;
    return ENOSYS;
}

int berth_copy_content(int from, int to) {
    (void)from, (void)to;
    return ENOSYS;
}

#endif
