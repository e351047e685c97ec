import DFUProtocol

/// Where an update stands.
struct UpdateProgress: Sendable, Hashable {
    var phase: Phase
    var bytes = 0
    var total = 0
    var part = 1
    var parts = 1
}
