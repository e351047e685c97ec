import DFUTransport
private import Glibc

/// Simulated devices behind an emulated radio, where the real Bluetooth stack of Linux hears them.
///
/// The radio is another program (`Tests/lab/radio`), which carries what is written, read and notified and decides nothing:
/// the devices are the same values as behind every transport. Time is real. The devices are on the air while this is held
/// and not closed.
package actor EmulatedRadio {
    package typealias Observer = @Sendable (SimulatedEvent, any SimulatedDevice) -> Void

    private struct Carried {
        var advertised: AdvertisedDevice
        var device: any SimulatedDevice
        /// The number of its last connection.
        var connections = 0
        var isConnected = false
        /// Whether it is restarting.
        var isDown = false
    }

    private let executor: PollExecutor
    private let socket: FileDescriptor
    private let radio: RadioModel
    private let observer: Observer?
    private var carried: [String: Carried]
    private var watch: PollExecutor.Watch?
    /// What has come of a line whose end has not.
    private var begun: [UInt8] = []
    /// Who waits for an event.
    private var waiting: [Awaited: CheckedContinuation<Bool, Never>] = [:]
    /// Who waits for the link of a device to be lost.
    private var lost: [String: [@Sendable () -> Void]] = [:]
    private var limit = Duration.seconds(30)
    private var isGone = false
    private var waitingForEnd: [CheckedContinuation<Void, Never>] = []

    private enum Awaited: Hashable {
        case up(String), disconnected(String), plugged(Int), unplugged(Int)
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Connects to a radio's socket.
    ///
    /// - Parameters:
    ///   - path: The socket.
    ///   - devices: The devices, whose addresses differ; they are on the air after `start()`.
    ///   - radio: What a connection to a device carries that does not say so itself.
    ///   - observer: Is told each event, with the device as it is after it, and must not block.
    package init(
        socket path: String, devices: [AdvertisedDevice], radio: RadioModel = RadioModel(), observer: Observer? = nil
    ) throws(RadioError) {
        guard let executor = PollExecutor(name: "radio") else { throw RadioError(message: "no descriptor is left") }
        self.executor = executor
        self.radio = radio
        self.observer = observer
        socket = try Self.connect(path)
        carried = Dictionary(
            uniqueKeysWithValues: devices.map { ($0.device.address, Carried(advertised: $0, device: $0.device)) })
    }

    /// Puts the devices on the air, and waits until they are.
    ///
    /// - Parameter limit: How long it waits for the radio to say that one is, and later that it has done something.
    package func start(within limit: Duration = .seconds(30)) async throws(RadioError) {
        self.limit = limit
        // It holds this as long as the radio is there and this is not closed.
        watch = executor.watch(socket.number, for: .readable) { _ in
            self.assumeIsolated { $0.receive() }
        }
        for address in carried.keys.sorted() {
            try await waitFor(.up(address), .up(description(of: address)))
        }
    }

    /// Takes the devices off the air.
    package func close() {
        end()
    }

    /// Waits until the radio is gone, this is closed, or the task is cancelled.
    package func untilGone() async {
        await withTaskCancellationHandler {
            guard !isGone, !Task.isCancelled else { return }
            await withCheckedContinuation { waitingForEnd.append($0) }
        } onCancel: {
            executor.submit { self.assumeIsolated { $0.wakeThoseWhoWaitForTheEnd() } }
        }
    }

    private func wakeThoseWhoWaitForTheEnd() {
        for continuation in waitingForEnd { continuation.resume() }
        waitingForEnd.removeAll()
    }

    /// The device that had this address at the beginning, as it is now.
    package func device(_ address: String) -> (any SimulatedDevice)? { carried[address]?.device }

    // MARK: What tests do to the air

    /// Lets the radio fail between a device and its host; both notice when the supervision timeout is over.
    ///
    /// - Parameter done: Called when nothing is carried any more, on the radio's thread.
    package nonisolated func loseLink(to address: String, then done: @escaping @Sendable () -> Void = {}) {
        executor.submit {
            self.assumeIsolated { radio in
                guard !radio.isGone else { return done() }
                radio.lost[address, default: []].append(done)
                radio.say(.loseLink(device: address))
            }
        }
    }

    /// Lets a device end its connection.
    package nonisolated func disconnect(_ address: String) {
        executor.submit {
            self.assumeIsolated { $0.say(.disconnect(device: address)) }
        }
    }

    /// Waits until a device has no connection any more.
    package func untilDisconnected(_ address: String) async {
        guard carried[address]?.isConnected == true, !isGone else { return }
        _ = await withCheckedContinuation { waiting[.disconnected(address)] = $0 }
    }

    /// Has a device begin anew with something changed of how it is on the air; a connection to it is lost.
    package func change(_ address: String, _ change: (inout AdvertisedDevice) -> Void) async throws(RadioError) {
        guard var advertised = carried[address]?.advertised else { preconditionFailure("a device that is carried") }
        change(&advertised)
        carried[address]?.advertised = advertised
        hearEnd(of: address)
        try await waitFor(.up(address), .up(description(of: address)))
    }

    /// Has a device lose the keys of its bonds.
    package func forgetBonds(of address: String) {
        say(.forgetBonds(device: address))
    }

    /// Pulls an adapter out, or plugs it in, and waits until that is done.
    package func setPlugged(_ isPlugged: Bool, adapter: Int) async throws(RadioError) {
        if isPlugged {
            try await waitFor(.plugged(adapter), .plug(adapter: adapter))
        } else {
            try await waitFor(.unplugged(adapter), .unplug(adapter: adapter))
        }
    }

    private func waitFor(_ awaited: Awaited, _ order: RadioMessage.Order) async throws(RadioError) {
        guard !isGone else { throw RadioError(message: "the radio has ended") }
        let timer = executor.after(limit) { [weak self] in
            self?.assumeIsolated { $0.waiting.removeValue(forKey: awaited)?.resume(returning: false) }
        }
        let hasCome = await withCheckedContinuation { continuation in
            waiting[awaited] = continuation
            say(order)
        }
        executor.cancel(timer)
        guard hasCome else { throw RadioError(message: "the radio has ended, or does not do what it is told") }
    }

    // MARK: What the radio tells

    private func hear(_ event: RadioMessage.Event) {
        switch event {
        case .up(let device): waiting.removeValue(forKey: .up(device))?.resume(returning: true)
        case .plugged(let adapter): waiting.removeValue(forKey: .plugged(adapter))?.resume(returning: true)
        case .unplugged(let adapter): waiting.removeValue(forKey: .unplugged(adapter))?.resume(returning: true)
        case .connected(let device):
            guard carried[device] != nil else { return }
            carried[device]?.connections += 1
            carried[device]?.isConnected = true
            carried[device]?.device.connected()
            observe(.connected, device)
        case .disconnected(let device): hearEnd(of: device)
        case .written(let device, let characteristic, let value, let id):
            guard carried[device]?.isConnected == true, carried[device]?.isDown == false else { return }
            if let id {
                guard answer(.write(value, to: characteristic), id, of: device) else { return }
            }
            let first = carried[device]?.device.received(packets: 1) ?? []
            let then = carried[device]?.device.written(value, to: characteristic) ?? []
            observe(.written(value, to: characteristic), device)
            perform(first + then, of: device)
        case .read(let device, let characteristic, let id):
            answer(.read(characteristic), id, of: device)
        case .subscribed(let device, let characteristic, true, let id):
            answer(.subscribe(characteristic), id, of: device)
        case .subscribed(let device, _, false, let id): say(.answer(device: device, id: id, .success([])))
        case .linkLost(let device): for done in lost.removeValue(forKey: device) ?? [] { done() }
        case .failed:
            // Whoever waits is not told which order it was.
            for continuation in waiting.values { continuation.resume(returning: false) }
            waiting.removeAll()
        }
    }

    private func hearEnd(of device: String) {
        guard carried[device]?.isConnected == true else { return }
        carried[device]?.isConnected = false
        carried[device]?.device.disconnected()
        observe(.disconnected, device)
        waiting.removeValue(forKey: .disconnected(device))?.resume(returning: true)
    }

    // MARK: What devices do

    /// Has a device answer a request; whether it does what was asked.
    @discardableResult
    private func answer(_ request: AttributeRequest, _ id: Int, of device: String) -> Bool {
        guard let answer = carried[device]?.device.answer(to: request) else { return false }
        perform(answer.before, of: device)
        switch answer.outcome {
        case .success(let value):
            say(.answer(device: device, id: id, .success(value)))
            return true
        case .error(let code):
            say(.answer(device: device, id: id, .failure(.refused(code))))
            return false
        case .silence: return false
        }
    }

    private func perform(_ actions: [DeviceAction], of device: String) {
        let connection = carried[device]?.connections
        for action in actions {
            switch action {
            case .notify(let bytes, let characteristic, let delay):
                after(delay) { radio in
                    guard radio.carried[device]?.connections == connection, radio.carried[device]?.isDown == false
                    else { return }
                    radio.say(.notify(device: device, characteristic: characteristic, value: bytes))
                    radio.observe(.notified(bytes, from: characteristic), device)
                }
            case .disconnect(let delay):
                after(delay) { radio in
                    guard radio.carried[device]?.connections == connection else { return }
                    radio.say(.disconnect(device: device))
                }
            case .reboot(let delay, let offAir): after(delay) { $0.reboot(device, offAir: offAir) }
            case .wake(let token, let delay):
                after(delay) { radio in
                    let actions = radio.carried[device]?.device.woken(token) ?? []
                    radio.perform(actions, of: device)
                }
            }
        }
    }

    private func reboot(_ device: String, offAir: Duration) {
        guard carried[device]?.isDown == false else { return }
        carried[device]?.isDown = true
        say(.down(device: device))
        observe(.wentDown, device)
        hearEnd(of: device)
        after(offAir) { radio in
            radio.carried[device]?.device.rebooted()
            radio.carried[device]?.isDown = false
            let actions = radio.carried[device]?.device.started() ?? []
            radio.say(.up(radio.description(of: device)))
            radio.observe(.rebooted, device)
            radio.perform(actions, of: device)
        }
    }

    private func description(of address: String) -> RadioDescription {
        guard let carried = carried[address] else { preconditionFailure("a device that is carried") }
        let heard = carried.device.advertisements.first { $0.address == carried.device.address }
        return RadioDescription(
            device: address, address: carried.device.address, name: heard?.name ?? carried.advertised.name,
            advertised: heard?.services ?? carried.advertised.services, services: carried.device.services,
            rssi: Int(carried.advertised.rssi), isHeard: carried.advertised.isInRange,
            pairing: carried.advertised.pairing,
            radio: carried.advertised.radio ?? radio, takesHostsInterval: carried.advertised.takesHostsInterval)
    }

    private func after(_ delay: Duration, _ body: @escaping @Sendable (isolated EmulatedRadio) -> Void) {
        guard delay > .zero else { return body(self) }
        executor.after(delay) { [weak self] in
            self?.assumeIsolated { radio in
                if !radio.isGone { body(radio) }
            }
        }
    }

    private func observe(_ kind: SimulatedEvent.Kind, _ address: String) {
        guard let observer, let device = carried[address]?.device else { return }
        observer(SimulatedEvent(address: address, time: SimulatedTime.real.now, kind: kind), device)
    }

    // MARK: The socket

    private func say(_ order: RadioMessage.Order) {
        guard !isGone else { return }
        let line = order.line + [UInt8(ascii: "\n")]
        var sent = 0
        while sent < line.count {
            let count = line[sent...].withUnsafeBytes { bytes in
                send(socket.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return end() }
            sent += count
        }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket.number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return end() }
        begun += buffer.prefix(count)
        while let newline = begun.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(begun[..<newline])
            begun.removeSubrange(...newline)
            if let event = RadioMessage.Event(line) { hear(event) }
        }
    }

    private func end() {
        guard !isGone else { return }
        isGone = true
        if let watch { executor.unwatch(watch) }
        shutdown(socket.number, Int32(SHUT_RDWR))
        for continuation in waiting.values { continuation.resume(returning: false) }
        waiting.removeAll()
        for done in lost.values.joined() { done() }
        lost.removeAll()
        wakeThoseWhoWaitForTheEnd()
    }

    private static func connect(_ path: String) throws(RadioError) -> FileDescriptor {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw RadioError(message: "the path of the socket is too long")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let number = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw RadioError(message: "no descriptor is left") }
        let descriptor = FileDescriptor(owning: number)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw RadioError(message: String(cString: strerror(errno))) }
        return descriptor
    }
}

/// Why there is no radio.
package struct RadioError: Error, Hashable {
    /// A clause for people.
    package var message: String
}
