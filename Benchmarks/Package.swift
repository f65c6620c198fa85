// swift-tools-version: 6.2
import PackageDescription

// The benchmarks of Isthmus, a package of their own so that nobody builds them by accident; run them with `Benchmarks/run`.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func room(_ name: String) -> Target.Dependency { .product(name: name, package: "Isthmus") }

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: ["Measurement"] + dependencies, swiftSettings: settings)
}

var dependencies: [Package.Dependency] = [.package(name: "Isthmus", path: "..")]
var targets: [Target] = [
    .target(name: "Measurement", swiftSettings: settings),
    .target(name: "Traffic", dependencies: [room("SIPCore")], swiftSettings: settings),
    .target(name: "GatewaySetup", dependencies: ["Traffic", room("PresenceGateway"), room("SIPCore")], swiftSettings: settings),
    .target(name: "LiveLoad", dependencies: ["Traffic", room("SIPCore")], swiftSettings: settings),
    program("conversion-benchmark", [room("PresenceMapping"), room("PresenceDocuments"), room("XMLCore")]),
    program("message-benchmark", [room("SIPCore")]),
    program("gateway-benchmark", ["Traffic", "GatewaySetup", room("PresenceGateway"), room("SIPCore")]),
    program("blocking-benchmark", [room("PresenceGateway"), room("SIPCore")]),
    .systemLibrary(name: "CEpoll"),
    program("enterprise-benchmark", ["CEpoll", room("SIPCore")]),
    program("flood-benchmark", ["LiveLoad", "Traffic", room("SIPCore")]),
    program("kamailio-benchmark", ["LiveLoad", "Traffic", room("SIPCore")]),
]
// As in the package above: the pure rooms build without any other package.
if Context.environment["ISTHMUS_CORE_ONLY"] != "1" {
    dependencies.append(.package(url: "https://github.com/apple/swift-log", from: "1.16.2"))
    targets.append(
        program(
            "live-benchmark",
            [
                "Traffic", "GatewaySetup", "LiveLoad", room("PresenceGateway"), room("SIPTransport"), room("SIPCore"),
                .product(name: "Logging", package: "swift-log"),
            ]))
}

let package = Package(name: "Benchmarks", dependencies: dependencies, targets: targets)
