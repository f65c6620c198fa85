// swift-tools-version: 6.2
import PackageDescription

// The fuzz targets of Isthmus, a package of their own: their flags need a build of their own. Run them with `make fuzz`.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func module(_ name: String) -> Target.Dependency { .product(name: name, package: "Isthmus") }

let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "Isthmus", path: "..")],
    targets: [
        .executableTarget(
            name: "isthmus-fuzz",
            dependencies: [
                module("XMLCore"), module("SIPCore"), module("SIPSecurity"), module("PresenceDocuments"), module("PresenceRules"),
                module("PresenceMapping"), module("GoldenVectors"), module("XCAP"), module("PresenceFilters"),
            ],
            swiftSettings: settings)
    ]
)
