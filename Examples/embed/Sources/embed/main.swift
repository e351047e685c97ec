// Updates a simulated band from a program of one's own. With BlueZ, only the transport differs.
import DFUKit
import DFUSimulator
import Glibc

let arguments = CommandLine.arguments.dropFirst()
guard let path = arguments.first, arguments.count == 1 else {
    print("usage: embed PACKAGE")
    exit(64)
}

let package = try Package.open(path).checked()
let time = VirtualTime()
let band = Band()
let transport = SimulatedTransport([band], time: .virtual(time))
let updater = Updater(transport: transport, clock: time)

let (observer, progress) = UpdateObserver.stream()
let printing = Task {
    var lastTenth = -1
    for await snapshot in progress {
        let tenth = Int(snapshot.fraction * 10)
        if tenth != lastTenth { print("\(snapshot.phase.rawValue): \(tenth * 10) %") }
        lastTenth = tenth
    }
}
defer { printing.cancel() }

do {
    let report = try await time.run { [observer] in
        try await updater.update(band.address, with: package, observer: observer)
    }
    print("\(band.address): \(report.bytes) bytes by \(report.protocolName), \(report.verdict)")
} catch let error as UpdateError {
    print("\(band.address): \(error.phase.rawValue): \(error.message) (left \(error.deviceState.rawValue))")
}
