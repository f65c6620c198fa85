import PresenceDocuments
import SIPCore
import XMLCore

/// What a NOTIFY, a BENOTIFY or a piggybacking 200 of the far side says, whatever its wrapping: a report on each presentity.
struct UpstreamContent {
    /// In the order in which the presentities are spoken of; only of those that were asked about.
    private(set) var reports: [Report] = []
    /// Whether a resource list came with it; it names what the parts do not speak of.
    var hasList = false
    /// Of a standard list (RFC 4662): the notification is a difference, something is missing before it, presentities that a kept list
    /// does not have, and what could not be read.
    var isDifference = false
    var needsFullState = false
    /// It speaks of more than is kept of a list.
    var isOverfull = false
    var unlisted: [String] = []
    var unreadable: [String] = []
    /// Reads the documents, and knows what it passed over.
    var reader = DocumentReader(.liberal)
    /// By `aorKey`.
    private let asked: [String]

    /// What is said of one presentity.
    struct Report {
        let key: String
        /// Elements of the categories documents about it; nil: there was none.
        var categories: [CategoryElement]?
        var pidf: PIDFDocument?
        /// A document of type application/pidf-diff+xml (RFC 5262), and the virtual subscription that it is of.
        var partial: [UInt8]?
        var instance: String?
        /// It is there, and shows nothing.
        var showsNothing = false
        var msrtc: MSRTCPIDFDocument?
        /// What RLMI says of it.
        var verdict: Verdict?

        init(key: String) { self.key = key }

        var hasState: Bool { categories != nil || pidf != nil || partial != nil || msrtc != nil || showsNothing }
    }

    init(asked: [String]) { self.asked = asked }

    /// - Parameter presentities: the `aorKey`s that were asked about.
    /// - Throws: 400 when nothing of it can be read, 415 when its type is none that was asked for.
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
                unreadable.append(error.explanation)
            }
        }
        if let refusal, reports.isEmpty { throw refusal }
    }

    /// False: nothing of this type was asked for.
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
                report(on: subject(named: nil)) { $0.partial = body }
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

    /// Changes the report on a presentity; nothing is said about one that nobody asked about.
    mutating func report(on key: String?, _ change: (inout Report) -> Void) {
        guard let key, asked.contains(key) else { return }
        let place = reports.firstIndex { $0.key == key } ?? reports.count
        if place == reports.count { reports.append(Report(key: key)) }
        change(&reports[place])
    }

    /// Of whom a document speaks that names its presentity in some form or not at all: whoever was asked about alone.
    func subject(named uri: String?) -> String? {
        asked.count == 1 ? asked.first : uri.flatMap { CategoryRequest.address($0)?.aorKey }
    }
}
