import Administration
import ArgumentParser
import GatewayService
import SIPCore

/// Selects the running gateway and the output format; the same in every command that queries a gateway.
struct AdminOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The configuration file of the running gateway, which names its administration listeners.", valueName: "file"))
    var config: String?
    @Option(
        help: ArgumentHelp(
            "Its administration listener instead: http://127.0.0.1:8080, or unix:PATH of a socket.", valueName: "address"))
    var admin: String?
    @Flag(help: "Print JSON for machines instead of text.")
    var json = false

    func validate() throws {
        guard (config == nil) != (admin == nil) else { throw ValidationError("give either --config or --admin") }
        if let admin, AdministrationAddress(argument: admin) == nil {
            throw ValidationError("--admin \(admin): must be like http://127.0.0.1:8080 or unix:./isthmus.sock")
        }
    }

    /// Sends a query and decodes the response.
    /// - Throws: `CommandFailure`: input refused when the gateway refuses the query, unreachable when it does not answer.
    func get<Value: Decodable>(_ request: AdministrationRequest, as type: Value.Type) async throws -> (value: Value, json: String) {
        let address = try address()
        let answer: (status: Int, body: String)
        do {
            answer = try await AdministrationClient.get(request, from: address)
        } catch {
            throw CommandFailure(.unreachable, "\(address): no gateway answers: \(Self.reason(error))")
        }
        guard answer.status == 200 else {
            let problem = try? InspectionJSON.read(answer.body, as: Problem.self).error
            throw CommandFailure(
                answer.status < 500 ? .inputRefused : .unreachable,
                "\(address): \(problem ?? "answered \(answer.status), as no gateway of this version does")")
        }
        do {
            return (try InspectionJSON.read(answer.body, as: type), answer.body)
        } catch {
            throw CommandFailure(.inputRefused, "\(address): the answer is none of a gateway of this version")
        }
    }

    private struct Problem: Decodable {
        var error: String
    }

    /// Address of the administration listener.
    private func address() throws -> AdministrationAddress {
        if let address = admin.flatMap(AdministrationAddress.init(argument:)) { return address }
        let file = config ?? ""
        let listeners = try ConfigurationReader.read(file: file).admin.filter(\.inspects)
        // Prefer a socket, which no other process can occupy.
        guard let listener = listeners.min(by: { $0.isSocket && !$1.isSocket }) else {
            throw CommandFailure(
                .inputRefused, "\(file): admin: no listener shows who watches whom; add `socket: PATH`, or `inspect: true` to `http`")
        }
        if case .http(_, 0) = listener.address {
            throw CommandFailure(.inputRefused, "\(file): admin.http: has port 0; give the one of the `ready` line with --admin")
        }
        return listener.address
    }

    private static func reason(_ error: any Error) -> String {
        if let failure = error as? AdministrationClient.Failure { return failure.description }
        return "\(error)"
    }
}

extension AdministrationAddress {
    /// Parses an address in the form of the command line and of the `ready` line.
    init?(argument text: String) {
        if text.hasPrefix("unix:") {
            guard text.count > 5 else { return nil }
            self = .socket(String(text.dropFirst(5)))
            return
        }
        guard text.hasPrefix("http:") else { return nil }
        var rest = text.dropFirst(5)
        if rest.hasPrefix("//") { rest = rest.dropFirst(2) }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let (host, port) = try? TransportAddress.parseHostPort(rest, defaultPort: nil), port > 0 else { return nil }
        self = .http(host: host, port: port)
    }
}
