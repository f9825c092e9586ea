#ifndef BERTH_APPLICATION_H
#define BERTH_APPLICATION_H

#include "CBerthSystem.h"

// What the supervisor of a simulated device needs of Linux; on other systems every function answers ENOSYS.

/// As berth_spawn, but the process is killed when the calling thread ends, however it ends. Call it on a thread that
/// lives as long as the supervisor.
int berth_spawn_bound(const struct berth_spawn_request *request, pid_t *process);

/// Makes this process the parent of descendants whose own parent has ended.
int berth_adopt_orphans(void);

/// Waits until some child has ended and leaves it a zombie, so its ID stays taken until berth_wait reaps it. Returns 0
/// or the errno value (ECHILD: there is no child).
int berth_next_ended_child(pid_t *process);

/// Copies a file's content from one descriptor to another, by reference where the file system can. Returns 0 or the
/// errno value.
int berth_copy_content(int from, int to);

#endif
