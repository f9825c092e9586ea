#if canImport(CryptoKit)
    import CryptoKit
#else
    import CCrypto
#endif

/// SHA-256 by the platform's library.
package enum SHA256 {
    /// The 32-byte digest of some bytes.
    package static func digest(of bytes: some Collection<UInt8>) -> [UInt8] {
        var hasher = Hasher()
        hasher.update(bytes)
        return hasher.finish()
    }

    #if canImport(CryptoKit)
        /// A digest in the making.
        package struct Hasher {
            private var state = CryptoKit.SHA256()

            package init() {}

            /// Adds bytes.
            package mutating func update(_ bytes: some Collection<UInt8>) {
                state.update(data: ContiguousArray(bytes))
            }

            /// The digest of all bytes so far.
            package func finish() -> [UInt8] { Array(state.finalize()) }
        }
    #else
        /// A digest in the making.
        package struct Hasher: ~Copyable {
            private let context: OpaquePointer?

            package init() {
                context = EVP_MD_CTX_new()
                precondition(context != nil, "libcrypto has no memory for a digest")
                let started = EVP_DigestInit_ex(context, EVP_sha256(), nil)
                precondition(started == 1, "libcrypto offers no SHA-256")
            }

            deinit { EVP_MD_CTX_free(context) }

            /// Adds bytes.
            package mutating func update(_ bytes: some Collection<UInt8>) {
                let added: Void? = bytes.withContiguousStorageIfAvailable { buffer in
                    _ = EVP_DigestUpdate(context, buffer.baseAddress, buffer.count)
                }
                if added == nil {
                    let whole = ContiguousArray(bytes)
                    whole.withUnsafeBytes { _ = EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
                }
            }

            /// The digest of all bytes; adding more afterwards is a mistake of the caller.
            package mutating func finish() -> [UInt8] {
                var digest = [UInt8](repeating: 0, count: 32)
                EVP_DigestFinal_ex(context, &digest, nil)
                return digest
            }
        }
    #endif
}
