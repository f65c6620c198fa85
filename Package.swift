// swift-tools-version: 6.2
import PackageDescription

// The modules of Isthmus, floor by floor. A target may name only targets of lower floors (and its own floor where drawn);
// `scripts/check-layers` proves it, and proves that nothing below the edges does I/O or reads a clock.
//
//   program     isthmus
//   service     GatewayService
//   edges       SIPTransport   Storage   Administration   LDAPDirectory   NameResolution   CBuildIdentity
//   gateway     PresenceGateway
//   bridge      PolicyBridge
//   meaning     PresenceMapping   EnhancedPresence   SimplePresence   PresenceRules   FederationRouting   UserDirectory   Registration
//               XCAP   PresenceFilters
//   vocabulary  PresenceDocuments   SIPEvents   SIPSecurity
//   syntax      XMLCore   SIPCore   ByteCoding   CLibXML2   CZlib   COpenSSL   CLDAP   CCares
//   tests       GatewayTesting   GoldenVectors
//               ScriptedPeers (also of the demo; without the gateway)
//
// ISTHMUS_COMMIT is the commit that `isthmus --version` prints (hexadecimal digits, and "-modified"); `make release` sets it. It is a
// setting of CBuildIdentity alone, so that another commit compiles one file of C and the commands, and nothing else. ISTHMUS_ICU_DATA,
// likewise, is the assembly with the trimmed data of ICU (scripts/trim-icu), and ISTHMUS_LINKER the linker of the program.
let commit = Context.environment["ISTHMUS_COMMIT"].flatMap { text -> String? in
    let digits = text.hasSuffix("-modified") ? text.dropLast("-modified".count) : text[...]
    return !digits.isEmpty && digits.allSatisfy(\.isHexDigit) ? text : nil
}

// ISTHMUS_CORE_ONLY=1 leaves out the edges and the program, and with them every package dependency: the pure modules and
// their tests then build in a minute (see CONTRIBUTING.md).
let coreOnly = Context.environment["ISTHMUS_CORE_ONLY"] == "1"

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

// ISTHMUS_OPTIMIZED=1, which the Makefile sets: debug builds of the modules are optimised, with all assertions, so that the thousand seeds
// of the simulator take a third of the time. Not by default, since a package with such flags cannot be a dependency of another one.
let moduleSettings =
    Context.environment["ISTHMUS_OPTIMIZED"] == "1"
    ? settings + [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : settings

func module(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: moduleSettings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

// The tables of Mappings/, compiled into the program so that it runs alone, moved anywhere.
let mappingTables: [Resource] = [
    "activity-token-to-rpid",
    "availability-classes",
    "availability-to-msrtc-pidf",
    "availability-to-pidf",
    "availability-to-xpidf",
    "capabilities",
    "combine",
    "contact",
    "container-policy",
    "fields",
    "free-busy",
    "languages",
    "location-to-place",
    "msrtc-pidf-to-availability",
    "other-text-to-availability",
    "place-to-location",
    "rpid-to-availability",
    "time-zones",
    "xpidf-to-availability",
].map { .embedInCode("../../Mappings/\($0).json") }

var targets: [Target] = [
    // syntax
    .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    module("ByteCoding"),
    module("XMLCore", ["ByteCoding", "CLibXML2"]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    module("SIPCore", ["CZlib"]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    // vocabulary
    module("PresenceDocuments", ["ByteCoding", "XMLCore"]),
    module("SIPEvents", ["SIPCore"]),
    module("SIPSecurity", ["ByteCoding", "SIPCore", "COpenSSL"]),
    // meaning
    module("EnhancedPresence", ["ByteCoding", "PresenceDocuments", "XMLCore"]),
    module("SimplePresence", ["PresenceDocuments", "XMLCore"]),
    module("PresenceRules", ["PresenceDocuments", "SIPCore", "XMLCore"]),
    module("PresenceMapping", ["ByteCoding", "PresenceDocuments", "XMLCore"], resources: mappingTables),
    module("FederationRouting", ["SIPCore"]),
    module("UserDirectory", ["SIPCore", "SIPSecurity", "PresenceDocuments", "XMLCore"]),
    module("Registration", ["ByteCoding", "SIPCore", "SIPEvents", "SIPSecurity"]),
    module("PresenceFilters", ["PresenceDocuments", "XMLCore"]),
    module("XCAP", ["PresenceDocuments", "SIPCore", "SIPSecurity", "XMLCore"]),
    // bridge
    module("PolicyBridge", ["EnhancedPresence", "PresenceDocuments", "PresenceRules", "SIPCore", "XMLCore"]),
    // An edge without packages, so that it builds with the core.
    .systemLibrary(name: "CCares", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
    module("NameResolution", ["CCares", "FederationRouting", "SIPCore"]),
    // gateway
    module(
        "PresenceGateway",
        [
            "ByteCoding", "SIPCore", "SIPEvents", "SIPSecurity", "XMLCore", "PresenceDocuments", "EnhancedPresence", "SimplePresence",
            "PresenceFilters", "PresenceMapping", "PresenceRules", "PolicyBridge", "FederationRouting", "Registration", "UserDirectory",
            "XCAP",
        ]),
    // tests
    module("ScriptedPeers", ["ByteCoding", "PresenceDocuments", "SIPCore", "XMLCore"]),
    module(
        "GatewayTesting",
        [
            "ByteCoding", "ScriptedPeers", "PresenceGateway", "FederationRouting", "PresenceMapping", "PresenceDocuments", "SIPCore",
            "SIPEvents", "XMLCore",
        ]),
    module("GoldenVectors", ["ByteCoding", "PresenceMapping", "PresenceDocuments", "EnhancedPresence", "SIPCore", "XMLCore"]),

    // Beside the scripts that it runs; for test targets alone.
    .target(name: "ThrowAwayCertificates", path: "Tests/Support/ThrowAwayCertificates", swiftSettings: settings),
    .target(name: "NotificationSocket", path: "Tests/Support/NotificationSocket", swiftSettings: settings),

    tests("ByteCodingTests", ["ByteCoding"]),
    tests("XMLCoreTests", ["XMLCore"]),
    tests("SIPCoreTests", ["SIPCore"]),
    tests("SIPEventsTests", ["SIPEvents", "SIPCore"]),
    tests("SIPSecurityTests", ["ByteCoding", "SIPSecurity", "SIPCore", "ThrowAwayCertificates"]),
    tests("PresenceDocumentsTests", ["PresenceDocuments", "XMLCore"]),
    tests("EnhancedPresenceTests", ["EnhancedPresence", "PresenceDocuments", "XMLCore"]),
    tests("SimplePresenceTests", ["SimplePresence", "PresenceDocuments", "XMLCore"]),
    tests("PresenceRulesTests", ["PresenceRules", "PresenceDocuments", "SIPCore", "XMLCore"]),
    tests("PolicyBridgeTests", ["PolicyBridge", "EnhancedPresence", "PresenceDocuments", "PresenceRules", "SIPCore", "XMLCore"]),
    tests("PresenceMappingTests", ["PresenceMapping", "PresenceDocuments", "XMLCore"]),
    tests("FederationRoutingTests", ["FederationRouting", "SIPCore"]),
    tests("NameResolutionTests", ["NameResolution", "FederationRouting", "SIPCore"]),
    tests("RegistrationTests", ["Registration", "SIPCore", "SIPEvents"]),
    tests("XCAPTests", ["XCAP", "XMLCore", "PresenceDocuments"]),
    tests("PresenceFiltersTests", ["PresenceFilters", "PresenceDocuments", "XMLCore"]),
    tests("UserDirectoryTests", ["UserDirectory", "PresenceDocuments", "SIPSecurity", "SIPCore", "XMLCore"]),
    tests(
        "PresenceGatewayTests",
        [
            "PresenceGateway", "FederationRouting", "SIPSecurity", "UserDirectory", "PresenceMapping", "PresenceRules",
            "PolicyBridge", "PresenceDocuments", "SIPCore", "SIPEvents", "XMLCore",
        ]),
    tests("VectorTests", ["GoldenVectors", "PresenceMapping"]),
    tests(
        "ScenarioTests",
        ["GatewayTesting", "ScriptedPeers", "PresenceGateway", "PresenceRules", "FederationRouting", "SIPCore", "PresenceMapping"]),
]

var dependencies: [Package.Dependency] = []

if !coreOnly {
    dependencies += [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ]
    let nio: [Target.Dependency] = [
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
    ]
    let tls: [Target.Dependency] = [
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOTLS", package: "swift-nio"),
    ]
    let log: Target.Dependency = .product(name: "Logging", package: "swift-log")
    targets += [
        // edges
        module("SIPTransport", ["SIPCore", "SIPSecurity", log] + nio + tls),
        module(
            "Storage",
            [
                "PresenceGateway", "SIPCore", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .systemLibrary(name: "CLDAP", pkgConfig: "ldap", providers: [.apt(["libldap-dev"])]),
        module("LDAPDirectory", ["CLDAP", "UserDirectory", "PresenceDocuments", "SIPSecurity", "SIPCore"]),
        module(
            "HTTPTransport",
            [log, .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl")] + nio),
        module("Administration", ["ByteCoding", log, .product(name: "NIOHTTP1", package: "swift-nio")] + nio),
        // service
        module(
            "GatewayService",
            [
                "SIPTransport", "HTTPTransport", "Storage", "Administration", "NameResolution", "LDAPDirectory", "PresenceGateway",
                "PresenceMapping", "XCAP",
                "PresenceRules", "PresenceDocuments", "FederationRouting", "UserDirectory", "SIPSecurity", "SIPCore", "XMLCore",
                "CBuildIdentity", log,
                .product(name: "Yams", package: "Yams"),
            ] + nio),
        // program
        .target(
            name: "CBuildIdentity",
            cSettings: (commit.map { [.define("ISTHMUS_COMMIT", to: $0)] } ?? [])
                + (Context.environment["ISTHMUS_ICU_DATA"].map { [.define("ISTHMUS_ICU_DATA", to: "\"\($0)\"")] } ?? [])),
        .executableTarget(
            name: "isthmus",
            dependencies: [
                "CBuildIdentity", "GatewayService", "SIPTransport", "Storage", "Administration", "NameResolution", "ScriptedPeers",
                "PresenceGateway",
                "PresenceMapping", "PresenceRules", "PresenceDocuments", "EnhancedPresence", "FederationRouting", "UserDirectory",
                "SIPSecurity", "GoldenVectors", "SIPEvents", "SIPCore", "XMLCore", log,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ] + nio,
            swiftSettings: settings,
            linkerSettings: Context.environment["ISTHMUS_LINKER"].map { [.unsafeFlags(["-use-ld=\($0)"])] } ?? []),

        tests(
            "StorageTests",
            [
                "Storage", "GatewayTesting", "ScriptedPeers", "PresenceGateway", "SIPCore", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        tests(
            "SIPTransportTests",
            [
                "SIPTransport", "PresenceGateway", "PresenceRules", "FederationRouting", "SIPSecurity", "SIPCore", "ThrowAwayCertificates",
                log,
            ]
                + nio + tls),
        tests(
            "GatewayServiceTests",
            [
                "GatewayService", "SIPTransport", "Storage", "Administration", "NameResolution", "PresenceGateway", "PresenceRules",
                "PresenceDocuments", "FederationRouting", "SIPSecurity", "SIPCore", "ThrowAwayCertificates", "NotificationSocket", log,
            ] + nio),
        tests(
            "ProgramTests",
            [
                "isthmus", "GatewayService", "SIPTransport", "Storage", "Administration", "NameResolution", "GatewayTesting",
                "ScriptedPeers", "GoldenVectors",
                "PresenceGateway",
                "PresenceDocuments", "PresenceMapping", "PresenceRules",
                "FederationRouting", "UserDirectory", "SIPSecurity", "SIPEvents", "SIPCore", "ThrowAwayCertificates", log,
                .product(name: "ArgumentParser", package: "swift-argument-parser"), .product(name: "GRDB", package: "GRDB.swift"),
            ] + nio),
        .testTarget(
            name: "InteropTests",
            dependencies: [
                "isthmus", "GatewayService", "GatewayTesting", "ScriptedPeers", "SIPTransport", "PresenceGateway", "LDAPDirectory",
                "UserDirectory",
                "PresenceDocuments",
                "SIPSecurity", "SIPCore", "XMLCore", "NotificationSocket", log,
            ] + nio,
            exclude: ["Peers"],
            swiftSettings: settings),
    ]
}

// Libraries for other packages, such as Benchmarks/, Fuzz/ and Growth/: one for each module, so that only the needed modules are built.
var products: [Product] = [
    "XMLCore", "SIPCore", "SIPSecurity", "PresenceDocuments", "EnhancedPresence", "SimplePresence", "PresenceRules", "PresenceMapping",
    "UserDirectory", "SIPEvents", "Registration", "FederationRouting", "PresenceGateway", "GoldenVectors", "XCAP",
    "PresenceFilters",
].map { .library(name: $0, targets: [$0]) }
if !coreOnly { products.append(.library(name: "SIPTransport", targets: ["SIPTransport"])) }

// ISTHMUS_ONLY=EnhancedPresenceTests,XMLCoreTests keeps these targets and what they depend on: the fastest way to work in one module.
if let only = Context.environment["ISTHMUS_ONLY"], !only.isEmpty {
    func names(_ target: Target) -> [String] {
        target.dependencies.compactMap {
            switch $0 {
            case .targetItem(let name, _), .byNameItem(let name, _): name
            default: nil
            }
        }
    }
    var kept: Set<String> = []
    var queue = only.split(separator: ",").map(String.init)
    while let name = queue.popLast() {
        guard kept.insert(name).inserted, let target = targets.first(where: { $0.name == name }) else { continue }
        queue += names(target)
    }
    targets.removeAll { !kept.contains($0.name) }
    products = []
}

let package = Package(
    name: "Isthmus",
    products: products,
    dependencies: dependencies,
    targets: targets
)
