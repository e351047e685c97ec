import DFUTransport
private import FoundationEssentials
private import Glibc

/// `dfu`.
@main
enum Program {
    static func main() {
        holdStandardStreams()
        exit(run(Array(CommandLine.arguments.dropFirst())))
    }

    /// Keeps the numbers of standard streams that came closed: the next file opened would have one of them, and our lines
    /// would go into it. Writing to such a stream still fails.
    private static func holdStandardStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// Does what the line asks for, and gives the status to end with.
    ///
    /// Apart from `main`, whose tasks would belong to the main actor: its thread is the one that waits here.
    private static func run(_ line: [String]) -> Int32 {
        let watch = SignalWatch()
        let environment = ProcessInfo.processInfo.environment
        let terminal = Terminal(environment: environment)
        let console = Console(hasColor: terminal.hasColor)
        let session = Session(
            console: console, terminal: terminal, environment: environment,
            interruption: { watch.interruption })
        // The only task without a parent: this thread watches the signals, and cancels it.
        let work = Task { watch.end(await session.run(line)) }
        let status = watch.wait(console: console) { work.cancel() }
        return session.foreignStatus.withLock(\.self) ?? status.rawValue
    }
}
