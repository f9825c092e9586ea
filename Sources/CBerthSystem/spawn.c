#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "CBerthSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int keep_descriptor(posix_spawn_file_actions_t *actions, int descriptor) {
#if defined(__APPLE__)
    return posix_spawn_file_actions_addinherit_np(actions, descriptor);
#else
    // dup2 onto itself clears close-on-exec in glibc's implementation.
    return posix_spawn_file_actions_adddup2(actions, descriptor, descriptor);
#endif
}

static int close_others(
    posix_spawn_file_actions_t *actions, const struct berth_spawn_request *request, int highest) {
#if defined(__APPLE__)
    (void)actions, (void)request, (void)highest;
    return 0;
#else
    for (int descriptor = 3; descriptor < highest; descriptor++) {
        int kept = 0;
        for (int index = 0; index < request->inherited_count; index++) {
            if (request->inherited[index] == descriptor) kept = 1;
        }
        int error = kept ? 0 : posix_spawn_file_actions_addclose(actions, descriptor);
        if (error) return error;
    }
    return posix_spawn_file_actions_addclosefrom_np(actions, highest + 1);
#endif
}

int berth_spawn(const struct berth_spawn_request *request, pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }

    const int streams[3] = {request->standard_input, request->standard_output, request->standard_error};
    for (int number = 0; number < 3 && !error; number++) {
        error = posix_spawn_file_actions_adddup2(&actions, streams[number], number);
    }
    int highest = 2;
    for (int index = 0; index < request->inherited_count && !error; index++) {
        error = keep_descriptor(&actions, request->inherited[index]);
        if (request->inherited[index] > highest) highest = request->inherited[index];
    }
    if (!error) error = close_others(&actions, request, highest);
    if (!error && request->working_directory) {
        error = posix_spawn_file_actions_addchdir_np(&actions, request->working_directory);
    }

    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#if defined(__APPLE__)
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
#if defined(POSIX_SPAWN_SETSID)
    if (request->new_session) {
        flags |= POSIX_SPAWN_SETSID;
    } else
#endif
    {
        flags |= POSIX_SPAWN_SETPGROUP;
        if (!error) error = posix_spawnattr_setpgroup(&attributes, 0);
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (!error) error = posix_spawnattr_setsigmask(&attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!error) error = posix_spawnattr_setflags(&attributes, flags);

    if (!error) {
        error = posix_spawn(
            process, request->executable, &actions, &attributes, request->arguments, request->environment);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int berth_wait(pid_t process, int *exited, int *value) {
    int status = 0;
    for (;;) {
        pid_t ended = waitpid(process, &status, 0);
        if (ended == process) break;
        if (ended < 0 && errno == EINTR) continue;
        return ended < 0 ? errno : ECHILD;
    }
    *exited = WIFEXITED(status) ? 1 : 0;
    *value = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    return 0;
}
