#ifndef CBERTHSYSTEM_H
#define CBERTHSYSTEM_H

#include <sys/types.h>

/// What to start: all strings are NUL-terminated and owned by the caller; arrays end with a null pointer.
struct berth_spawn_request {
    const char *executable;
    char *const *arguments;
    char *const *environment;
    /// Null: the caller's own.
    const char *working_directory;
    /// Descriptors that become 0, 1 and 2 of the child.
    int standard_input;
    int standard_output;
    int standard_error;
    /// Descriptors that the child keeps under the same number.
    const int *inherited;
    int inherited_count;
    /// Non-zero: a new session instead of a new process group.
    int new_session;
};

/// Starts a process with a clean signal mask, default dispositions, its own process group and no descriptor
/// but those named. Returns 0 and the process ID, or the errno value of what failed.
int berth_spawn(const struct berth_spawn_request *request, pid_t *process);

/// Waits for one child. Returns 0 and fills `exited` (1: exit, 0: signal) and `value`, or the errno value.
int berth_wait(pid_t process, int *exited, int *value);

/// Process ID of the peer of a connected Unix socket, or -1.
pid_t berth_peer_process(int socket);

/// The user ID of the peer of a connected Unix socket, or -1.
long berth_peer_user(int socket);

/// Binds (1) or connects (0) a Unix stream socket to a path of any length. Returns the descriptor, or the
/// negated errno value.
int berth_unix_socket(const char *path, int listen_backlog);

/// Takes an exclusive advisory lock without waiting. Returns 0 or the errno value (EWOULDBLOCK: held).
int berth_lock(int descriptor);

/// Asks the kernel to send SIGKILL to this process when its parent ends (Linux; elsewhere does nothing).
void berth_die_with_parent(void);

/// Opens a file with the close-on-exec flag. Returns the descriptor, or the negated errno value.
int berth_open(const char *path, int flags, int mode);

/// When what a path names itself was changed last, in nanoseconds since 1970; -1 when it cannot be looked at.
long long berth_changed(const char *path);

/// Makes a pipe whose ends, reading and writing, no child inherits. Returns 0 or the errno value.
int berth_pipe(int *ends);

/// Takes room on the disk for `count` bytes after the end of a file whose length stays as it is, so that writing them
/// cannot meet a full disk. Returns 0, also on file systems that cannot do this, or the errno value.
int berth_reserve(int descriptor, long count);

#include "berth_application.h"

#endif
