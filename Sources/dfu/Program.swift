private import FoundationEssentials
private import Glibc

/// `dfu`.
@main
enum Program {
    static func main() {
        exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// Does what the line asks for.
    ///
    /// Apart from `main`, whose tasks would belong to the main actor: its thread is the one that waits here.
    private static func run(_ line: [String]) -> ExitStatus {
        let watch = SignalWatch()
        let console = Console()
        let environment = ProcessInfo.processInfo.environment
        let session = Session(
            console: console, terminal: Terminal(environment: environment), environment: environment,
            interruption: { watch.interruption })
        // The only task without a parent: this thread watches the signals, and cancels it.
        let work = Task { watch.end(await session.run(line)) }
        return watch.wait(console: console) { work.cancel() }
    }
}
