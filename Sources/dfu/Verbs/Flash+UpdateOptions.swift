import DFUKit

extension Flash {
    /// What the command line decides of each device's update. The key's file is read here.
    func updateOptions() throws(Failure) -> UpdateOptions {
        var options = UpdateOptions()
        try packageOptions.fill(&options)
        options.method = method.method
        options.receiptInterval = prn
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
