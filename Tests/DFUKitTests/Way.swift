/// By which transport a simulated device is reached.
enum Way: String, CaseIterable, Sendable {
    /// In this process, in a virtual time of its own.
    case direct
    /// By BlueZ's transport over a private bus, on which a simulated BlueZ is, in real time.
    case bus
}
