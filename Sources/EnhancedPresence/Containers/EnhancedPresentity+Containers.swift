import PresenceDocuments

extension EnhancedPresentity {
    /// The membership of a container; empty with version 0 if none was set (MS-PRES 1.3.1.8).
    public func membership(of container: ContainerID) -> ContainerMembership { memberships[container] ?? ContainerMembership() }

    /// The containers with instances or a membership, and container 0, highest number first (MS-PRES 1.3.1.8).
    public var containerIDs: [ContainerID] {
        Set(memberships.keys).union(store.pairs.map(\.container)).union([.default]).sorted(by: >)
    }

    /// The presentity with other memberships, for data that is shown and not kept.
    public func replacingMemberships(_ memberships: [ContainerID: ContainerMembership]) -> EnhancedPresentity {
        var result = self
        result.memberships = memberships
        return result
    }

    /// A resolver with this presentity's memberships and policy.
    public var resolver: ContainerResolver { ContainerResolver(memberships: memberships, policy: policy) }

    /// Resolves the container of a category for a watcher (MS-PRES 3.2.5.3).
    public func resolve(_ category: CategoryName, for watcher: WatcherIdentity) -> ContainerResolution {
        resolver.resolve(category, heldBy: candidates(for: category), for: watcher)
    }

    /// Changes memberships completely, or refuses the request and changes nothing (MS-PRES 3.5.5.2).
    /// - Throws: 403 if From differs from To, 400 for container 0, a repeated container or an invalid member, 409 with the current
    ///   versions, 413 for too many members or containers (MS-PRES 3.5.5.5).
    public mutating func setContainerMembers(
        _ request: SetContainerMembersDocument, by endpoint: PublishingEndpoint
    ) throws(EnhancedPresenceRefusal) -> PresentityChange {
        guard PresenceAddress(endpoint.from) == PresenceAddress(endpoint.to) else {
            throw EnhancedPresenceRefusal(status: 403, message: "the From URI differs from the To URI (MS-PRES 3.5.5.5)")
        }
        try Self.checkForm(request)
        try checkVersions(of: request)
        var changed = memberships
        for container in request.containers { changed[container.id, default: ContainerMembership()].apply(container.changes) }
        let count = changed.values.reduce(0) { $0 + $1.members.count }
        guard count <= policy.memberLimit, changed.count <= policy.containerLimit else {
            throw EnhancedPresenceRefusal(
                status: 413, diagnostic: .memberLimit,
                message:
                    "\(count) members of \(changed.count) containers are more than \(policy.memberLimit) and \(policy.containerLimit) (MS-PRES 3.5.5.5)"
            )
        }
        memberships = changed
        return PresentityChange(containers: Set(request.containers.map(\.id)))
    }

    private static func checkForm(_ request: SetContainerMembersDocument) throws(EnhancedPresenceRefusal) {
        var seen = Set<ContainerID>()
        for container in request.containers {
            guard container.id != .default else { throw bad("container 0 has no member list (MS-PRES 6.1)") }
            guard seen.insert(container.id).inserted else {
                throw bad("container \(container.id) is named twice (MS-PRES 3.5.5.5)")
            }
            for change in container.changes {
                let member = change.member
                guard ContainerMemberType.known.contains(member.type) else {
                    throw bad("member type \"\(member.type)\" is unknown (MS-PRES 3.5.5.2)")
                }
                guard member.type.takesValue == !(member.value ?? "").isEmpty else {
                    throw bad("a \(member.type) member \(member.type.takesValue ? "needs a" : "takes no") value (MS-PRES 3.5.5.2)")
                }
                if member.type == .user, PresenceAddress(member.value ?? "").domain.isEmpty {
                    throw bad("user member \"\(member.value ?? "")\" is no SIP URI (MS-PRES 3.5.5.2)")
                }
                if member.type == .domain, !isDomain(member.value ?? "") {
                    throw bad("domain member \"\(member.value ?? "")\" is no domain name (MS-PRES 3.5.5.2)")
                }
            }
        }
    }

    private func checkVersions(of request: SetContainerMembersDocument) throws(EnhancedPresenceRefusal) {
        var stale: [FaultOperation] = []
        for (index, container) in request.containers.enumerated() {
            let version = membership(of: container.id).version
            guard container.version != version else { continue }
            stale.append(
                FaultOperation(index: UInt32(clamping: index + 1), version: container.version, currentVersion: version))
        }
        guard stale.isEmpty else {
            throw EnhancedPresenceRefusal(
                status: 409, diagnostic: .publicationVersion, fault: FaultDocument(operations: stale),
                message: "\(stale.count) container(s) with a version that is not the stored one (MS-PRES 3.5.5.2)")
        }
    }

    private static func bad(_ message: String) -> EnhancedPresenceRefusal {
        EnhancedPresenceRefusal(status: 400, message: message)
    }

    /// Whether a name consists of non-empty labels of letters, digits and hyphens, with at most 255 octets.
    private static func isDomain(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 255
            && name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                !label.isEmpty
                    && label.utf8.allSatisfy { byte in
                        let lower = byte.lowercasedASCII
                        return (0x61...0x7A).contains(lower) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
                    }
            }
    }
}
