import PresenceDocuments
import SIPCore
import XMLCore

/// Content of a NOTIFY, a BENOTIFY or a 200 with piggybacked state from the remote domain: a report on each presentity.
struct UpstreamContent {
    /// Reports on subscribed presentities, in the order of the message.
    private(set) var reports: [Report] = []
    /// Whether the message has a resource list, which names the presentities that its other parts omit.
    var hasList = false
    /// Whether the notification of a standard list (RFC 4662) is a difference.
    var isDifference = false
    /// Whether an earlier notification of the list was lost.
    var needsFullState = false
    /// Whether the list has more entries than are kept.
    var isOverfull = false
    /// Presentities that are missing in a list of the remote domain.
    var unlisted: [String] = []
    /// Parts that cannot be read.
    var unreadable: [UnreadablePart] = []
    /// Reader of the documents; collects their flaws.
    var reader = DocumentReader(.liberal)
    /// Subscribed presentities, by `aorKey`.
    private let asked: [String]

    /// The content about one presentity.
    struct Report {
        let key: String
        /// Elements of its categories documents; nil: the message has none.
        var categories: [CategoryElement]?
        var pidf: PIDFDocument?
        /// Document of type application/pidf-diff+xml (RFC 5262), and its virtual subscription.
        var partial: [UInt8]?
        var instance: String?
        /// Whether the presentity is active without a document.
        var showsNothing = false
        var msrtc: MSRTCPIDFDocument?
        /// The entry in RLMI.
        var instanceState: InstanceState?

        init(key: String) { self.key = key }

        mutating func take(_ document: PIDFDocument) { pidf = document }

        mutating func take(_ document: MSRTCPIDFDocument) { msrtc = document }

        /// Adds a document of type application/pidf-diff+xml.
        mutating func take(partial document: [UInt8], instance: String?) { (partial, self.instance) = (document, instance) }

        /// Notes an active presentity without a document.
        mutating func showNothing() { showsNothing = true }

        var hasState: Bool { categories != nil || pidf != nil || partial != nil || msrtc != nil || showsNothing }
    }

    init(asked: [String]) { self.asked = asked }

    /// - Parameter presentities: `aorKey`s of the subscribed presentities.
    /// - Throws: 400 if no part can be read, 415 for a type that was not requested.
    init(_ body: [UInt8], contentType: MediaType?, presentities: [String], parser: XMLParser) throws(Refusal) {
        asked = presentities
        guard !body.isEmpty else { return }
        guard let contentType else { throw .badRequest("RFC 3261 20.15: a body needs a Content-Type") }
        guard contentType.essence.hasPrefix("multipart/") else {
            if try !take(body, contentType, parser) {
                throw Refusal.unsupportedMediaType(accept: "\(WatcherFormat.pidfType), \(WatcherFormat.categoriesType)")
            }
            return
        }
        let parts: [MIMEPart]
        do {
            parts = try MIMEMultipart(body, contentType: contentType).leaves()
        } catch {
            throw .badRequest("RFC 2046 5.1: the multipart body cannot be read")
        }
        var refusal: Refusal?
        for part in parts {
            guard let type = part.contentType else { continue }
            do throws(Refusal) {
                _ = try take(part.body, type, parser)
            } catch {
                refusal = error
                // The verdicts of an unreadable list may be about any presentity.
                let name = type.essence == WatcherFormat.rlmiType ? nil : Self.name(inStartTagOf: part.body)
                unreadable.append(UnreadablePart(key: subject(named: name), problem: error.explanation))
            }
        }
        if let refusal, reports.isEmpty { throw refusal }
    }

    /// Adds a body; returns false for a type that was not requested.
    private mutating func take(_ body: [UInt8], _ type: MediaType, _ parser: XMLParser) throws(Refusal) -> Bool {
        do {
            switch type.essence {
            case WatcherFormat.categoriesType:
                let document = try reader.read(body, using: parser) { root throws(DocumentError) in
                    try CategoriesDocument(reading: root, bodies: .liberal)
                }
                takeCategories(document)
            case WatcherFormat.pidfType, "application/cpim-pidf+xml":
                let document = try reader.readPIDF(body, using: parser)
                takePIDF(document)
            case WatcherFormat.pidfDiffType:
                report(on: subject(named: nil)) { $0.take(partial: body, instance: nil) }
            case WatcherFormat.msrtcType:
                let document = try reader.read(body, using: parser) { root throws(DocumentError) in
                    try MSRTCPIDFDocument(reading: root)
                }
                takeMSRTC(document)
            case WatcherFormat.rlmiType:
                let document: RLMIDocument = try reader.read(body, using: parser)
                takeList(document)
            default: return false
            }
            return true
        } catch {
            throw Refusal(.badRequest, "the notified document cannot be read: \(error)", errorID: 4001)
        }
    }

    /// Presentities with unreadable state, in the order of the subscription: those of unreadable parts and, if the presentity of a part is
    /// unknown, all that the rest of the message does not mention.
    var unreadPresentities: [(key: String, problem: String)] {
        guard !unreadable.isEmpty else { return [] }
        var problems: [String: String] = [:]
        for part in unreadable {
            if let key = part.key, problems[key] == nil { problems[key] = part.problem }
        }
        if let unknown = unreadable.first(where: { $0.key == nil }) {
            let mentioned = Set(reports.map(\.key))
            for key in asked where problems[key] == nil && !mentioned.contains(key) { problems[key] = unknown.problem }
        }
        return asked.compactMap { key in problems[key].map { (key: key, problem: $0) } }
    }

    /// Changes the report on a presentity; ignores presentities that were not subscribed to.
    mutating func report(on key: String?, _ change: (inout Report) -> Void) {
        guard let key, asked.contains(key) else { return }
        let place = reports.firstIndex { $0.key == key } ?? reports.count
        if place == reports.count { reports.append(Report(key: key)) }
        change(&reports[place])
    }

    /// The presentity of a document: the subscribed one if it is the only one, otherwise that of the URI.
    func subject(named uri: String?) -> String? {
        asked.count == 1 ? asked.first : uri.flatMap { CategoryRequest.address($0)?.aorKey }
    }
}
