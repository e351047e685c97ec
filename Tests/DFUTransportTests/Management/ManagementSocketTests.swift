import DFUTransport
import Glibc
import Testing

/// The socket against a kernel that a test plays.
@Suite(.timeLimit(.minutes(1))) struct ManagementSocketTests {
    private static let version: [UInt8] = [0x01, 0x00, 0xFF, 0xFF, 0x06, 0x00, 0x01, 0x00, 0x00, 0x01, 0x16, 0x00]

    /// A kernel that has already said this when it is asked.
    private struct PlayedKernel {
        let near: FileDescriptor
        let far: FileDescriptor

        init(saying datagrams: [[UInt8]] = []) {
            var pair: [Int32] = [-1, -1]
            let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
            precondition(socketpair(AF_UNIX, type, 0, &pair) == 0, "no socket pair")
            (near, far) = (FileDescriptor(owning: pair[0]), FileDescriptor(owning: pair[1]))
            for datagram in datagrams {
                precondition(send(far.number, datagram, datagram.count, 0) == datagram.count)
            }
        }

        func ask(_ command: ManagementCommand, limit: Duration = .seconds(30)) throws(ManagementError) -> [UInt8] {
            let near = near
            return try ManagementSocket(limit: limit) { near }.ask(command)
        }

        /// What it was asked.
        var heard: [UInt8] {
            var buffer = [UInt8](repeating: 0, count: 100)
            let count = recv(far.number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            return Array(buffer.prefix(max(count, 0)))
        }
    }

    @Test func anAnswer() throws {
        let kernel = PlayedKernel(saying: [Self.version])
        #expect(try kernel.ask(.readVersion) == [0x01, 0x16, 0x00])
        #expect(kernel.heard == ManagementCommand.readVersion.frame)
    }

    @Test func eventsAndOthersAnswersArePassedOver() throws {
        let event: [UInt8] = [0x13, 0x00, 0x00, 0x00, 0x02, 0x00, 0x07, 0x01]
        let other: [UInt8] = [0x01, 0x00, 0x00, 0x00, 0x03, 0x00, 0x35, 0x00, 0x00]
        let kernel = PlayedKernel(saying: [event, other, [0x01], Self.version])
        #expect(try kernel.ask(.readVersion) == [0x01, 0x16, 0x00])
    }

    @Test func aRefusal() {
        let kernel = PlayedKernel(saying: [[0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x35, 0x00, 0x14]])
        #expect(throws: ManagementError.permissionDenied) {
            try kernel.ask(.loadConnectionParameters([], adapter: 0))
        }
    }

    @Test func aSilentKernelIsNotWaitedForLong() {
        let kernel = PlayedKernel()
        #expect(throws: ManagementError.silent) { try kernel.ask(.readVersion, limit: .milliseconds(20)) }
    }

    @Test func aKernelThatTalksOfOtherThingsOnlyIsGivenUp() {
        let events = Array(repeating: [0x13, 0x00, 0x00, 0x00, 0x02, 0x00, 0x07, 0x01] as [UInt8], count: 10)
        #expect(throws: ManagementError.silent) {
            try PlayedKernel(saying: events).ask(.readVersion, limit: .milliseconds(20))
        }
    }

    @Test func anEndIsNoAnswer() {
        let kernel = PlayedKernel()
        shutdown(kernel.far.number, Int32(SHUT_RDWR))
        #expect(throws: ManagementError.unavailable("Broken pipe")) { try kernel.ask(.readVersion) }
    }

    @Test func aMachineWithoutTheSocketSaysSo() {
        let socket = ManagementSocket { () throws(ManagementError) in throw .unavailable("no such thing") }
        #expect(throws: ManagementError.unavailable("no such thing")) { try socket.ask(.readVersion) }
    }
}
