import DFUSimulator
import DFUTransport

/// What the ID of a simulated device says of one that is updated over Secure DFU.
struct SimulatedSecureOptions: Sendable, Equatable {
    /// The generation of the bootloader.
    enum SDK: String, Choice {
        case sdk12 = "12"
        case sdk15 = "15"
        case sdk16 = "16"
        case sdk17 = "17"

        var generation: SecureSDK {
            switch self {
            case .sdk12: .sdk12
            case .sdk15: .sdk15
            case .sdk16: .sdk16
            case .sdk17: .sdk17
            }
        }
    }

    /// How the application is sent into the bootloader.
    enum Buttonless: String, Choice {
        case none, unbonded, bonded, sdk12

        var entry: SecureDevice.Entry {
            switch self {
            case .none: .none
            case .unbonded: .unbonded
            case .bonded: .bonded
            case .sdk12: .sdk12
            }
        }
    }

    /// What runs at first.
    enum Start: String, Choice {
        case app, bootloader
    }

    /// Whether there is room for the old application beside the new one.
    enum Bank: String, Choice {
        case single, dual
    }

    /// The SoftDevice.
    enum Softdevice: Sendable, Equatable {
        case none
        case id(UInt16)

        var id: UInt16? {
            switch self {
            case .none: nil
            case .id(let id): id
            }
        }
    }

    var sdk = SDK.sdk17
    /// The hardware version; nil: packages for any are taken.
    var hardware: Int?
    /// The SoftDevice; nil: packages for any are taken.
    var softdevice: Softdevice?
    /// The file of the key by which packages have to be signed; nil: signatures are not looked at.
    var keyFile: String?
    var buttonless = Buttonless.unbonded
    var start = Start.app
    var bank = Bank.dual
    var address: BluetoothAddress?
    var name: String?

    static let options: [Option<SimulatedSecureOptions>] = [
        .option("sdk", \.sdk, .choice("sdk"), help: "The generation of the bootloader."),
        .option(
            "hw", \.hardware, .number(0...Int(UInt32.max)),
            help: "The hardware version (default: packages for any are taken)."),
        .option(
            "sd", \.softdevice, .softdevice,
            help: "The SoftDevice's firmware ID, or none (default: packages for any are taken)."),
        .option(
            "key", \.keyFile, .file(),
            help: "The key by which packages have to be signed (default: signatures are not looked at)."),
        .option("buttonless", \.buttonless, .choice("entry"), help: "How its application enters the bootloader."),
        .option("start", \.start, .choice("mode"), help: "What runs at first."),
        .option("bank", \.bank, .choice("bank"), help: "Whether the old application stays until the new one is there."),
        .option("address", \.address, .address, help: "Its address."),
        .option("name", \.name, .text("name"), help: "The name that its application advertises."),
    ]
}

extension ValueFormat<SimulatedSecureOptions.Softdevice> {
    /// The firmware ID of a SoftDevice, as nrfutil takes it: `0x0100`.
    fileprivate static var softdevice: Self {
        ValueFormat(placeholder: "id") { text throws(InvalidValue) in
            if text == "none" { return .none }
            guard text.lowercased().hasPrefix("0x"), text.dropFirst(2).allSatisfy(\.isHexDigit),
                let id = UInt16(text.dropFirst(2), radix: 16)
            else { throw .wrong("not a SoftDevice's firmware ID, as 0x0100, or none") }
            return .id(id)
        }
    }
}
