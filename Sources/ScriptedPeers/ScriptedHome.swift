import SIPCore
import XMLCore

/// Category publications at a scripted enterprise server (MS-PRES 3.2), written without the gateway's model.
package final class ScriptedHome {
    /// Reaction to a SERVICE publication.
    package enum Answer: Sendable {
        case accept
        /// Answers 409 with newer versions.
        case conflict
        case refuse(SIPStatus, [SIPHeaderName: String] = [:])
        /// Stores the publication and sends no response.
        case silence
    }

    /// Stored instance of a category.
    package struct Instance: Sendable {
        /// Name of the category.
        package var category: String
        /// Number of the container.
        package var container: Int
        /// Instance number.
        package var number: UInt32
        /// Current version; the next publication must name it.
        package var version: UInt32
        /// Time at which the instance expires.
        package var endsAt: Instant
        /// XML of the category.
        package var body: String
    }

    /// Reaction to SERVICE publications.
    package var answer = Answer.accept
    /// Maximum lifetime of an instance, in seconds.
    private static let longestLife = 86_400
    /// Number of publications answered with 409.
    package private(set) var conflicts = 0
    /// Endpoint identifiers (epid) of all publishers.
    package private(set) var endpoints: Set<String> = []
    private var users: [String: [Instance]] = [:]

    /// Current instances of a user.
    package func instances(of user: String) -> [Instance] { users[SIPURI.key(of: user)] ?? [] }

    /// Removes expired instances and returns the keys of their users.
    func expire(at now: Instant) -> [String] {
        let ended = users.filter { $0.value.contains { $0.endsAt <= now } }.keys.sorted()
        for key in ended { users[key]?.removeAll { $0.endsAt <= now } }
        return ended
    }

    /// Time of the next expiry; nil without instances.
    var nextEnd: Instant? { users.values.flatMap { $0.map(\.endsAt) }.min() }

    /// Forgets all instances, as after a restart.
    package func restart() { users = [:] }

    /// Increases the versions of all instances of a user, as if another endpoint had published.
    package func overwrite(_ user: String) {
        for index in users[SIPURI.key(of: user), default: []].indices { users[SIPURI.key(of: user)]?[index].version += 3 }
    }

    /// Answers a SERVICE publication.
    /// - Parameter changed: Called with each user with changed instances.
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
        func response(_ status: SIPStatus, _ type: String? = nil, _ text: String = "") -> SIPResponse {
            var response = SIPResponse(to: request, status: status, toTag: toTag)
            if let type {
                response.headers.set(.contentType, type)
                response.body = Array(text.utf8)
            }
            return response
        }
        let user = request.headers.to?.uri.description ?? ""
        if request.headers.from?.uri.aorKey != request.headers.to?.uri.aorKey {
            fault("a publish whose From is not its To (MS-PRES 3.2.5.4)")
        }
        if case .refuse(let status, let headers) = answer {
            var refusal = response(status)
            for (name, value) in headers { refusal.headers.set(name, value) }
            return refusal
        }
        guard let root = try? XMLTree.parse(request.body).root, let list = root.children.first(where: { $0.localName == "publications" }),
            SIPURI.key(of: list.attribute("uri") ?? "") == SIPURI.key(of: user)
        else {
            fault("a publish that cannot be read, or is about somebody else (MS-PRES 3.2.5.4)")
            return response(.badRequest)
        }
        if let epid = request.headers.from?.epid { endpoints.insert(epid) } else { fault("a publish without epid (MS-SIPREGE)") }
        var kept = instances(of: user)
        var stale = ""
        var touched: [(String, Int)] = []
        for (index, publication) in list.children.enumerated() {
            guard let category = publication.attribute("categoryName"),
                let container = publication.attribute("container").flatMap({ Int($0) }),
                let number = publication.attribute("instance").flatMap({ UInt32($0) }),
                let version = publication.attribute("version").flatMap({ UInt32($0) }), let type = publication.attribute("expireType")
            else {
                fault("a publication without its key (MS-PRES 2.2.2.2.1)")
                return response(.badRequest)
            }
            let expires = publication.attribute("expires").flatMap { Int($0) }
            if type == "time", expires == nil { fault("a time-bound publication without expires (MS-PRES 3.2.5.4)") }
            if type == "endpoint" { fault("a publication bound to an endpoint that is not registered (MS-PRES 3.2.5.4)") }
            let place = kept.firstIndex { $0.category == category && $0.container == container && $0.number == number }
            var current = place.map { kept[$0].version } ?? 0
            if case .conflict = answer { current = version + 2 }
            if version != current {
                stale += "<operation index=\"\(index + 1)\" version=\"\(version)\" curVersion=\"\(current)\"/>"
                continue
            }
            touched.append((category, container))
            if expires == 0 {
                if let place { kept.remove(at: place) }
                continue
            }
            let body = Array(publication.children).first.map { String(decoding: $0.fragment().bytes, as: UTF8.self) } ?? ""
            let instance = Instance(
                category: category, container: container, number: number, version: version + 1,
                endsAt: now + .seconds(min(expires ?? Self.longestLife, Self.longestLife)), body: body)
            if let place { kept[place] = instance } else { kept.append(instance) }
        }
        guard stale.isEmpty else {
            conflicts += 1
            return response(
                .conflict, "application/msrtc-fault+xml",
                "<Fault><Faultcode>Client.BadCall.WrongDelta</Faultcode><details>\(stale)</details></Fault>")
        }
        users[SIPURI.key(of: user)] = kept
        changed(user)
        return response(.ok, "application/vnd-microsoft-roaming-self+xml", Self.text(kept, touched, user, at: now))
    }

    private static func text(_ kept: [Instance], _ touched: [(String, Int)], _ user: String, at now: Instant) -> String {
        var text =
            "<roamingData xmlns=\"http://schemas.microsoft.com/2006/09/sip/roaming-self\"><categories "
            + "xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\" uri=\"\(EnhancedDocuments.escape(user))\">"
        var done: Set<String> = []
        for (category, container) in touched where done.insert("\(category) \(container)").inserted {
            let instances = kept.filter { $0.category == category && $0.container == container }
            if instances.isEmpty { text += "<category name=\"\(category)\" container=\"\(container)\"/>" }
            for instance in instances {
                text +=
                    "<category name=\"\(category)\" instance=\"\(instance.number)\" publishTime=\"2026-01-05T09:00:00.000\" "
                    + "container=\"\(container)\" version=\"\(instance.version)\" expireType=\"time\" "
                    + "expires=\"\((instance.endsAt - now).seconds)\">\(instance.body)</category>"
            }
        }
        return text + "</categories></roamingData>"
    }

    /// Newest state and note of a user in container 200; nil without a state.
    func shown(_ user: String) -> EnhancedState? {
        let seen = instances(of: user).filter { $0.container == 200 }
        guard let state = seen.last(where: { $0.category == "state" }),
            let number = Self.text("availability", in: state.body).flatMap({ Int($0) })
        else { return nil }
        return EnhancedState(number, note: seen.last { $0.category == "note" }.flatMap { Self.text("body", in: $0.body) })
    }

    private static func text(_ element: String, in body: String) -> String? {
        guard let root = try? XMLTree.parse(Array(body.utf8)).root else { return nil }
        return root.children.first { $0.localName == element }?.trimmedText
    }
}
