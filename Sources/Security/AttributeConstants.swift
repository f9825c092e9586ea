import Foundation

// Every constant is an immutable string, set once before its first use and never changed: sharing it is safe, which the
// compiler cannot know of NSString.

// MARK: Access

/// When the item may be read; the value is one of the `kSecAttrAccessible…` constants.
public nonisolated(unsafe) let kSecAttrAccessible: CFString = "pdmn"
/// A `SecAccessControl` instead of `kSecAttrAccessible`.
public nonisolated(unsafe) let kSecAttrAccessControl: CFString = "accc"
/// The group of apps that share the item.
public nonisolated(unsafe) let kSecAttrAccessGroup: CFString = "agrp"
/// The group of token items, which apps may read and never write.
public nonisolated(unsafe) let kSecAttrAccessGroupToken: CFString = "com.apple.token"
/// Whether the item belongs to the synchronised keychain.
public nonisolated(unsafe) let kSecAttrSynchronizable: CFString = "sync"
/// In a query: items of both kinds.
public nonisolated(unsafe) let kSecAttrSynchronizableAny: CFString = "syna"
/// Ignored: there is no other keychain.
public nonisolated(unsafe) let kSecUseDataProtectionKeychain: CFString = "nleg"

// MARK: Accessibility

public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
public nonisolated(unsafe) let kSecAttrAccessibleAlways: CFString = "dk"
public nonisolated(unsafe) let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public nonisolated(unsafe) let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"

// MARK: Attributes of passwords

public nonisolated(unsafe) let kSecAttrAccount: CFString = "acct"
public nonisolated(unsafe) let kSecAttrService: CFString = "svce"
public nonisolated(unsafe) let kSecAttrGeneric: CFString = "gena"
public nonisolated(unsafe) let kSecAttrLabel: CFString = "labl"
public nonisolated(unsafe) let kSecAttrDescription: CFString = "desc"
public nonisolated(unsafe) let kSecAttrComment: CFString = "icmt"
public nonisolated(unsafe) let kSecAttrCreator: CFString = "crtr"
public nonisolated(unsafe) let kSecAttrType: CFString = "type"
public nonisolated(unsafe) let kSecAttrIsInvisible: CFString = "invi"
public nonisolated(unsafe) let kSecAttrIsNegative: CFString = "nega"
public nonisolated(unsafe) let kSecAttrCreationDate: CFString = "cdat"
public nonisolated(unsafe) let kSecAttrModificationDate: CFString = "mdat"
public nonisolated(unsafe) let kSecAttrAlias: CFString = "alis"
public nonisolated(unsafe) let kSecAttrServer: CFString = "srvr"
public nonisolated(unsafe) let kSecAttrSecurityDomain: CFString = "sdmn"
public nonisolated(unsafe) let kSecAttrProtocol: CFString = "ptcl"
public nonisolated(unsafe) let kSecAttrAuthenticationType: CFString = "atyp"
public nonisolated(unsafe) let kSecAttrPort: CFString = "port"
public nonisolated(unsafe) let kSecAttrPath: CFString = "path"

// MARK: Attributes of certificates

public nonisolated(unsafe) let kSecAttrCertificateType: CFString = "ctyp"
public nonisolated(unsafe) let kSecAttrCertificateEncoding: CFString = "cenc"
public nonisolated(unsafe) let kSecAttrSubject: CFString = "subj"
public nonisolated(unsafe) let kSecAttrIssuer: CFString = "issr"
public nonisolated(unsafe) let kSecAttrSerialNumber: CFString = "slnr"
public nonisolated(unsafe) let kSecAttrSubjectKeyID: CFString = "skid"
public nonisolated(unsafe) let kSecAttrPublicKeyHash: CFString = "pkhh"

// MARK: Attributes of keys

public nonisolated(unsafe) let kSecAttrKeyClass: CFString = "kcls"
public nonisolated(unsafe) let kSecAttrApplicationLabel: CFString = "klbl"
public nonisolated(unsafe) let kSecAttrApplicationTag: CFString = "atag"
public nonisolated(unsafe) let kSecAttrKeyType: CFString = "type"
public nonisolated(unsafe) let kSecAttrKeySizeInBits: CFString = "bsiz"
public nonisolated(unsafe) let kSecAttrEffectiveKeySize: CFString = "esiz"
public nonisolated(unsafe) let kSecAttrIsPermanent: CFString = "perm"
public nonisolated(unsafe) let kSecAttrIsSensitive: CFString = "sens"
public nonisolated(unsafe) let kSecAttrIsExtractable: CFString = "extr"
public nonisolated(unsafe) let kSecAttrCanEncrypt: CFString = "encr"
public nonisolated(unsafe) let kSecAttrCanDecrypt: CFString = "decr"
public nonisolated(unsafe) let kSecAttrCanDerive: CFString = "drve"
public nonisolated(unsafe) let kSecAttrCanSign: CFString = "sign"
public nonisolated(unsafe) let kSecAttrCanVerify: CFString = "vrfy"
public nonisolated(unsafe) let kSecAttrCanWrap: CFString = "wrap"
public nonisolated(unsafe) let kSecAttrCanUnwrap: CFString = "unwp"
public nonisolated(unsafe) let kSecAttrTokenID: CFString = "tkid"
public nonisolated(unsafe) let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
public nonisolated(unsafe) let kSecAttrKeyClassPublic: CFString = "0"
public nonisolated(unsafe) let kSecAttrKeyClassPrivate: CFString = "1"
public nonisolated(unsafe) let kSecAttrKeyClassSymmetric: CFString = "2"
public nonisolated(unsafe) let kSecAttrKeyTypeRSA: CFString = "42"
public nonisolated(unsafe) let kSecAttrKeyTypeEC: CFString = "73"
public nonisolated(unsafe) let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
