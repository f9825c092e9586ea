#if canImport(CryptoKit)
    import CryptoKit
    import Foundation
#else
    import CCrypto
#endif

/// An Ed25519 key pair (RFC 8032), by the platform's library.
package struct SigningKey: Sendable {
    /// Why a key cannot be used.
    package enum Failure: Error, Hashable, CustomStringConvertible {
        /// The private key is not 32 bytes, or the library does not take it.
        case malformedKey
        /// The library could not sign.
        case signingFailed

        package var description: String {
            switch self {
            case .malformedKey: "the signing key is damaged: 32 bytes of an Ed25519 private key are needed"
            case .signingFailed: "the cryptographic library could not sign"
            }
        }
    }

    /// The 32 bytes of the private key.
    package let privateBytes: [UInt8]
    /// The 32 bytes of the public key.
    package let publicBytes: [UInt8]

    /// A new key.
    /// - Throws: `Failure.malformedKey` when the library refuses
    package static func make() throws -> SigningKey {
        try SigningKey(privateBytes: RandomBytes.make(32))
    }

    #if canImport(CryptoKit)
        /// - Parameter privateBytes: the 32 bytes of a private key.
        /// - Throws: `Failure.malformedKey`
        package init(privateBytes: [UInt8]) throws {
            guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: privateBytes) else {
                throw Failure.malformedKey
            }
            self.privateBytes = privateBytes
            publicBytes = Array(key.publicKey.rawRepresentation)
        }

        /// The 64 bytes of the signature over a message.
        /// - Throws: `Failure`
        package func sign(_ message: [UInt8]) throws -> [UInt8] {
            guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: privateBytes) else {
                throw Failure.malformedKey
            }
            guard let signature = try? key.signature(for: message) else { throw Failure.signingFailed }
            return Array(signature)
        }

        /// Whether a signature over a message was made by the owner of a public key.
        package static func isValid(_ signature: [UInt8], of message: [UInt8], publicBytes: [UInt8]) -> Bool {
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicBytes) else { return false }
            return key.isValidSignature(signature, for: message)
        }
    #else
        /// - Parameter privateBytes: the 32 bytes of a private key.
        /// - Throws: `Failure.malformedKey`
        package init(privateBytes: [UInt8]) throws {
            guard privateBytes.count == 32,
                let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, privateBytes, 32)
            else { throw Failure.malformedKey }
            defer { EVP_PKEY_free(key) }
            var publicBytes = [UInt8](repeating: 0, count: 32)
            var length = 32
            guard EVP_PKEY_get_raw_public_key(key, &publicBytes, &length) == 1, length == 32 else {
                throw Failure.malformedKey
            }
            self.privateBytes = privateBytes
            self.publicBytes = publicBytes
        }

        /// The 64 bytes of the signature over a message.
        /// - Throws: `Failure`
        package func sign(_ message: [UInt8]) throws -> [UInt8] {
            guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, privateBytes, 32) else {
                throw Failure.malformedKey
            }
            defer { EVP_PKEY_free(key) }
            guard let context = EVP_MD_CTX_new() else { throw Failure.signingFailed }
            defer { EVP_MD_CTX_free(context) }
            var signature = [UInt8](repeating: 0, count: 64)
            var length = 64
            guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
                EVP_DigestSign(context, &signature, &length, message, message.count) == 1, length == 64
            else { throw Failure.signingFailed }
            return signature
        }

        /// Whether a signature over a message was made by the owner of a public key.
        package static func isValid(_ signature: [UInt8], of message: [UInt8], publicBytes: [UInt8]) -> Bool {
            guard signature.count == 64, publicBytes.count == 32,
                let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicBytes, 32)
            else { return false }
            defer { EVP_PKEY_free(key) }
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            return EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
                && EVP_DigestVerify(context, signature, 64, message, message.count) == 1
        }
    #endif
}
