import DFUProtocol
import FoundationEssentials
import Testing

@testable import dfu

@Suite struct JSONLineTests {
    private let date = Date(timeIntervalSince1970: 1_700_000_000.25)
    private let device = JSONLine.Device(
        device: "sim:band", id: "sim:band?time=virtual", address: "sim:band", isSimulated: true)

    private func text(_ event: JSONLine.Event, device: JSONLine.Device? = nil) -> String {
        JSONLine(event, device: device, at: date).text
    }

    @Test func start() {
        #expect(
            text(.start(version: "1.2.3"))
                == #"{"event":"start","schema":1,"time":"2023-11-14T22:13:20.250Z","version":"1.2.3"}"#)
    }

    @Test func phase() {
        #expect(
            text(.phase(.enterBootloader, part: 1, parts: 2), device: device)
                == #"{"address":"sim:band","device":"sim:band","event":"phase","id":"sim:band?time=virtual","part":1,"#
                + #""parts":2,"phase":"enter-bootloader","time":"2023-11-14T22:13:20.250Z"}"#)
    }

    @Test func progress() {
        #expect(
            text(.progress(bytes: 1, total: 3, bytesPerSecond: 1234.56, secondsLeft: nil))
                == #"{"bytes":1,"bytesPerSecond":1234.6,"etaSeconds":null,"event":"progress","fraction":0.3333,"#
                + #""time":"2023-11-14T22:13:20.250Z","total":3}"#)
    }

    @Test("CLI-05 the fraction is 1 only when all is acknowledged")
    func fraction() {
        func fraction(_ bytes: Int) -> String? {
            text(.progress(bytes: bytes, total: 1_000_000, bytesPerSecond: nil, secondsLeft: nil))
                .split(separator: ",").first { $0.hasPrefix("\"fraction\"") }.map(String.init)
        }
        #expect(fraction(0) == "\"fraction\":0")
        #expect(fraction(999_999) == "\"fraction\":0.9999")
        #expect(fraction(1_000_000) == "\"fraction\":1")
    }

    @Test func warningsKeepTheirTextWhole() {
        #expect(
            text(.warning(reason: "batteryLow", message: "20 % \u{1B}\n\"\\ä"))
                == #"{"event":"warning","message":"20 % \u001b\n\"\\ä","reason":"batteryLow","time":"2023-11-14T22:13:20.250Z"}"#
        )
    }

    @Test func resultOfADevice() {
        var result = JSONLine.Result(status: .refused, message: "its battery is low")
        result.reason = "batteryLow"
        result.deviceCode = 6
        result.phase = .check
        result.deviceState = "asBefore"
        result.protocolName = "block-ack"
        result.seconds = 1.23456
        result.attempts = 1
        result.firmware.versionBefore = "1.0.0"
        #expect(
            text(.result(result), device: device)
                == #"{"address":"sim:band","attempts":1,"bytes":0,"device":"sim:band","deviceCode":6,"#
                + #""deviceState":"asBefore","event":"result","firmware":{"hash":null,"version":null,"#
                + #""versionBefore":"1.0.0"},"id":"sim:band?time=virtual","message":"its battery is low","#
                + #""name":"refused","ok":false,"phase":"check","protocol":"block-ack","reason":"batteryLow","#
                + #""retries":0,"seconds":1.235,"simulated":true,"status":76,"time":"2023-11-14T22:13:20.250Z"}"#)
    }

    @Test func resultOfARunHasNoDevice() {
        #expect(
            text(.result(JSONLine.Result(status: .partial, message: "1 of 2 failed")))
                == #"{"device":null,"event":"result","message":"1 of 2 failed","name":"partial","ok":false,"#
                + #""reason":null,"status":80,"time":"2023-11-14T22:13:20.250Z"}"#)
    }
}
