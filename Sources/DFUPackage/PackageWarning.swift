/// Something strange in a package that does not stand in the way of using it.
public struct PackageWarning: Sendable, Hashable {
    /// A stable word for machines (`hashNotReversed`, `manifestDiffers`, …).
    public var reason: String
    /// One sentence for people.
    public var message: String

    /// A warning of this kind.
    public init(reason: String, message: String) {
        self.reason = reason
        self.message = message.singleLine
    }
}
