import DFUTransport

/// The connection that a simulated device has, as a value.
struct SimulatedConnection: Sendable {
    /// What a host asks of a device's attributes, and waits for.
    enum Request: Sendable {
        /// Exchanges the MTU, or resolves attributes.
        case discover
        case read(BluetoothUUID)
        case write([UInt8], to: BluetoothUUID)
        case subscribe(BluetoothUUID)
    }

    typealias Answer = Result<[UInt8], TransportError>

    enum HostPacket: Sendable {
        case command([UInt8], to: BluetoothUUID)
        case request(Request, id: Int)
    }

    enum DevicePacket: Sendable {
        case notification([UInt8], from: BluetoothUUID)
        case answer(Answer, to: Int)
    }

    /// How far a connection is on its way to its end.
    enum Stage: Sendable {
        /// Packets are carried.
        case up
        /// Nothing is carried any more; the device has not noticed, and the host need not have.
        case silent
        /// The device knows that it is over; the host has not noticed.
        case deviceGone
    }

    /// Tells this connection from the device's earlier ones.
    let number: Int
    /// How far it is on its way to its end.
    var stage = Stage.up
    /// Who hears the notifications.
    var listeners: [SimulatedListener] = []
    /// Who waits for an answer.
    var requests: [Int: CheckedContinuation<Answer, Never>] = [:]

    private let interval: Duration
    private var queues: RadioQueues<HostPacket, DevicePacket>
    private var lastRequest = 0
    private var lastAnchor: Duration
    private var hasEvents = false

    init(number: Int, radio: RadioModel, now: Duration) {
        self.number = number
        interval = radio.interval
        queues = RadioQueues(radio: radio)
        lastAnchor = now
    }

    /// Queues a write without response.
    mutating func send(_ bytes: [UInt8], to characteristic: BluetoothUUID) {
        queues.send(.command(bytes, to: characteristic), attributeLength: Self.valueHeader + bytes.count)
    }

    /// Queues a request.
    mutating func send(_ request: Request, continuation: CheckedContinuation<Answer, Never>) {
        lastRequest += 1
        requests[lastRequest] = continuation
        let length =
            switch request {
            case .discover: 7
            case .read: 3
            case .write(let bytes, _): Self.valueHeader + bytes.count
            case .subscribe: Self.valueHeader + 2
            }
        queues.send(.request(request, id: lastRequest), attributeLength: length)
    }

    /// Queues a notification of the device.
    mutating func notify(_ bytes: [UInt8], from characteristic: BluetoothUUID) {
        queues.answer(.notification(bytes, from: characteristic), attributeLength: Self.valueHeader + bytes.count)
    }

    /// Queues the device's answer to a request.
    mutating func answer(_ id: Int, _ answer: Answer) {
        let length =
            switch answer {
            case .success(let bytes): 1 + bytes.count
            case .failure: 5
            }
        queues.answer(.answer(answer, to: id), attributeLength: length)
    }

    /// When the connection's next event begins; what is queued at that moment goes in it.
    func nextAnchor(now: Duration) -> Duration {
        let (whole, rest) = (now - lastAnchor).attoseconds.quotientAndRemainder(dividingBy: interval.attoseconds)
        return lastAnchor + interval * max(1, Int(whole) + (rest > 0 ? 1 : 0))
    }

    /// The begin of the first event, where there is something to carry and nobody who lets events pass.
    mutating func startEvents(now: Duration) -> Duration? {
        guard stage == .up, !hasEvents, !queues.isEmpty else { return nil }
        hasEvents = true
        return nextAnchor(now: now)
    }

    /// Lets the event at `anchor` pass; nil when it would carry nothing, and whoever lets events pass may go.
    mutating func passEvent(at anchor: Duration) -> RadioQueues<HostPacket, DevicePacket>.Event? {
        guard stage == .up, !queues.isEmpty else {
            hasEvents = false
            return nil
        }
        lastAnchor = anchor
        return queues.passEvent()
    }

    /// Opcode and handle of an attribute packet that carries a value.
    private static var valueHeader: Int { 3 }
}
