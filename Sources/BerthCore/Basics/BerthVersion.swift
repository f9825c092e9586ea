/// The version of all parts of Berth.
package enum BerthVersion {
    /// Semantic version.
    package static let text = "0.1.0"
}
