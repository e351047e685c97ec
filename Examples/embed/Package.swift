// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "embed",
    dependencies: [.package(name: "dfu", path: "../..")],
    targets: [
        .executableTarget(
            name: "embed",
            dependencies: [
                .product(name: "DFUKit", package: "dfu"), .product(name: "DFUSimulator", package: "dfu"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
