/// Texts of a dialog in one allocation, as its requests carry them: a gateway has hundreds of thousands of dialogs, and every
/// request repeats the same lines.
///
///     local party ;tag= local tag | remote party ;tag= remote tag | Call-ID | remote target | route , route ...
struct DialogText: Equatable, Sendable {
    private var bytes: [UInt8]
    /// Ends of local party, local tag, remote party, remote tag, Call-ID and remote target.
    private var ends: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)

    private static let tag: StaticString = ";tag="

    init(_ id: DialogID, local: NameAddr, remote: NameAddr, target: SIPURI, routeSet: [NameAddr]) {
        var local = local
        var remote = remote
        local.tag = nil
        remote.tag = nil
        self.init(id, local: local.description, remote: remote.description, target: target.description, routes: Self.joined(routeSet))
    }

    private init(_ id: DialogID, local: String, remote: String, target: String, routes: String) {
        let separator = Self.tag.description
        let texts = [
            local, separator + id.localTag, remote, id.remoteTag.isEmpty ? "" : separator + id.remoteTag, id.callID, target, routes,
        ]
        bytes = []
        bytes.reserveCapacity(texts.reduce(0) { $0 + $1.utf8.count })
        ends = (0, 0, 0, 0, 0, 0)
        var places: [UInt32] = []
        for text in texts {
            bytes.append(contentsOf: text.utf8)
            places.append(UInt32(clamping: bytes.count))
        }
        ends = (places[0], places[1], places[2], places[3], places[4], places[5])
    }

    static func == (left: DialogText, right: DialogText) -> Bool { left.bytes == right.bytes && left.ends == right.ends }

    private static func joined(_ routes: [NameAddr]) -> String { routes.map(\.description).joined(separator: ",") }

    // MARK: ranges

    private var localParty: Range<Int> { 0..<Int(ends.0) }
    private var localTagged: Range<Int> { 0..<Int(ends.1) }
    private var remoteParty: Range<Int> { Int(ends.1)..<Int(ends.2) }
    private var remoteTagged: Range<Int> { Int(ends.1)..<Int(ends.3) }
    private var callIDRange: Range<Int> { Int(ends.3)..<Int(ends.4) }
    private var target: Range<Int> { Int(ends.4)..<Int(ends.5) }
    private var routeRange: Range<Int> { Int(ends.5)..<bytes.count }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func tag(after party: Range<Int>, to end: Int) -> String {
        let start = party.upperBound + Self.tag.utf8CodeUnitCount
        return start < end ? text(start..<end) : ""
    }

    // MARK: parts

    var id: DialogID { DialogID(callID: callID, localTag: tag(after: localParty, to: Int(ends.1)), remoteTag: remoteTag) }
    var remoteTag: String { tag(after: remoteParty, to: Int(ends.3)) }
    var callID: String { text(callIDRange) }
    var localPartyText: String { text(localParty) }
    var remotePartyText: String { text(remoteParty) }
    var targetText: String { text(target) }
    var hasRoutes: Bool { !routeRange.isEmpty }

    var routeTexts: [String] {
        var result: [String] = []
        bytes.withUnsafeBufferPointer { bytes in
            let scanner = ByteScanner(bytes, routeRange)
            ListSplitter.split(bytes, routeRange) { result.append(scanner.string($0)) }
        }
        return result
    }

    var routeSet: [NameAddr] { hasRoutes ? routeTexts.compactMap { NameAddr($0) } : [] }

    mutating func setTarget(_ uri: SIPURI) {
        let text = uri.description
        guard !bytes[target].elementsEqual(text.utf8) else { return }
        self = DialogText(id, local: localPartyText, remote: remotePartyText, target: text, routes: self.text(routeRange))
    }

    mutating func setRouteSet(_ routes: [NameAddr]) {
        self = DialogText(id, local: localPartyText, remote: remotePartyText, target: targetText, routes: Self.joined(routes))
    }

    // MARK: requests

    /// Header lines of the next request: Max-Forwards, From, To, Call-ID, CSeq and Route; reserves space for more.
    /// - Parameter withRoutes: If false, the caller adds Route.
    func headers(maxForwards: Int, cSeq: CSeq, withRoutes: Bool) -> SIPHeaders {
        var headers = SIPHeaders(reserving: bytes.count + 320, lines: 16)
        headers.append(number: maxForwards, as: .maxForwards)
        bytes.withUnsafeBufferPointer { bytes in
            headers.append(checked: .from, bytes[localTagged])
            headers.append(checked: .to, bytes[remoteTagged])
            headers.append(checked: .callID, bytes[callIDRange])
            headers.append(number: Int(cSeq.number), cSeq.method.rawValue, as: .cSeq)
            if withRoutes { ListSplitter.split(bytes, routeRange) { headers.append(checked: .route, bytes[$0]) } }
        }
        return headers
    }
}
