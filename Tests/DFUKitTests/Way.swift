import TestSupport

/// How an update reaches its device.
enum Way: String, Sendable {
    /// In this process, in a virtual time of its own.
    case direct
    /// By BlueZ's transport over a private bus, on which a simulated BlueZ is, in real time.
    case bus
    /// By BlueZ's transport and the real BlueZ to an emulated radio, in the lab's guest.
    case radio
}

extension Way: CaseIterable {
    /// In the guest there is the radio, and the others are not tried again.
    static let allCases: [Way] = Lab.radio == nil ? [.direct, .bus] : [.radio]
}
