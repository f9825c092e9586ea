import Foundation

// Every constant is an immutable string, set once before its first use and never changed: sharing it is safe, which the
// compiler cannot know of NSString.

// MARK: Classes

/// The kind of item; needed in every query that has no persistent reference.
public nonisolated(unsafe) let kSecClass: CFString = "class"
public nonisolated(unsafe) let kSecClassGenericPassword: CFString = "genp"
public nonisolated(unsafe) let kSecClassInternetPassword: CFString = "inet"
public nonisolated(unsafe) let kSecClassCertificate: CFString = "cert"
public nonisolated(unsafe) let kSecClassKey: CFString = "keys"
public nonisolated(unsafe) let kSecClassIdentity: CFString = "idnt"

// MARK: How many and which

/// How many items: `kSecMatchLimitOne` (the default), `kSecMatchLimitAll` or a number.
public nonisolated(unsafe) let kSecMatchLimit: CFString = "m_Limit"
public nonisolated(unsafe) let kSecMatchLimitOne: CFString = "m_LimitOne"
public nonisolated(unsafe) let kSecMatchLimitAll: CFString = "m_LimitAll"
public nonisolated(unsafe) let kSecMatchPolicy: CFString = "m_Policy"
public nonisolated(unsafe) let kSecMatchItemList: CFString = "m_ItemList"
public nonisolated(unsafe) let kSecMatchSearchList: CFString = "m_SearchList"
public nonisolated(unsafe) let kSecMatchIssuers: CFString = "m_Issuers"
public nonisolated(unsafe) let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
public nonisolated(unsafe) let kSecMatchSubjectContains: CFString = "m_SubjectContains"
public nonisolated(unsafe) let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"
public nonisolated(unsafe) let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
public nonisolated(unsafe) let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
public nonisolated(unsafe) let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

// MARK: What to return

public nonisolated(unsafe) let kSecReturnData: CFString = "r_Data"
public nonisolated(unsafe) let kSecReturnAttributes: CFString = "r_Attributes"
public nonisolated(unsafe) let kSecReturnRef: CFString = "r_Ref"
public nonisolated(unsafe) let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// MARK: Values

public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"
public nonisolated(unsafe) let kSecValueRef: CFString = "v_Ref"
public nonisolated(unsafe) let kSecValuePersistentRef: CFString = "v_PersistentRef"

// MARK: Use

public nonisolated(unsafe) let kSecUseItemList: CFString = "u_ItemList"
public nonisolated(unsafe) let kSecUseOperationPrompt: CFString = "u_OpPrompt"
public nonisolated(unsafe) let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
public nonisolated(unsafe) let kSecUseAuthenticationUI: CFString = "u_AuthUI"
public nonisolated(unsafe) let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
public nonisolated(unsafe) let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
public nonisolated(unsafe) let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
public nonisolated(unsafe) let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
