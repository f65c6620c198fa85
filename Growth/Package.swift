// swift-tools-version: 6.2
import PackageDescription

// Counts what the modules of Isthmus do with documents, headers and tables of growing sizes; run it with `Growth/run`. A package of its
// own, because everything in it is compiled with counters.
let settings: [SwiftSetting] = [
    .defaultIsolation(MainActor.self),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func module(_ name: String) -> Target.Dependency { .product(name: name, package: "Isthmus") }

let package = Package(
    name: "Growth",
    dependencies: [.package(name: "Isthmus", path: "..")],
    targets: [
        // The counters that the compiler's calls go to; octets that are moved and compared count too.
        .target(name: "CGrowthCounter", cSettings: [.unsafeFlags(["-fno-builtin", "-O2"])]),
        .executableTarget(
            name: "growth",
            dependencies: [
                "CGrowthCounter", module("XMLCore"), module("SIPCore"), module("SIPSecurity"), module("PresenceDocuments"),
                module("EnhancedPresence"), module("SimplePresence"), module("PresenceMapping"), module("UserDirectory"),
                module("SIPEvents"), module("FederationRouting"),
                module("Registration"), module("PresenceGateway"), module("PresenceRules"), module("PresenceFilters"), module("XCAP"),
                module("GoldenVectors"),
            ],
            swiftSettings: settings),
    ]
)
