import Foundation

// The names that Apple's CoreFoundation has for the types in a keychain query. Foundation on Linux has the classes but
// not these names.

/// Any object of a keychain query or result.
public typealias CFTypeRef = AnyObject
public typealias CFString = NSString
public typealias CFDictionary = NSDictionary
public typealias CFMutableDictionary = NSMutableDictionary
public typealias CFArray = NSArray
public typealias CFData = NSData
public typealias CFDate = NSDate
public typealias CFNumber = NSNumber
public typealias CFBoolean = NSNumber
/// The result of a keychain call: 0, or one of the `errSec…` numbers.
public typealias OSStatus = Int32

// Implicitly unwrapped because Apple's are: code says both `kCFBooleanTrue` and `kCFBooleanTrue!`.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
