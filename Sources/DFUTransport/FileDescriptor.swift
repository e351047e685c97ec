private import CLinux

/// An open file descriptor that is closed with its last reference.
///
/// Equal only to itself.
package final class FileDescriptor: Sendable, Hashable {
    /// The number, to be used only while this object is held.
    package let number: Int32

    /// Takes over a descriptor that nobody else closes.
    package init(owning number: Int32) {
        precondition(number >= 0, "\(number) is no file descriptor")
        self.number = number
    }

    deinit { close(number) }

    package static func == (left: FileDescriptor, right: FileDescriptor) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
