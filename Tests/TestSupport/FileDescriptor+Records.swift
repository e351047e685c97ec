package import DFUTransport
private import Glibc

extension FileDescriptor {
    /// Writes one record.
    package func send(_ record: [UInt8]) {
        let count = Glibc.send(number, record, record.count, Int32(MSG_NOSIGNAL))
        precondition(count == record.count, "a record of \(record.count) bytes cannot be written")
    }

    /// Writes one record; the error's number where it is not taken.
    package func write(_ record: [UInt8]) -> Int32? {
        Glibc.send(number, record, record.count, Int32(MSG_NOSIGNAL)) == record.count ? nil : errno
    }

    /// Writes one record, where there is room for it.
    package func trySend(_ record: [UInt8]) -> Bool {
        let count = Glibc.send(number, record, record.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        precondition(count == record.count || errno == EAGAIN, "a record of \(record.count) bytes cannot be written")
        return count == record.count
    }

    /// Waits until there is room for a record.
    package func waitUntilWritable() {
        var entry = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, 10_000)
    }

    /// Waits for one record; empty at the end.
    package func receive() -> [UInt8] {
        var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, 10_000)
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = recv(number, &buffer, buffer.count, 0)
        return Array(buffer.prefix(max(count, 0)))
    }

    /// Ends the connection to the other one.
    package func shutDown() {
        shutdown(number, Int32(SHUT_RDWR))
    }
}
