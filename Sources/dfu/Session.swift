import DFUTransport

/// What a command finds around it.
struct Session: Sendable {
    var console: Console
    var terminal: Terminal
    var environment: [String: String]
    /// The status that the user's signal asks for; nil while there was none.
    var interruption: @Sendable () -> ExitStatus?
    /// What another program ended with, where that is what this one is to end with.
    let foreignStatus = Locked<Int32?>(nil)

    /// Does what a command line asks for.
    ///
    /// - Parameter line: What stands behind the program's name.
    func run(_ line: [String]) async -> ExitStatus {
        var status: ExitStatus
        do throws(Failure) {
            status = try await perform(line)
        } catch {
            console.report(error.line)
            status = error.status
        }
        if let failure = await console.flush(), status == .ok {
            console.report(failure.line)
            status = failure.status
        }
        _ = await console.flush()
        return status
    }

    private func perform(_ line: [String]) async throws(Failure) -> ExitStatus {
        guard !line.isEmpty else {
            console.report(HelpPage(path: [.root], width: Terminal.helpWidth).text)
            return .usage
        }
        let request = try Verb.root.request(line) { () throws(Failure) in
            try ConfigurationFile.defaults(environment: environment, options: Verb.root.allOptions)
        }
        switch request {
        case .help(let path): console.result(HelpPage(path: path, width: Terminal.helpWidth).text)
        case .version: console.result("dfu \(Version.current)")
        case .run(let command): return try await command.run(self)
        }
        return .ok
    }
}
