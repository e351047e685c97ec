import DFUKit

extension Flash {
    /// What the command line decides of each device's update.
    var updateOptions: UpdateOptions {
        var options = UpdateOptions()
        options.method =
            switch method {
            case .secure: .secure
            case .blockAck: .blockAck
            case .auto, .legacy, .smp: .automatic
            }
        options.only = only?.role
        options.receiptInterval = prn
        options.firmwareVersion = firmwareVersion
        options.statedCRC = ignoresCRC ? .none : crc.map { .value($0) } ?? .fileName
        options.gap = gap
        options.maximumPacketLength = mtu.map { $0 - 3 }
        options.allowDowngrade = allowDowngrade
        options.skippedChecks = Set(skippedChecks.map(\.check))
        options.verification =
            switch verify {
            case nil: .whereItCan
            case true?: .always
            case false?: .never
            }
        options.connectRetries = connection.connectRetries
        return options
    }
}
