import PresenceDocuments
import SIPCore
import XMLCore

/// What a NOTIFY, a BENOTIFY or a piggybacking 200 of the far side says, whatever its wrapping.
struct UpstreamContent {
    /// Elements of the categories documents about the presentity; nil: there was none.
    var categories: [CategoryElement]?
    var pidf: PIDFDocument?
    var msrtc: MSRTCPIDFDocument?
    /// What RLMI says about the presentity when it is not simply active (MS-PRES 2.2.2.4.2).
    var verdict: Verdict?

    struct Verdict: Equatable {
        var state: String
        var reason: String?
        var poolFqdn: String?
    }

    /// - Throws: 400 when a document cannot be read, 415 when its type is none that was asked for.
    init(_ body: [UInt8], contentType: MediaType?, presentity: String, parser: XMLParser) throws(Refusal) {
        guard !body.isEmpty else { return }
        guard let contentType else { throw .badRequest("RFC 3261 20.15: a body needs a Content-Type") }
        guard contentType.essence.hasPrefix("multipart/") else {
            try take(body, contentType, presentity: presentity, parser: parser, isOnly: true)
            return
        }
        let parts: [MIMEPart]
        do {
            parts = try MIMEMultipart(body, contentType: contentType).leaves()
        } catch {
            throw .badRequest("RFC 2046 5.1: the multipart body cannot be read")
        }
        for part in parts {
            guard let type = part.contentType else { continue }
            try take(part.body, type, presentity: presentity, parser: parser, isOnly: false)
        }
    }

    private mutating func take(_ body: [UInt8], _ type: MediaType, presentity: String, parser: XMLParser, isOnly: Bool) throws(Refusal) {
        do {
            switch type.essence {
            case WatcherFormat.categoriesType:
                let document = try CategoriesDocument(reading: parser.parse(body).root, bodies: .tolerant)
                guard CategoryRequest.address(document.uri)?.aorKey == presentity else { return }
                categories = (categories ?? []) + document.categories
            case WatcherFormat.pidfType, "application/cpim-pidf+xml":
                pidf = try PIDFDocument.decode(body, using: parser)
            case WatcherFormat.msrtcType:
                msrtc = try MSRTCPIDFDocument(reading: parser.parse(body).root)
            case WatcherFormat.rlmiType:
                try take(RLMIDocument.decode(body, using: parser), presentity: presentity)
            default:
                if isOnly {
                    throw Refusal.unsupportedMediaType(accept: "\(WatcherFormat.pidfType), \(WatcherFormat.categoriesType)")
                }
            }
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal(.badRequest, "the notified document cannot be read: \(error)", errorID: 4001)
        }
    }

    private mutating func take(_ list: RLMIDocument, presentity: String) throws {
        for resource in list.resources where CategoryRequest.address(resource.uri)?.aorKey == presentity {
            for instance in resource.instances where instance.state.name != "active" {
                verdict = Verdict(state: instance.state.name, reason: instance.reason, poolFqdn: instance.poolFqdn)
            }
        }
    }
}
