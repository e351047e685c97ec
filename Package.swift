// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A library target and its test target, which has the same name and `Tests` behind it.
func library(_ name: String, _ dependencies: [Target.Dependency], tests: [Target.Dependency] = []) -> [Target] {
    [
        .target(name: name, dependencies: dependencies, swiftSettings: settings),
        .testTarget(
            name: name + "Tests", dependencies: [.init(stringLiteral: name), "TestSupport"] + tests,
            swiftSettings: settings),
    ]
}

let package = Package(
    name: "dfu",
    products: [
        .library(name: "DFUKit", targets: ["DFUKit"]),
        .library(name: "DFUSimulator", targets: ["DFUSimulator"]),
        .executable(name: "dfu", targets: ["dfu"]),
    ],
    targets: [
        .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls", providers: [.apt(["libgnutls28-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CZip", pkgConfig: "libzip", providers: [.apt(["libzip-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    ]
        + library("DFUPackage", ["CGnuTLS", "CZip", "CZlib"])
        + library("DFUProtocol", ["CZlib"], tests: ["DFUSimulator", "DFUTransport"])
        + library("DFUTransport", ["DFUProtocol", "CDBus", "CLinux"])
        + library("DFUKit", ["DFUPackage", "DFUProtocol", "DFUTransport"], tests: ["DFUSimulator"])
        + library(
            "DFUSimulator", ["DFUPackage", "DFUProtocol", "DFUTransport", "CLinux"],
            tests: ["DFUProtocol", "DFUTransport"])
        + [
            .executableTarget(
                name: "dfu", dependencies: ["DFUKit", "DFUSimulator", "CLinux"], swiftSettings: settings),
            .executableTarget(
                name: "benchmarks", dependencies: ["DFUKit", "DFUSimulator", "DFUTransport", "TestSupport"],
                path: "Benchmarks/Transfer",
                swiftSettings: settings),
            .executableTarget(
                name: "soak", dependencies: ["DFUKit", "DFUSimulator", "TestSupport"], path: "Benchmarks/Soak",
                swiftSettings: settings),
            .executableTarget(
                name: "stream", dependencies: ["DFUKit", "DFUTransport"], path: "Benchmarks/Radio",
                exclude: ["bleak_stream.py", "compare.py"], swiftSettings: settings),
            .testTarget(
                name: "dfuTests", dependencies: ["dfu", "DFUKit", "DFUSimulator", "TestSupport"],
                swiftSettings: settings),
            .testTarget(
                name: "LabTests",
                dependencies: ["DFUKit", "DFUProtocol", "DFUSimulator", "DFUTransport", "TestSupport"],
                swiftSettings: settings),
            .target(
                name: "TestSupport", dependencies: ["DFUKit", "DFUProtocol", "DFUSimulator", "DFUTransport"],
                path: "Tests/TestSupport", swiftSettings: settings),
        ]
)

// Fuzz/README.md says why this is not a package of its own.
if Context.environment["FUZZ"] != nil {
    package.targets += [
        .executableTarget(
            name: "fuzz", dependencies: ["DFUKit", "DFUPackage", "DFUProtocol"], path: "Fuzz",
            exclude: ["Corpus", "README.md"], swiftSettings: settings)
    ]
}
