/// The user that this process acts for, and what it may.
struct SystemUser: Sendable, Equatable {
    /// What a user has to do with a group.
    enum Membership: Sendable {
        /// There is no such group.
        case noGroup
        case outside
        /// The user belongs to it since this session began, which therefore does not.
        case notYet
        case inside
    }

    /// The user's number; nil where it cannot be seen.
    var id: Int?
    var name: String?
    /// What the user has to do with the group `bluetooth`, which BlueZ's D-Bus policy lets in on many systems.
    var bluetoothGroup: Membership
    /// Whether the process may administer the network, and with it Bluetooth's connection parameters; nil where it cannot be
    /// seen.
    var hasNetworkAdministration: Bool?

    /// Reads `/proc/self/status` (proc(5)), `/etc/passwd` and `/etc/group`.
    init(status: String, passwd: String, group: String) {
        var fields: [Substring: [Substring]] = [:]
        for line in status.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[parts[0]] = parts[1].split { $0 == "\t" || $0 == " " } }
        }
        let id = fields["Uid"]?.dropFirst().first.flatMap { Int($0) }
        let name = Self.records(passwd).first { $0.count > 2 && Int($0[2]) == id && id != nil }.map { String($0[0]) }
        self.id = id
        self.name = name
        let groups = Set(((fields["Groups"] ?? []) + (fields["Gid"] ?? [])).compactMap { Int($0) })
        bluetoothGroup =
            Self.records(group).first { $0.first == "bluetooth" && $0.count > 3 }.map { record in
                if let number = Int(record[2]), groups.contains(number) { return .inside }
                let isListed = record[3].split(separator: ",").contains { name != nil && String($0) == name }
                return isListed ? .notYet : .outside
            } ?? .noGroup
        // CAP_NET_ADMIN is number 12 (linux/capability.h).
        hasNetworkAdministration = fields["CapEff"]?.first.flatMap { UInt64($0, radix: 16) }.map { $0 >> 12 & 1 == 1 }
    }

    private static func records(_ text: String) -> [[Substring]] {
        text.split(separator: "\n").map { $0.split(separator: ":", omittingEmptySubsequences: false) }
    }
}
