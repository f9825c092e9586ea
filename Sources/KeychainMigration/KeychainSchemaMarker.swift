import Foundation

/// The completion marker of a migration in the app's ordinary preferences (C3).
///
/// It spares a completed migration from being repeated, and proves nothing about the data (C4).
public struct KeychainSchemaMarker {
    /// The name of the preference.
    public static let key = "keychainSchemaVersion"

    private let load: () -> Int?
    private let store: (Int?) -> Void

    /// The marker in the given preferences.
    public init(preferences: UserDefaults = .standard) {
        self.init(
            load: { (preferences.object(forKey: Self.key) as? NSNumber)?.intValue },
            store: { version in
                if let version {
                    preferences.set(version, forKey: Self.key)
                } else {
                    preferences.removeObject(forKey: Self.key)
                }
                // An app that ends right after this must not lose the marker.
                preferences.synchronize()
            }
        )
    }

    init(load: @escaping () -> Int?, store: @escaping (Int?) -> Void) {
        self.load = load
        self.store = store
    }

    /// The version of the last migration that was completed; nil if none was.
    public var version: Int? { load() }

    /// Records that the migration to `version` is complete. Call it only after the data was read back.
    public func set(_ version: Int) {
        store(version)
    }

    /// Forgets that a migration was completed.
    func clear() {
        store(nil)
    }

    func reaches(_ version: Int) -> Bool {
        load().map { $0 >= version } ?? false
    }
}
