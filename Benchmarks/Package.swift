// swift-tools-version: 6.2
import PackageDescription

// The benchmarks of Isthmus, a package of their own so that nobody builds them by accident; run them with `Benchmarks/run`.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func module(_ name: String) -> Target.Dependency { .product(name: name, package: "Isthmus") }

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: ["Measurement"] + dependencies, swiftSettings: settings)
}

var dependencies: [Package.Dependency] = [.package(name: "Isthmus", path: "..")]
var targets: [Target] = [
    .target(name: "Measurement", swiftSettings: settings),
    .target(name: "Traffic", dependencies: [module("SIPCore")], swiftSettings: settings),
    .target(
        name: "GatewaySetup",
        dependencies: ["Traffic", module("FederationRouting"), module("PresenceGateway"), module("PresenceRules"), module("SIPCore")],
        swiftSettings: settings),
    .target(name: "LiveLoad", dependencies: ["Traffic", module("SIPCore")], swiftSettings: settings),
    program("conversion-benchmark", [module("PresenceMapping"), module("PresenceDocuments"), module("XMLCore")]),
    program("message-benchmark", [module("SIPCore")]),
    program("rules-benchmark", [module("PresenceRules"), module("PresenceDocuments"), module("SIPCore")]),
    program("gateway-benchmark", ["Traffic", "GatewaySetup", module("PresenceGateway"), module("SIPCore")]),
    program("blocking-benchmark", [module("FederationRouting"), module("PresenceGateway"), module("SIPCore")]),
    .systemLibrary(name: "CEpoll"),
    program("enterprise-benchmark", ["CEpoll", module("SIPCore")]),
    program("flood-benchmark", ["LiveLoad", "Traffic", module("SIPCore")]),
    .target(name: "PresenceLoad", dependencies: ["CEpoll"], swiftSettings: settings),
    .target(name: "CallCounter"),
    program("kamailio-benchmark", ["PresenceLoad"]),
]
// As in the package above: the pure modules build without any other package.
if Context.environment["ISTHMUS_CORE_ONLY"] != "1" {
    dependencies.append(.package(url: "https://github.com/apple/swift-log", from: "1.16.2"))
    targets.append(
        program(
            "live-benchmark",
            [
                "Traffic", "GatewaySetup", "LiveLoad", module("PresenceGateway"), module("SIPTransport"), module("SIPCore"),
                .product(name: "Logging", package: "swift-log"),
            ]))
}

let package = Package(
    name: "Benchmarks",
    // Loaded by the measured program, not linked.
    products: [.library(name: "CallCounter", type: .dynamic, targets: ["CallCounter"])],
    dependencies: dependencies, targets: targets)
