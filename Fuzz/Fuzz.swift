/// The target that `--target=NAME` asks for; libFuzzer itself leaves out arguments that begin with two dashes.
private let target: FuzzTarget = {
    let option = "--target="
    let name = CommandLine.arguments.last { $0.hasPrefix(option) }?.dropFirst(option.count) ?? ""
    guard let target = FuzzTarget(rawValue: String(name)) else {
        fatalError("no target \"\(name)\"; give --target= and one of \(FuzzTarget.allCases.map(\.rawValue))")
    }
    return target
}()

/// What libFuzzer calls with each input (LLVM, libFuzzer, "Fuzz Target").
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
