import Foundation
import SIPCore
import SIPSecurity

/// Sign-in with a certificate, with one changed flight.
///
/// The first octet of the input selects the flight, and whether it is replaced (128) or edited. The rest is the flight, or edits of four
/// octets: position (two octets, modulo the flight's length), new octet, and kind: replace, remove or insert.
struct TLSDSKRun {
    let edits: [UInt8]
    let ofClient: Bool

    private static let folder = ProcessInfo.processInfo.environment["ISTHMUS_FUZZ_CERTIFICATES"] ?? ""

    private static func pem(_ name: String) -> [UInt8] {
        guard let text = FileManager.default.contents(atPath: "\(folder)/\(name)") else {
            fatalError("ISTHMUS_FUZZ_CERTIFICATES is no folder that Tests/Support/make-certificates filled: \(name) cannot be read")
        }
        return [UInt8](text)
    }

    private static let credentials: (server: TLSDSKCredentials, client: TLSDSKCredentials) = {
        do throws(TLSDSKCredentials.Problem) {
            return (
                try TLSDSKCredentials(certificate: pem("server.pem"), key: pem("server.key"), clientAuthority: pem("authority.pem")),
                try TLSDSKCredentials(certificate: pem("bob.pem"), key: pem("bob.key"), serverAuthority: pem("authority.pem"))
            )
        } catch { fatalError("\(error)") }
    }()

    private static let authenticator = SignIns.authenticator(TLSDSKOffer(credentials: credentials.server))

    func play() {
        var client = TLSDSKClient(credentials: Self.credentials.client, secret: SignIns.secret)
        // The offer, then at most three flights from each side.
        for number in 0...3 {
            var request = SignIns.request(number + 1)
            request.headers.set(.from, "<sip:bob@contoso.com>;tag=f1;epid=e1")
            client.authorize(&request)
            if ofClient, let line = request.headers.first(.authorization) {
                request.headers.set(.authorization, changed(line, flight: number - 1))
            }
            let outcome = Self.authenticator.check(request, from: SignIns.source, under: SignIns.certificates, at: SignIns.start)
            guard var response = SignIns.response(outcome, to: request) else { return }
            if !ofClient, let line = response.headers.first(.wwwAuthenticate) {
                response.headers.set(.wwwAuthenticate, changed(line, flight: number - 1))
            }
            guard client.receive(challenge: response, at: SignIns.start) else { return }
        }
    }

    /// Header with the flight changed when it is the selected one.
    private func changed(_ line: String, flight number: Int) -> String {
        guard let first = edits.first, Int(first & 3) % 2 == number, let text = SignIns.parameter("gssapi-data", of: line),
            let flight = Data(base64Encoded: text)
        else { return line }
        var octets = [UInt8](flight)
        let rest = Array(edits.dropFirst())
        if first & 128 != 0 {
            octets = rest
        } else {
            for start in stride(from: 0, to: rest.count - 3, by: 4) where !octets.isEmpty {
                let place = (Int(rest[start]) << 8 | Int(rest[start + 1])) % octets.count
                switch rest[start + 3] % 3 {
                case 0: octets[place] = rest[start + 2]
                case 1: octets.remove(at: place)
                default: octets.insert(rest[start + 2], at: place)
                }
            }
        }
        return line.replacingOccurrences(of: text, with: Data(octets).base64EncodedString())
    }
}
