#if os(Linux)
    import BerthCore

    extension MacFacts {
        /// This is no Mac.
        static func collect() async -> MacFacts? { nil }
    }
#endif
