extension SecureDFU {
    /// How an application is sent into its bootloader: a request and an answer by indication
    /// (SDK 17: `ble_dfu.h`, `ble_dfu_unbonded.c`, `ble_dfu_bonded.c`; SDK 12: by notification).
    package enum Buttonless {
        /// A request of the host.
        package enum Request: Sendable, Hashable {
            /// Go into the bootloader.
            case enter
            /// Have the bootloader advertise this name: 1 to 20 bytes of UTF-8 (SDK 14 and later).
            case setName(String)

            /// The first byte, which the answer repeats.
            package var opcode: UInt8 {
                switch self {
                case .enter: 0x01
                case .setName: 0x02
                }
            }

            /// The packet's bytes.
            package var encoded: [UInt8] {
                switch self {
                case .enter: return [opcode]
                case .setName(let name):
                    let bytes = Array(name.utf8)
                    precondition((1...20).contains(bytes.count), "a name has 1 to 20 bytes")
                    return [opcode, UInt8(bytes.count)] + bytes
                }
            }
        }

        /// How an application judges a request: the third byte of its answer (`ble_dfu_buttonless_rsp_code_t`).
        package struct ResultCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
            package let rawValue: UInt8

            package init(rawValue: UInt8) {
                self.rawValue = rawValue
            }

            package static let success = ResultCode(rawValue: 0x01)
            package static let opcodeNotSupported = ResultCode(rawValue: 0x02)
            package static let operationFailed = ResultCode(rawValue: 0x04)
            package static let invalidName = ResultCode(rawValue: 0x05)
            package static let busy = ResultCode(rawValue: 0x06)
            package static let notBonded = ResultCode(rawValue: 0x07)

            /// What it means, with the code: `not bonded (0x07)`.
            package var description: String {
                let name =
                    switch self {
                    case .success: "success"
                    case .opcodeNotSupported: "op code not supported"
                    case .operationFailed: "operation failed"
                    case .invalidName: "invalid advertising name"
                    case .busy: "busy"
                    case .notBonded: "not bonded"
                    default: "unknown code"
                    }
                return "\(name) (0x\(rawValue.hexadecimal))"
            }
        }

        /// An answer of the application.
        package struct Response: Sendable, Hashable {
            /// Goes before every answer.
            private static let marker: UInt8 = 0x20

            /// The first byte of the request.
            package var opcode: UInt8
            /// The verdict.
            package var result: ResultCode

            package init(opcode: UInt8, _ result: ResultCode) {
                self.opcode = opcode
                self.result = result
            }

            /// The packet's bytes.
            package var encoded: [UInt8] { [Self.marker, opcode, result.rawValue] }

            /// The answer in a packet; nil where it is none.
            package init?(_ bytes: [UInt8]) {
                guard bytes.count >= 3, bytes[0] == Self.marker else { return nil }
                self.init(opcode: bytes[1], ResultCode(rawValue: bytes[2]))
            }
        }
    }
}
