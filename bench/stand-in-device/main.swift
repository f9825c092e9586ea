// A device tool that does nothing to its device but note who uses it, from when to when. No Foundation: it must start fast.
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

func fail(_ words: String) -> Never {
    let line = Array("stand-in-device: \(words)\n".utf8)
    _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    exit(1)
}

func now(_ clock: clockid_t) -> Int64 {
    var moment = timespec()
    clock_gettime(clock, &moment)
    return Int64(moment.tv_sec) * 1_000_000_000 + Int64(moment.tv_nsec)
}

let arguments = CommandLine.arguments
guard arguments.count == 8, let milliseconds = UInt32(arguments[7]) else {
    // Whatever else an agent asks its tool for, this one has no answer.
    fail("expected FOLDER VERB RUN ATTEMPT EPOCH DECIDED MILLISECONDS")
}
let folder = arguments[1]
let holder = arguments[2...6].joined(separator: " ")
let touches = open("\(folder)/touches", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
let inUse = open("\(folder)/in-use", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
guard touches >= 0, inUse >= 0 else { fail("cannot open the files of \(folder): errno \(errno)") }

func note(_ event: String) {
    var line = Array("\(now(CLOCK_MONOTONIC)) \(now(CLOCK_REALTIME) / 1_000_000) \(getpid()) \(event) \(holder)".utf8)
    // One write of one line at the end: lines of several processes do not mix. Of 128 bytes, so that none reaches into a
    // second page of the file, before which a kill cuts a write off.
    line += [UInt8](repeating: 32, count: max(127 - line.count, 0)) + [10]
    let count = line.withUnsafeBytes { write(touches, $0.baseAddress, $0.count) }
    if count != line.count { fail("cannot note the touch: errno \(errno)") }
}

// The device's own word on sharing: whoever finds it in use says so, and uses it all the same, as a device would be.
if flock(inUse, LOCK_EX | LOCK_NB) != 0 { note("overlap") }
note("begin")
usleep(milliseconds * 1000)
note("end")
