import ArgumentParser
import EnhancedPresence
import PresenceDocuments

struct ResolveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Say which container a watcher sees, and by which rule (MS-PRES 3.2.5.3).",
        discussion: """
            Prints `container N (rule)` or `blocked (rule)`: for one --category that alone, else a line `NAME: ...` for each
            category that is published. Both files may be roamingData documents, or the containers and the categories alone;
            one file may be named for both.

            EXAMPLES
              isthmus resolve --containers bob.self.xml --publications bob.self.xml --watcher sip:alice@fabrikam.com
              isthmus resolve --containers bob.containers.xml --publications bob.categories.xml \\
                --watcher sip:carol@contoso.com --network sameEnterprise --category state
            """)

    @Option(help: ArgumentHelp("The containers with their members.", valueName: "file"))
    var containers: String
    @Option(help: ArgumentHelp("The published categories with their containers.", valueName: "file"))
    var publications: String
    @Option(help: ArgumentHelp("Who watches, a SIP URI.", valueName: "uri"))
    var watcher: String
    @Option(
        help:
            "Where the watcher comes from: sameEnterprise, federated, publicCloud. Not given: sameEnterprise in the presentity's own domain, else federated."
    )
    var network: SourceNetwork?
    @Option(help: ArgumentHelp("Only this category.", valueName: "name"))
    var category: String?

    func run() throws {
        Terminal.write(try decisions().joined(separator: "\n") + "\n")
    }

    /// One line for each category, or the single requested decision.
    func decisions() throws(CommandFailure) -> [String] {
        guard containers != "-" || publications != "-" else {
            throw CommandFailure(.usage, "--containers and --publications cannot both be standard input")
        }
        guard !PresenceAddress(watcher).domain.isEmpty else {
            throw CommandFailure(.inputRefused, "--watcher \(watcher): not a SIP URI with a domain (RFC 3261 19.1)")
        }
        guard let members = try read(containers).containers else {
            throw CommandFailure(.inputRefused, "\(containers): no containers in the document (MS-PRES 6.3)")
        }
        guard let categories = try read(publications).categories else {
            throw CommandFailure(.inputRefused, "\(publications): no categories in the document (MS-PRES 6.2)")
        }
        let presentity = EnhancedPresentity(uri: categories.uri, categories: categories, containers: members)
        let isOwn = PresenceAddress(categories.uri).domain == PresenceAddress(watcher).domain
        let identity = WatcherIdentity(uri: watcher, network: network ?? (isOwn ? .sameEnterprise : .federated))
        if let category { return [presentity.resolve(CategoryName(category), for: identity).description] }
        let names = Set(categories.categories.filter { !$0.isEmptyMarker }.map(\.name)).sorted()
        guard !names.isEmpty else { throw CommandFailure(.inputRefused, "\(publications): nothing is published (MS-PRES 6.2)") }
        return names.map { "\($0): \(presentity.resolve($0, for: identity))" }
    }

    private func read(_ file: String) throws(CommandFailure) -> RoamingDataDocument {
        let bytes = try CommandInput.read(file)
        do {
            return try RoamingDataDocument(parsingPart: bytes)
        } catch {
            throw CommandInput.refusal(of: file, error)
        }
    }
}

extension SourceNetwork: ExpressibleByArgument {
    /// Reads the raw value of `sameEnterprise`, `federated` or `publicCloud`; nil for any other network.
    public init?(argument: String) {
        let network = SourceNetwork(rawValue: argument)
        guard [.sameEnterprise, .federated, .publicCloud].contains(network) else { return nil }
        self = network
    }
}
