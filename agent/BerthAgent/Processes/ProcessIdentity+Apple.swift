#if os(macOS)
    import Darwin

    extension ProcessIdentity {
        static func look(_ pid: Int32) -> Appearance? {
            var information = kinfo_proc()
            var size = MemoryLayout<kinfo_proc>.stride
            var name: [Int32] = [CTL_KERN, KERN_PROC, KERN_PROC_PID, pid]
            guard sysctl(&name, u_int(name.count), &information, &size, nil, 0) == 0, size > 0 else { return nil }
            let began = information.kp_proc.p_un.__p_starttime
            return Appearance(
                start: "\(began.tv_sec).\(began.tv_usec)",
                isZombie: information.kp_proc.p_stat == UInt8(SZOMB)
            )
        }
    }
#endif
