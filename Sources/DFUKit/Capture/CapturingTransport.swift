internal import DFUProtocol
package import DFUTransport

/// A transport whose connections and reads are written down.
package struct CapturingTransport: Transport {
    private let transport: any Transport
    private let recorder: CaptureRecorder
    private let capturesPackets: Bool

    /// - Parameter capturesPackets: Whether what links carry is written down as well. What procedures do with a link they
    ///   are recorded for themselves.
    package init(_ transport: any Transport, recorder: CaptureRecorder, capturesPackets: Bool) {
        self.transport = transport
        self.recorder = recorder
        self.capturesPackets = capturesPackets
    }

    package func connect(to device: String, timeout: Duration) async throws(TransportError) -> any Peripheral {
        try await connect(to: device, asking: nil, timeout: timeout)
    }

    package func connect(
        to device: String, asking parameters: ConnectionParameters?, timeout: Duration
    ) async throws(TransportError) -> any Peripheral {
        let wish = parameters.map { ", asking for \($0)" } ?? ""
        recorder.tell(CaptureLine.host("CMD", "10", "connect" + wish), isTimed: true)
        do throws(TransportError) {
            let peripheral = try await transport.connect(to: device, asking: parameters, timeout: timeout)
            recorder.tell(CaptureLine.connected.text(), isTimed: true)
            return CapturingPeripheral(peripheral: peripheral, recorder: recorder, capturesPackets: capturesPackets)
        } catch {
            recorder.tell(CaptureLine.device("CONNECT_ERR", "", error.message.withoutAddresses), isTimed: true)
            throw error
        }
    }

    package func reserve(_ device: String) async throws(TransportError) -> DeviceReservation? {
        try await transport.reserve(device)
    }

    package func forgetServices(of device: String) async throws(TransportError) -> ServiceMemory {
        try await transport.forgetServices(of: device)
    }

    package func find(_ hints: [DeviceHint], timeout: Duration) async throws(TransportError) -> String {
        let address = try await transport.find(hints, timeout: timeout)
        recorder.tell(CaptureLine.remark("it is heard as \(address.withoutAddresses)"), isTimed: true)
        return address
    }
}

private struct CapturingPeripheral: Peripheral {
    let peripheral: any Peripheral
    let recorder: CaptureRecorder
    let capturesPackets: Bool

    var address: String { peripheral.address }

    var wasConnected: Bool { peripheral.wasConnected }

    var unmetParameters: String? { peripheral.unmetParameters }

    func services(
        within limit: Duration, until isEnough: @escaping @Sendable ([GATTService]) -> Bool
    ) async -> [GATTService] {
        await peripheral.services(within: limit, until: isEnough)
    }

    func read(_ characteristic: BluetoothUUID, of service: BluetoothUUID) async throws(TransportError) -> [UInt8] {
        recorder.tell(CaptureLine.host("READ", characteristic.short))
        do throws(TransportError) {
            let bytes = try await peripheral.read(characteristic, of: service)
            let text = String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            recorder.tell(CaptureLine.device("READ_RSP", bytes.digits, text))
            return bytes
        } catch {
            recorder.tell(CaptureLine.device("READ_ERR", "", error.message.withoutAddresses))
            throw error
        }
    }

    func openLink(_ bindings: [Endpoint: EndpointBinding]) async throws(TransportError) -> any Link {
        recorder.tell(CaptureLine.host("CMD", "12 0100", "subscribe"))
        do throws(TransportError) {
            let link = try await peripheral.openLink(bindings)
            recorder.tell(CaptureLine.writeResponse(nil).text())
            recorder.opened(link, over: bindings)
            return capturesPackets ? CapturingLink(link: link, bindings: bindings, recorder: recorder) : link
        } catch {
            let line = error.attCode.map { CaptureLine.writeResponse($0) } ?? .writeError
            recorder.tell(line.text(error.message.withoutAddresses))
            throw error
        }
    }

    func disconnect() async {
        recorder.tell(CaptureLine.host("CMD", "31", "disconnect"), isTimed: true)
        await peripheral.disconnect()
    }
}

private struct CapturingLink: Link {
    let link: any Link
    let bindings: [Endpoint: EndpointBinding]
    let recorder: CaptureRecorder

    var maximumWriteLength: Int { link.maximumWriteLength }

    func write(_ bytes: [UInt8], to endpoint: Endpoint) async throws(TransportError) {
        let isAnswered = bindings[endpoint]?.use.isAnswered == true
        recorder.tell(CaptureLine.host(isAnswered ? "WRITE" : "COMMAND", "\(name(endpoint)) \(bytes.digits)"))
        do throws(TransportError) {
            try await link.write(bytes, to: endpoint)
            if isAnswered { recorder.tell(CaptureLine.writeResponse(nil).text()) }
        } catch {
            let line = error.attCode.map { CaptureLine.writeResponse($0) } ?? .writeError
            recorder.tell(line.text(error.message.withoutAddresses))
            throw error
        }
    }

    func setReceiver(_ receiver: (@Sendable (LinkEvent) -> Void)?) {
        guard let receiver else { return link.setReceiver(nil) }
        link.setReceiver { event in
            switch event {
            case .notification(let bytes, let endpoint):
                recorder.tell(CaptureLine.notification(bytes).text(name(endpoint)))
            case .disconnected: recorder.tell(CaptureLine.disconnected.text(), isTimed: true)
            }
            receiver(event)
        }
    }

    private func name(_ endpoint: Endpoint) -> String { bindings[endpoint]?.characteristic.short ?? endpoint.rawValue }
}
