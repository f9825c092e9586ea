import Foundation
import Testing

/// Every way in which Swift code on Apple's systems spells a keychain call.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: AppFixture.canCompile, "the built Security module, berth-sim or the compiler is absent")
)
struct SpellingTests {
    private static let source = """
        import Foundation
        import Security

        @main struct Main {
            static func main() {
                let typed: [CFString: Any] = [
                    kSecClass: kSecClassGenericPassword, kSecAttrAccount: "typed", kSecValueData: Data([1, 2]),
                    kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock, kSecReturnPersistentRef: true,
                ]
                var reference: CFTypeRef?
                print("add", SecItemAdd(typed as CFDictionary, &reference), (reference as? Data)?.count ?? -1)

                let text: [String: Any] = [
                    kSecClass as String: kSecClassGenericPassword, String(kSecAttrAccount): "typed",
                    kSecReturnData as String: kCFBooleanTrue!, kSecReturnAttributes as String: kCFBooleanTrue as Any,
                    kSecMatchLimit as String: kSecMatchLimitOne,
                ]
                var object: AnyObject?
                print("copy", SecItemCopyMatching(text as CFDictionary, &object))
                let found = object as? [String: Any] ?? [:]
                print(
                    found[kSecValueData as String] as? Data == Data([1, 2]),
                    found[kSecAttrAccount as String] as? String ?? "none",
                    found[kSecAttrAccessible as String] as? String == kSecAttrAccessibleAfterFirstUnlock as String,
                    found[kSecAttrCreationDate as String] is Date,
                    found[kSecAttrSynchronizable as String] as? Bool ?? true,
                    (found[kSecAttrSynchronizable as String] as? NSNumber)?.intValue ?? -1
                )

                let mutable = NSMutableDictionary()
                mutable[kSecClass] = kSecClassGenericPassword
                mutable[kSecReturnAttributes] = NSNumber(value: true)
                mutable[kSecMatchLimit] = kSecMatchLimitAll
                var list: CFTypeRef?
                print("all", SecItemCopyMatching(mutable, &list), (list as? [[String: Any]])?.count ?? -1)
                // A number is no boolean, as on Apple's systems.
                mutable[kSecReturnAttributes] = NSNumber(value: 1)
                print("number", SecItemCopyMatching(mutable, nil) == errSecParam)

                let byReference: [CFString: Any] = [kSecValuePersistentRef: reference as Any]
                print("update", SecItemUpdate(byReference as CFDictionary, [kSecValueData: Data()] as CFDictionary))
                let read: NSDictionary = [kSecClass: kSecClassGenericPassword, kSecReturnData: true]
                var data: AnyObject?
                print("empty", SecItemCopyMatching(read, &data), (data as? Data)?.count ?? -1)

                let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil)
                let controlled: [CFString: Any] = [
                    kSecClass: kSecClassGenericPassword, kSecAttrAccount: "controlled",
                    kSecAttrAccessControl: control as Any, kSecAttrSynchronizable: kCFBooleanFalse as Any,
                ]
                print("control", SecItemAdd(controlled as CFDictionary, nil))
                let all: [String: Any] = [
                    kSecClass as String: kSecClassGenericPassword,
                    kSecAttrSynchronizable as String: kSecAttrSynchronizableAny,
                ]
                print("delete", SecItemDelete(all as CFDictionary), SecItemDelete(all as CFDictionary))
                print(SecCopyErrorMessageString(errSecItemNotFound, nil) as String? ?? "none")

                // Many threads at once, each with a call of its own.
                DispatchQueue.concurrentPerform(iterations: 32) { number in
                    let item: [CFString: Any] = [
                        kSecClass: kSecClassGenericPassword, kSecAttrAccount: "thread-\\(number % 16)",
                    ]
                    _ = SecItemAdd(item as CFDictionary, nil)
                }
                var threads: CFTypeRef?
                _ = SecItemCopyMatching(mutable.merging(kSecReturnAttributes, true), &threads)
                print("threads", (threads as? [Any])?.count ?? -1)
            }
        }

        extension NSMutableDictionary {
            func merging(_ key: CFString, _ value: Any) -> CFDictionary {
                self[key] = value
                return self
            }
        }
        """

    @Test("All spellings compile without a warning and do the same")
    func spellings() async throws {
        let apps = try AppFixture()
        let program = try await apps.compile(Self.source, name: "spellings")
        let udid = try await apps.device()
        _ = try await apps.simctl("boot", udid)
        let bundle = try apps.bundle(
            program,
            name: "Spellings",
            entitlements: ["keychain-access-groups": ["TEAM.group"]]
        )
        #expect(
            try await apps.output(of: bundle, on: udid) == [
                "add 0 20", "copy 0", "true typed true true false 0", "all 0 1", "number true", "update 0", "empty 0 0",
                "control 0", "delete 0 -25300", "The specified item could not be found in the keychain.", "threads 16",
            ]
        )
    }
}
