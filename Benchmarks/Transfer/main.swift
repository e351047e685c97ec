// What stands in README.md, measured again: swift run -c release benchmarks
import DFUKit
import TestSupport

/// Questions to the bus.
let trips = 20_000

/// 1 MiB.
let size = 1 << 20

func seconds(_ duration: Duration) -> String {
    let milliseconds = Int((duration / .milliseconds(1)).rounded())
    let fraction = String(milliseconds % 1000)
    return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
}

func percent(_ share: Double) -> String {
    "\((share * 1000).rounded() / 10) %"
}

func rate(_ duration: Duration) -> String {
    "\((Double(size) / (duration / .seconds(1)) / 100).rounded() / 10) kB/s"
}

func row(_ cells: String...) {
    print("| " + cells.joined(separator: " | ") + " |")
}

print("Block-ack, 1 MiB in virtual time, 7.5 ms from one connection event to the next:\n")
row("link", "gap", "bound", "virtual time", "of the bound", "rate", "wall time")
row("---", "---", "--:", "--:", "--:", "--:", "--:")
let gaps: [(String, BlockAck.Parameters.Gap)] = [
    ("0", .fixed(.zero)), ("adaptive from 20 ms", .adaptive(from: .milliseconds(20))),
    ("20 ms", .fixed(.milliseconds(20))),
]
var adaptive: [MeasuredTransfer] = []
for link in MeasuredLink.all {
    let bound = Duration.microseconds(link.bound.time(for: size))
    for (name, gap) in gaps {
        let start = ContinuousClock.now
        let transfer = try await MeasuredTransfer(of: size, over: link, gap: gap)
        let wall = start.duration(to: .now)
        guard transfer.result == .success(.accepted), transfer.isInstalled, transfer.statistics.retries == 0 else {
            fatalError("\(link.name), gap \(name): the transfer went wrong: \(transfer)")
        }
        if case .adaptive = gap { adaptive.append(transfer) }
        row(
            link.name, name, seconds(bound) + " s", seconds(transfer.total) + " s", percent(bound / transfer.total),
            rate(transfer.total), seconds(wall) + " s")
    }
}

print("\nThe way of the adaptive gap, until every block comes as fast as 95 % of the bound:\n")
row("link", "settled at block", "the way there cost", "of the bound from there on")
row("---", "--:", "--:", "--:")
for transfer in adaptive {
    let block = transfer.settledBlock(share: 0.95)
    row(
        transfer.link.name, "\(block + 1)", seconds(transfer.cost(before: block)) + " s",
        percent(transfer.share(from: block)))
}

print("\nSecure DFU, 1 MiB in virtual time:\n")
row("link", "receipts", "bound", "virtual time", "of the bound", "rate", "sent again", "wall time")
row("---", "---", "--:", "--:", "--:", "--:", "--:", "--:")
let receipts: [(String, SecureDFU.Parameters.Receipts)] = [
    ("adaptive", .adaptive(limit: 256)), ("none", .none), ("after 12", .every(12)), ("after 1", .every(1)),
]
for link in MeasuredSecureLink.all {
    for (name, receipts) in receipts {
        let start = ContinuousClock.now
        let transfer = try await MeasuredSecureTransfer(of: size, over: link, receipts: receipts)
        let wall = start.duration(to: .now)
        guard transfer.result == .success(.installed), transfer.isInstalled else {
            fatalError("\(link.name), receipts \(name): the transfer went wrong: \(transfer)")
        }
        row(
            link.name, name, seconds(transfer.bound) + " s", seconds(transfer.total) + " s",
            percent(transfer.share), rate(transfer.total), "\(transfer.statistics.objectsResent)",
            seconds(wall) + " s")
    }
}

print("\nThe driver's gap between two packets by the wall clock, 200 times:\n")
row("gap", "shortest", "median", "longest")
row("--:", "--:", "--:", "--:")
for gap in [Duration.milliseconds(20), .milliseconds(5)] {
    let gaps = await GapBenchmark.measure(gap, count: 200)
    let cells = [gap, gaps[0], gaps[gaps.count / 2], gaps[gaps.count - 1]].map { seconds($0 * 1000) + " ms" }
    row(cells[0], cells[1], cells[2], cells[3])
}

print("\nD-Bus, \(trips) questions to the bus itself, one after the other:\n")
row("a second", "each", "of it this process's processor time")
row("--:", "--:", "--:")
let bus = try await BusBenchmark(of: trips)
row(
    "\(Int(Double(trips) / (bus.wall / .seconds(1))))", "\(Int(bus.wall / .microseconds(1)) / trips) µs",
    "\(Int(bus.processor / .microseconds(1)) / trips) µs")
