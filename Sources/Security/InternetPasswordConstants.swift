import Foundation

// Every constant is an immutable string, set once before its first use and never changed: sharing it is safe, which the
// compiler cannot know of NSString.

// MARK: Protocols of internet passwords

public nonisolated(unsafe) let kSecAttrProtocolFTP: CFString = "ftp "
public nonisolated(unsafe) let kSecAttrProtocolFTPAccount: CFString = "ftpa"
public nonisolated(unsafe) let kSecAttrProtocolHTTP: CFString = "http"
public nonisolated(unsafe) let kSecAttrProtocolIRC: CFString = "irc "
public nonisolated(unsafe) let kSecAttrProtocolNNTP: CFString = "nntp"
public nonisolated(unsafe) let kSecAttrProtocolPOP3: CFString = "pop3"
public nonisolated(unsafe) let kSecAttrProtocolSMTP: CFString = "smtp"
public nonisolated(unsafe) let kSecAttrProtocolSOCKS: CFString = "sox "
public nonisolated(unsafe) let kSecAttrProtocolIMAP: CFString = "imap"
public nonisolated(unsafe) let kSecAttrProtocolLDAP: CFString = "ldap"
public nonisolated(unsafe) let kSecAttrProtocolAppleTalk: CFString = "atlk"
public nonisolated(unsafe) let kSecAttrProtocolAFP: CFString = "afp "
public nonisolated(unsafe) let kSecAttrProtocolTelnet: CFString = "teln"
public nonisolated(unsafe) let kSecAttrProtocolSSH: CFString = "ssh "
public nonisolated(unsafe) let kSecAttrProtocolFTPS: CFString = "ftps"
public nonisolated(unsafe) let kSecAttrProtocolHTTPS: CFString = "htps"
public nonisolated(unsafe) let kSecAttrProtocolHTTPProxy: CFString = "htpx"
public nonisolated(unsafe) let kSecAttrProtocolHTTPSProxy: CFString = "htsx"
public nonisolated(unsafe) let kSecAttrProtocolFTPProxy: CFString = "ftpx"
public nonisolated(unsafe) let kSecAttrProtocolSMB: CFString = "smb "
public nonisolated(unsafe) let kSecAttrProtocolRTSP: CFString = "rtsp"
public nonisolated(unsafe) let kSecAttrProtocolRTSPProxy: CFString = "rtsx"
public nonisolated(unsafe) let kSecAttrProtocolDAAP: CFString = "daap"
public nonisolated(unsafe) let kSecAttrProtocolEPPC: CFString = "eppc"
public nonisolated(unsafe) let kSecAttrProtocolIPP: CFString = "ipp "
public nonisolated(unsafe) let kSecAttrProtocolNNTPS: CFString = "ntps"
public nonisolated(unsafe) let kSecAttrProtocolLDAPS: CFString = "ldps"
public nonisolated(unsafe) let kSecAttrProtocolTelnetS: CFString = "tels"
public nonisolated(unsafe) let kSecAttrProtocolIMAPS: CFString = "imps"
public nonisolated(unsafe) let kSecAttrProtocolIRCS: CFString = "ircs"
public nonisolated(unsafe) let kSecAttrProtocolPOP3S: CFString = "pops"

// MARK: Authentication types of internet passwords

public nonisolated(unsafe) let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeMSN: CFString = "msna"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
