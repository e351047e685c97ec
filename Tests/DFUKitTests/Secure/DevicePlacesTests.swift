import DFUTransport
import Testing

@testable import DFUKit

/// Where a device is looked for that has restarted as something else.
@Suite struct DevicePlacesTests {
    private static let application = "C0:FF:EE:12:44:50"

    private func places(
        _ application: String = application, name: String? = nil, keepsAddress: Bool = false, others: Set<String> = []
    ) -> DevicePlaces {
        var places = DevicePlaces(device: application, address: application, others: others)
        places.application = application
        places.name = name
        places.keepsAddress = keepsAddress
        return places
    }

    @Test func aNameOfOurOwnGoesBeforeTheNextAddress() {
        let hints = places(name: "Dfu12345").hints(applicationAfter: .seconds(5))
        #expect(
            hints == [
                DeviceHint(name: "Dfu12345", services: SecureDFU.Attributes.loaderServices),
                DeviceHint(
                    address: "C0:FF:EE:12:44:51", services: SecureDFU.Attributes.loaderServices, patience: .seconds(3)),
                DeviceHint(address: Self.application, patience: .seconds(5)),
            ])
    }

    @Test func withoutANameTheNextAddressIsTakenAtOnceWhereItAdvertisesALoader() {
        let hints = places().hints(applicationAfter: .seconds(5))
        #expect(
            hints.first == DeviceHint(address: "C0:FF:EE:12:44:51", services: SecureDFU.Attributes.loaderServices))
        let loader = SecureDFU.Attributes.service
        #expect(hints[0].fits(address: "C0:FF:EE:12:44:51", name: "DfuTarg", services: [loader], after: .zero))
        #expect(!hints[0].fits(address: "C0:FF:EE:12:44:51", name: "DfuTarg", services: [], after: .zero))
        let isAnyTaken = hints.contains { hint in
            hint.fits(address: "C0:FF:EE:00:00:01", name: "DfuTarg", services: [loader], after: .seconds(60))
        }
        #expect(!isAnyTaken, "never just any DfuTarg")
    }

    @Test("the last octet wraps without a carry, and hosts that carry are understood too")
    func wrap() {
        let addresses = places("C0:FF:EE:12:44:FF").hints(applicationAfter: .zero).map(\.address)
        #expect(addresses == ["C0:FF:EE:12:44:00", "C0:FF:EE:12:45:00", "C0:FF:EE:12:44:FF"])
        #expect(places("FF:FF:FF:FF:FF:FF").hints(applicationAfter: .zero).map(\.address)[1] == "00:00:00:00:00:00")
    }

    @Test func anotherAskedDeviceIsNeverTaken() {
        let hints = places(others: ["C0:FF:EE:12:44:51"]).hints(applicationAfter: .zero)
        #expect(hints.map(\.address) == [Self.application])
    }

    @Test("SEC-27 a bonded bootloader is at the application's address alone")
    func bonded() {
        let hints = places(keepsAddress: true).hints(applicationAfter: .seconds(5))
        #expect(hints == [DeviceHint(address: Self.application)])
    }

    @Test("SEC-24 what is still heard of the application has to wait for the bootloader")
    func oldAdvertisement() {
        let hints = places().hints(applicationAfter: .seconds(5))
        func isTaken(after elapsed: Duration) -> Bool {
            hints.contains { $0.fits(address: Self.application, name: nil, services: [], after: elapsed) }
        }
        #expect(!isTaken(after: .milliseconds(800)))
        #expect(isTaken(after: .seconds(5)))
    }

    @Test func theApplicationOfABootloaderThatWasNamedIsAGuess() {
        var places = DevicePlaces(device: "C0:FF:EE:12:44:00", address: "C0:FF:EE:12:44:00", others: [])
        places.loader = "C0:FF:EE:12:44:00"
        let addresses = places.applicationHints.compactMap(\.address)
        #expect(addresses == ["C0:FF:EE:12:44:FF", "C0:FF:EE:12:43:FF", "C0:FF:EE:12:44:00"])
        #expect(places.isGuess("C0:FF:EE:12:44:FF"))
        #expect(!places.isGuess("C0:FF:EE:12:44:00"))
    }

    @Test func theApplicationIsWhatWasAskedForWhereItsBootloaderWasFound() {
        let places = DevicePlaces(device: Self.application, address: "C0:FF:EE:12:44:51", others: [])
        #expect(places.applicationHints == [DeviceHint(address: Self.application)])
    }
}
