import DFUTransport
import Testing

@testable import DFUSimulator

@Suite struct RadioMessageTests {
    private static let device = "C0:FF:EE:00:00:01"
    private static let command = BluetoothUUID(short: 0xFEE1)

    @Test(
        arguments: [
            (.down(device: device), #"{"device":"C0:FF:EE:00:00:01","do":"down"}"#),
            (
                .notify(device: device, characteristic: command, value: [0x0A, 0xFF]),
                #"{"characteristic":"FEE1","device":"C0:FF:EE:00:00:01","do":"notify","value":"0aff"}"#
            ),
            (
                .answer(device: device, id: 7, .success([])),
                #"{"device":"C0:FF:EE:00:00:01","do":"answer","id":7,"value":""}"#
            ),
            (
                .answer(device: device, id: 7, .failure(.refused(.readNotPermitted))),
                #"{"device":"C0:FF:EE:00:00:01","do":"answer","error":2,"id":7}"#
            ),
            (.disconnect(device: device), #"{"device":"C0:FF:EE:00:00:01","do":"disconnect"}"#),
            (.loseLink(device: device), #"{"device":"C0:FF:EE:00:00:01","do":"loseLink"}"#),
            (.forgetBonds(device: device), #"{"device":"C0:FF:EE:00:00:01","do":"forgetBonds"}"#),
            (.plug(adapter: 1), #"{"adapter":1,"do":"plug"}"#), (.unplug(adapter: 0), #"{"adapter":0,"do":"unplug"}"#),
        ] as [(RadioMessage.Order, String)])
    func says(order: RadioMessage.Order, line: String) {
        #expect(String(decoding: order.line, as: UTF8.self) == line)
    }

    @Test("a device's table, radio and pairing are in the line that puts it on the air")
    func up() {
        let vendor = BluetoothUUID("8ec90001-f315-4f60-9fb8-838830daea50")!
        let description = RadioDescription(
            device: Self.device, address: "C0:FF:EE:00:00:02", name: "Band", advertised: [BluetoothUUID(short: 0xFEE0)],
            services: [
                GATTService(
                    uuid: vendor,
                    characteristics: [GATTCharacteristic(uuid: Self.command, properties: [.notify, .write])])
            ], rssi: -60, isHeard: true, pairing: DevicePairing(.entry(123_456), of: [Self.command]),
            radio: RadioModel(
                interval: .milliseconds(30), dataLength: 251, mtu: 247, packetsPerEvent: 4,
                supervisionTimeout: .milliseconds(420), advertisingInterval: .milliseconds(100)))
        let line =
            #"{"address":"C0:FF:EE:00:00:02","advertised":["FEE0"],"device":"C0:FF:EE:00:00:01","do":"up","#
            + #""isHeard":true,"name":"Band","pairing":{"characteristics":["FEE1"],"method":"entry","number":123456,"#
            + #""refuses":false},"radio":{"advertisingInterval":100,"dataLength":251,"interval":30,"mtu":247,"#
            + #""packetsPerEvent":4,"supervisionTimeout":420},"rssi":-60,"services":[{"characteristics":[{"properties":24,"#
            + #""uuid":"FEE1"}],"uuid":"8ec90001-f315-4f60-9fb8-838830daea50"}]}"#
        #expect(String(decoding: RadioMessage.Order.up(description).line, as: UTF8.self) == line)
    }

    @Test(
        "an event carries as many packets of full length as there is time for",
        arguments: [
            (RadioModel.bluetooth42, 3), (.bluetooth50, 5), (RadioModel(packetsPerEvent: 2), 2),
        ])
    func packets(radio: RadioModel, count: Int) {
        let description = RadioDescription(
            device: Self.device, address: Self.device, advertised: [], services: [], rssi: 0, isHeard: true,
            radio: radio)
        let line = String(decoding: RadioMessage.Order.up(description).line, as: UTF8.self)
        #expect(line.contains("\"packetsPerEvent\":\(count),"))
    }

    @Test(
        arguments: [
            #"{"event":"written","device":"D","characteristic":"FEE1","value":"0aff","id":3}"#:
                "written D fee1 10 255 3",
            #"{"event":"written","device":"D","characteristic":"FEE1","value":""}"#: "written D fee1 nil",
            #"{"event":"read","device":"D","characteristic":"2a26","id":4}"#: "read D 2a26 4",
            #"{"event":"subscribed","device":"D","characteristic":"FEE2","isOn":true,"id":5}"#:
                "subscribed D fee2 true 5",
            #"{"event":"connected","device":"D"}"#: "connected D",
            #"{"event":"disconnected","device":"D","reason":19}"#: "disconnected D",
            #"{"event":"failed","message":"no"}"#: "failed no",
        ])
    func hears(line: String, words: String) {
        #expect(RadioMessage.Event(Array(line.utf8)).map(Self.words) == words)
    }

    @Test(
        "what is no event is none",
        arguments: [
            "", "{", "[]", "{}", #"{"event":"written"}"#,
            #"{"event":"written","device":"D","characteristic":"x","value":""}"#,
            #"{"event":"written","device":"D","characteristic":"fee1","value":"0"}"#,
            #"{"event":"read","device":"D","id":1}"#,
            #"{"event":"subscribed","device":"D","characteristic":"FEE2","id":5}"#,
            #"{"event":"danced","device":"D"}"#, #"{"event":"plugged","adapter":0.5}"#,
        ])
    func isNone(line: String) {
        #expect(RadioMessage.Event(Array(line.utf8)) == nil)
    }

    private static func words(_ event: RadioMessage.Event) -> String {
        func short(_ uuid: BluetoothUUID) -> String { String(uuid.description.prefix(8).suffix(4)) }
        switch event {
        case .up(let device): return "up \(device)"
        case .connected(let device): return "connected \(device)"
        case .disconnected(let device): return "disconnected \(device)"
        case .written(let device, let characteristic, let value, let id):
            let bytes = value.map { " \($0)" }.joined()
            return "written \(device) \(short(characteristic))\(bytes) " + (id.map(String.init) ?? "nil")
        case .read(let device, let characteristic, let id): return "read \(device) \(short(characteristic)) \(id)"
        case .subscribed(let device, let characteristic, let isOn, let id):
            return "subscribed \(device) \(short(characteristic)) \(isOn) \(id)"
        case .linkLost(let device): return "linkLost \(device)"
        case .plugged(let adapter): return "plugged \(adapter)"
        case .unplugged(let adapter): return "unplugged \(adapter)"
        case .failed(let message): return "failed \(message)"
        }
    }
}
