import DFUTransport

/// A simulated device on the air, and the one connection that it may have.
///
/// It starts tasks that nobody waits for. They end by themselves: one for a connection while there is something to carry,
/// and one for each thing that is to happen later.
final class SimulatedStation: Sendable {
    typealias Observer = @Sendable (SimulatedEvent, any SimulatedDevice) -> Void

    private struct State {
        var device: any SimulatedDevice
        /// When it will be on the air again; nil where it is.
        var returns: Duration?
        var connection: SimulatedConnection?
        var connections = 0
    }

    /// The device's address when it was put on the air, which it is known by.
    let address: String
    let radio: RadioModel
    let time: SimulatedTime
    private let observer: Observer?
    private let state: Locked<State>

    init(_ device: any SimulatedDevice, radio: RadioModel, time: SimulatedTime, observer: Observer?) {
        address = device.address
        self.radio = radio
        self.time = time
        self.observer = observer
        state = Locked(State(device: device))
    }

    /// The device as it is now.
    var device: any SimulatedDevice { state.withLock { $0.device } }

    /// Where the device is found now.
    var currentAddress: String { state.withLock { $0.device.address } }

    /// What is heard of the device now: nothing where it is off the air, or has a host.
    var advertisements: [DeviceAdvertisement] {
        state.withLock { $0.returns == nil && $0.connection == nil ? $0.device.advertisements : [] }
    }

    /// When a host that could not connect at `now` may try again.
    func nextAdvertisement(after now: Duration) -> Duration {
        max(state.withLock { $0.returns } ?? now, now + radio.advertisingInterval)
    }

    // MARK: Beginning and end

    /// Connects, where the device waits for a host at this address: the connection's number and the services that the
    /// device shows.
    func connect(to address: String) -> (number: Int, services: [GATTService])? {
        let now = time.now
        let opened: (Int, [GATTService])? = state.withLock { state in
            guard state.returns == nil, state.connection == nil, state.device.address == address else { return nil }
            state.connections += 1
            state.connection = SimulatedConnection(number: state.connections, radio: radio, now: now)
            state.device.connected()
            return (state.connections, state.device.services)
        }
        if opened != nil { observe(.connected) }
        return opened
    }

    /// Ends a connection from the host's side, and waits until it is down; what is still queued is lost.
    func disconnect(_ number: Int) async {
        let now = time.now
        let end = withConnection(number) { connection, _ in
            if connection.stage == .up { connection.stage = .silent }
            return connection.nextAnchor(now: now)
        }
        guard let end else { return }
        // In a task of its own, because a cancelled one cannot sleep.
        await at(end) { $0.close(number) }.value
    }

    /// Lets the radio fail: nothing is carried any more, and both sides notice when the supervision timeout is over.
    func loseLink() {
        let number = state.withLock { state -> Int? in
            guard state.connection?.stage == .up else { return nil }
            state.connection?.stage = .silent
            return state.connection?.number
        }
        guard let number else { return }
        at(time.now + radio.supervisionTimeout) { $0.close(number) }
    }

    /// Ends a connection from the device's side; the host hears of it in the next connection event.
    private func drop(_ number: Int) {
        let now = time.now
        let end = withConnection(number) { connection, device -> Duration? in
            guard connection.stage == .up else { return nil }
            connection.stage = .deviceGone
            device.disconnected()
            return connection.nextAnchor(now: now)
        }
        guard let end else { return }
        at(end) { $0.close(number) }
    }

    /// Takes the device off the air without a word; the host notices when the supervision timeout is over.
    private func reboot(offAir: Duration) {
        let now = time.now
        var connected: Int?
        let isDown = state.withLock { state in
            // What a device meant to do later is forgotten when it goes down.
            guard state.returns == nil else { return false }
            state.returns = now + offAir
            guard let connection = state.connection, connection.stage != .deviceGone else { return true }
            state.connection?.stage = .deviceGone
            state.device.disconnected()
            connected = connection.number
            return true
        }
        guard isDown else { return }
        observe(.wentDown)
        if let connected { at(now + radio.supervisionTimeout) { $0.close(connected) } }
        at(now + offAir) { station in
            let actions = station.state.withLock { state in
                state.device.rebooted()
                state.returns = nil
                return state.device.started()
            }
            station.observe(.rebooted)
            // Nobody is connected yet.
            station.perform(actions, on: 0)
        }
    }

    /// Both sides know that the connection is over.
    private func close(_ number: Int) {
        let closed = state.withLock { state -> SimulatedConnection? in
            guard state.connection?.number == number, let connection = state.connection.take() else { return nil }
            if connection.stage != .deviceGone { state.device.disconnected() }
            return connection
        }
        guard let closed else { return }
        observe(.disconnected)
        for request in closed.requests.values { request.resume(returning: .failure(.connectionLost)) }
        for listener in closed.listeners { listener.events.send(.disconnected) }
    }

    /// How long a host waits for the answer to a request (Bluetooth Core 5.4, volume 3, part F, 3.3.3).
    private static let transactionLimit = Duration.seconds(30)

    /// Nothing can be asked any more on a connection with a request that is not answered: the host ends it.
    private func giveUp(_ request: Int, on number: Int) {
        let isUnanswered = withConnection(number) { connection, _ in connection.requests[request] != nil }
        if isUnanswered == true { close(number) }
    }

    // MARK: The host's side

    /// Has somebody hear what the device notifies.
    func add(_ listener: SimulatedListener, to number: Int) {
        let added: Void? = withConnection(number) { connection, _ in connection.listeners.append(listener) }
        if added == nil { listener.events.send(.disconnected) }
    }

    /// Queues a write without response.
    func send(_ bytes: [UInt8], to characteristic: BluetoothUUID, on number: Int) throws(TransportError) {
        let sent: Void? = queue(on: number) { connection in connection.send(bytes, to: characteristic) }
        guard sent != nil else { throw .connectionLost }
    }

    /// Sends a request, and waits for its answer or the end of the connection.
    func request(_ request: SimulatedConnection.Request, on number: Int) async throws(TransportError) -> [UInt8] {
        let answer = await withCheckedContinuation { continuation in
            let sent: Void? = queue(on: number) { connection in
                connection.send(request, continuation: continuation)
            }
            if sent == nil { continuation.resume(returning: .failure(.connectionLost)) }
        }
        return try answer.get()
    }

    private func hear(_ packet: SimulatedConnection.DevicePacket, on number: Int) {
        switch packet {
        case .notification(let bytes, let characteristic):
            guard let listeners = withConnection(number, { connection, _ in connection.listeners }) else { return }
            observe(.notified(bytes, from: characteristic))
            for listener in listeners { listener.hear(bytes, from: characteristic) }
        case .answer(let answer, let id):
            let request = withConnection(number) { connection, _ in connection.requests.removeValue(forKey: id) }
            request?.resume(returning: answer)
        }
    }

    // MARK: The device's side

    private func receive(_ packets: Int, on number: Int) {
        let actions = withConnection(number) { connection, device in
            connection.stage == .up && packets > 0 ? device.received(packets: packets) : nil
        }
        if let actions { perform(actions, on: number) }
    }

    private func receive(_ packet: SimulatedConnection.HostPacket, on number: Int) {
        switch packet {
        case .command(let bytes, let characteristic):
            write(bytes, to: characteristic, request: nil, on: number)
        case .request(.write(let bytes, let characteristic), let id):
            write(bytes, to: characteristic, request: id, on: number)
        case .request(.read(let characteristic), let id):
            answer(id, .read(characteristic), on: number)
        case .request(.subscribe(let characteristic), let id):
            answer(id, .subscribe(characteristic), on: number)
        case .request(.discover, let id):
            withConnection(number) { connection, _ in connection.answer(id, .success([])) }
        }
    }

    private func write(_ bytes: [UInt8], to characteristic: BluetoothUUID, request: Int?, on number: Int) {
        if let request {
            guard answer(request, .write(bytes, to: characteristic), on: number) else { return }
        }
        let actions = withConnection(number) { connection, device in
            connection.stage == .up ? device.written(bytes, to: characteristic) : nil
        }
        guard let actions else { return }
        observe(.written(bytes, to: characteristic))
        perform(actions, on: number)
    }

    /// Has the device answer a request; whether it does what was asked.
    @discardableResult
    private func answer(_ id: Int, _ request: AttributeRequest, on number: Int) -> Bool {
        let answer = withConnection(number) { connection, device in
            connection.stage == .up ? device.answer(to: request) : nil
        }
        guard let answer else { return false }
        perform(answer.before, on: number)
        withConnection(number) { connection, _ in
            switch answer.outcome {
            case .success(let value): connection.answer(id, .success(value))
            case .error(let code): connection.answer(id, .failure(.refused(code)))
            case .silence: break
            }
        }
        if case .silence = answer.outcome {
            at(time.now + Self.transactionLimit) { $0.giveUp(id, on: number) }
        }
        if case .success = answer.outcome { return true }
        return false
    }

    private func perform(_ actions: [DeviceAction], on number: Int) {
        for action in actions {
            switch action {
            case .notify(let bytes, let characteristic, let delay):
                after(delay) { station in
                    station.queue(on: number) { connection in connection.notify(bytes, from: characteristic) }
                }
            case .disconnect(let delay): after(delay) { $0.drop(number) }
            case .reboot(let delay, let offAir): after(delay) { $0.reboot(offAir: offAir) }
            case .wake(let token, let delay): after(delay) { $0.wake(token) }
            }
        }
    }

    private func wake(_ token: Int) {
        let (actions, number) = state.withLock { state in (state.device.woken(token), state.connection?.number) }
        // Nobody hears what it says without a connection; all else it can do.
        perform(actions, on: number ?? 0)
    }

    // MARK: Time

    /// Queues something on a connection, and sees to it that there will be a connection event to carry it.
    @discardableResult
    private func queue(on number: Int, _ body: (inout SimulatedConnection) -> Void) -> Void? {
        let now = time.now
        var firstEvent: Duration?
        let queued: Void? = withConnection(number) { connection, _ in
            body(&connection)
            firstEvent = connection.startEvents(now: now)
        }
        if let firstEvent { passEvents(of: number, from: firstEvent) }
        return queued
    }

    private func passEvents(of number: Int, from firstAnchor: Duration) {
        Task(executorPreference: time.executor) { [self] in
            var anchor = firstAnchor
            while true {
                guard await lives(until: anchor),
                    let event = withConnection(number, { connection, _ in connection.passEvent(at: anchor) }),
                    await lives(until: anchor + event.duration)
                else { return }
                for packet in event.toHost { hear(packet, on: number) }
                receive(event.hostPackets, on: number)
                for packet in event.toDevice { receive(packet, on: number) }
                anchor += radio.interval
            }
        }
    }

    /// Does something when `delay` has passed; at once where there is none.
    private func after(_ delay: Duration, _ body: @escaping @Sendable (SimulatedStation) -> Void) {
        if delay > .zero {
            at(time.now + delay, body)
        } else {
            body(self)
        }
    }

    @discardableResult
    private func at(
        _ moment: Duration, _ body: @escaping @Sendable (SimulatedStation) -> Void
    ) -> Task<Void, Never> {
        Task(executorPreference: time.executor) { [self] in
            if await lives(until: moment) { body(self) }
        }
    }

    /// Waits for a moment; false where the world ends before it.
    private func lives(until moment: Duration) async -> Bool {
        do {
            try await time.sleep(until: moment)
            return true
        } catch {
            return false
        }
    }

    // MARK: State

    /// Works on the connection with this number and the device, or gives nil where that connection is over.
    @discardableResult
    private func withConnection<Value>(
        _ number: Int, _ body: (inout SimulatedConnection, inout any SimulatedDevice) -> Value?
    ) -> Value? {
        state.withLock { state in
            guard state.connection?.number == number, var connection = state.connection.take() else { return nil }
            defer { state.connection = connection }
            return body(&connection, &state.device)
        }
    }

    private func observe(_ kind: SimulatedEvent.Kind) {
        guard let observer else { return }
        observer(SimulatedEvent(address: address, time: time.now, kind: kind), device)
    }
}
