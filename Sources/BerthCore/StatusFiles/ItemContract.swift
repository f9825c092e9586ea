/// The five fields that tie a build to its item (C1).
package struct ItemContract: Sendable, Hashable, Codable {
    package let itemClass: String
    package let service: String
    package let account: String
    package let accessGroup: String?
    package let accessible: String?

    package init(itemClass: String, service: String, account: String, accessGroup: String?, accessible: String?) {
        self.itemClass = itemClass
        self.service = service
        self.account = account
        self.accessGroup = accessGroup
        self.accessible = accessible
    }
}
