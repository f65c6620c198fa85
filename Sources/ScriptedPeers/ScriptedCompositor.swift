import SIPCore

/// Event state compositor of a scripted presence server (RFC 3903 6), written without the gateway's tables.
package final class ScriptedCompositor {
    /// Reaction to PUBLISH; with `silence` the publication is stored and not answered.
    package var answer = ScriptedNotifier.Answer.accept
    /// Minimum lifetime in seconds: a shorter one gets 423 with this Min-Expires.
    package var shortestExpiry: UInt32 = 0
    /// Maximum lifetime granted, in seconds.
    package var longestExpiry: UInt32 = 3_600
    /// Number of PUBLISH requests answered with 412.
    package private(set) var unknownTags = 0
    /// Number of PUBLISH requests answered with 423.
    package private(set) var tooBrief = 0

    private struct Publication {
        var tag: String
        var document: [UInt8]
        var lapsesAt: Instant
    }

    private var publications: [String: [Publication]] = [:]
    private var lastTag = 0

    /// Current documents of an identity, oldest first.
    package func documents(of presentity: String) -> [String] {
        (publications[SIPURI.key(of: presentity)] ?? []).map { String(decoding: $0.document, as: UTF8.self) }
    }

    /// Removes expired publications and returns their identities.
    func expire(at now: Instant) -> [String] {
        let lapsed = publications.filter { $0.value.contains { $0.lapsesAt <= now } }.keys.sorted()
        for key in lapsed { publications[key]?.removeAll { $0.lapsesAt <= now } }
        return lapsed
    }

    /// Time of the next expiry; nil without publications.
    var nextLapse: Instant? { publications.values.flatMap { $0.map(\.lapsesAt) }.min() }

    /// Forgets all publications, as after a restart.
    package func restart() { publications = [:] }

    /// Answers a PUBLISH.
    /// - Parameter changed: Called with the identity of each changed publication.
    func answer(_ request: SIPRequest, tag toTag: String, at now: Instant, changed: (String) -> Void, fault: (String) -> Void)
        -> SIPResponse?
    {
        let response = serve(request, tag: toTag, at: now, changed: changed, fault: fault)
        if case .silence = answer { return nil }
        return response
    }

    private func serve(_ request: SIPRequest, tag toTag: String, at now: Instant, changed: (String) -> Void, fault: (String) -> Void)
        -> SIPResponse
    {
        func response(_ status: SIPStatus, _ headers: [SIPHeaderName: String] = [:]) -> SIPResponse {
            var response = SIPResponse(to: request, status: status, toTag: toTag)
            for (name, value) in headers { response.headers.set(name, value) }
            return response
        }
        if request.headers.event?.package != "presence" { fault("PUBLISH without Event: presence (RFC 3903 4)") }
        if request.headers.fromTag == nil || request.headers.toTag != nil { fault("PUBLISH within a dialog (RFC 3903 4)") }
        if case .refuse(let status, let headers) = answer { return response(status, headers) }
        let key = SIPURI.key(of: request.requestURI)
        var list = (publications[key] ?? []).filter { $0.lapsesAt > now }
        let match = request.headers.sipIfMatch
        let index = match.flatMap { tag in list.firstIndex { $0.tag == tag } }
        if match != nil, index == nil {
            unknownTags += 1
            return response(.conditionalRequestFailed)
        }
        if match == nil, request.body.isEmpty {
            fault("PUBLISH with neither body nor entity-tag (RFC 3903 4)")
            return response(.badRequest)
        }
        let requestedExpires = request.headers.expires ?? 3_600
        if requestedExpires > 0, requestedExpires < shortestExpiry {
            tooBrief += 1
            return response(.intervalTooBrief, [.minExpires: String(shortestExpiry)])
        }
        let granted = min(requestedExpires, max(longestExpiry, shortestExpiry))
        lastTag += 1
        let tag = "tag\(lastTag)"
        let document = request.body.isEmpty ? index.map { list[$0].document } ?? [] : request.body
        if let index { list.remove(at: index) }
        if granted > 0 { list.append(Publication(tag: tag, document: document, lapsesAt: now + .seconds(Int(granted)))) }
        publications[key] = list.isEmpty ? nil : list
        changed(key)
        return response(.ok, [.sipETag: tag, .expires: String(granted)])
    }
}
