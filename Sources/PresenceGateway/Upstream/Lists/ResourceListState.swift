import PresenceDocuments
import SIPCore

/// State of a resource list from the notifications of one subscription (RFC 4662 5.2 to 5.6).
///
///     version  full state: replaces everything          one more than before: applied
///              the same or less: ignored                a gap: applied, and a refresh must fetch the full state
///
/// Each list has its own version, nested lists too. A resource with several instances (a forked subscription) is active if one of them is,
/// else pending if one is, else terminated.
struct ResourceListState: Equatable {
    /// State of a resource, combined from its instances.
    enum InstanceState: Equatable {
        /// Listed without a state.
        case unknown
        case pending
        case active
        case terminated(reason: String?)
    }

    /// A change of one resource in a notification.
    struct Update: Equatable {
        var uri: String
        var instanceState: InstanceState
        /// Instance of ``document``.
        var instance: String?
        /// Document with the state, if the notification contained one.
        var document: MIMEPart?
        /// Error of an unreadable inner list that had the resource before.
        var problem: String?
    }

    struct Outcome: Equatable {
        /// Changes in the order of the list.
        var updates: [Update] = []
        /// Earlier resources that a full list no longer contains.
        var gone: [String] = []
        /// The list was full: resources outside it do not exist.
        var isFull = false
        /// The notification is older than the known state and was ignored.
        var isOutdated = false
        /// Notifications were lost, or the state of a remaining instance is unknown.
        var needsFullState = false
        /// Errors of unreadable inner lists with unknown resources.
        var unreadableLists: [String] = []
        /// The list exceeds the limit of resources or instances; fetching the full state would not help.
        var isOverfull = false
    }

    private struct Member: Equatable {
        var instances: [String: RLMIInstance.State] = [:]
        /// Nested lists by instance.
        var lists: [String: ResourceListState] = [:]

        var size: Int { lists.values.reduce(0) { $0 + $1.size } }
    }

    /// Instances of one resource: branches of a forked subscription, usually few.
    private static let instanceLimit = 64

    /// Version of the last applied notification.
    private(set) var version: UInt32?
    private var members: [String: Member] = [:]

    /// Resources that are not lists, including those of nested lists.
    var resources: Set<String> {
        members.reduce(into: []) { result, member in
            if member.value.lists.isEmpty { result.insert(member.key) }
            for list in member.value.lists.values { result.formUnion(list.resources) }
        }
    }

    /// Number of resources and lists, including those of nested lists.
    private var size: Int { members.values.reduce(members.count) { $0 + $1.size } }

    /// Applies a notification.
    /// - Parameter limit: maximum number of resources and lists; excess ones are left out.
    mutating func receive(_ notification: ResourceListNotification, limit: Int = 1_000) -> Outcome {
        var room = limit - size
        return receive(notification, room: &room)
    }

    private mutating func receive(_ notification: ResourceListNotification, room: inout Int) -> Outcome {
        let meta = notification.meta
        var outcome = Outcome(isFull: meta.fullState)
        if !meta.fullState {
            let distance = meta.version &- (version ?? meta.version &- 2)
            if distance == 0 || distance > UInt32.max / 2 { return Outcome(isOutdated: true) }
            outcome.needsFullState = distance != 1
        }
        version = meta.version
        let before = meta.fullState ? resources : []
        let known = members
        if meta.fullState {
            room += size
            members = [:]
        }
        for resource in meta.resources {
            // A nested list may be partial by itself, so its known state stays. A resource named twice in one message continues from its
            // first entry.
            var member = members[resource.uri] ?? known[resource.uri] ?? Member()
            if meta.fullState {
                member.instances = [:]
                let listed = Set(resource.instances.map(\.id))
                member.lists = member.lists.filter { listed.contains($0.key) }
            }
            if members[resource.uri] == nil {
                guard room > member.size else {
                    outcome.isOverfull = true
                    continue
                }
                room -= 1 + member.size
            }
            apply(resource, of: notification, to: &member, room: &room, outcome: &outcome)
            members[resource.uri] = member
        }
        if meta.fullState { outcome.gone = before.subtracting(resources).sorted() }
        return outcome
    }

    private func apply(
        _ resource: RLMIResource, of notification: ResourceListNotification, to member: inout Member, room: inout Int,
        outcome: inout Outcome
    ) {
        var reason: String?
        var isUnreadable = false
        var shown: (instance: String, part: MIMEPart)?
        for instance in resource.instances {
            guard member.instances[instance.id] != nil || instance.state == .terminated || member.instances.count < Self.instanceLimit
            else {
                outcome.isOverfull = true
                continue
            }
            let wasList = member.lists[instance.id]
            switch (instance.state, notification.content(of: instance)) {
            case (.terminated, _):
                reason = instance.reason
                member.instances[instance.id] = nil
                member.lists[instance.id] = nil
                room += wasList?.size ?? 0
                for uri in (wasList?.resources ?? []).sorted() {
                    outcome.updates.append(Update(uri: uri, instanceState: .terminated(reason: instance.reason)))
                }
            case (let state, .list(let list)?):
                member.instances[instance.id] = state
                var inner = wasList ?? ResourceListState()
                let said = inner.receive(list, room: &room)
                member.lists[instance.id] = inner
                outcome.updates += said.updates
                outcome.updates += said.gone.map { Update(uri: $0, instanceState: .terminated(reason: "noresource")) }
                outcome.needsFullState = outcome.needsFullState || said.needsFullState
                outcome.unreadableLists += said.unreadableLists
                outcome.isOverfull = outcome.isOverfull || said.isOverfull
            case (let state, .unreadable(let problem)?):
                member.instances[instance.id] = state
                isUnreadable = true
                if wasList == nil { outcome.unreadableLists.append(problem) }
                for uri in (wasList?.resources ?? []).sorted() {
                    outcome.updates.append(Update(uri: uri, instanceState: .active, problem: problem))
                }
            case (let state, .document(let part)?):
                member.instances[instance.id] = state
                member.lists[instance.id] = nil
                room += wasList?.size ?? 0
                if state == .active { shown = (instance.id, part) }
            case (let state, nil):
                member.instances[instance.id] = state
            }
        }
        guard member.lists.isEmpty, !isUnreadable else { return }
        let states = member.instances.values
        let instanceState: InstanceState
        if states.contains(.active) {
            instanceState = .active
            // An instance ended, and the state of the remaining active one was not kept.
            if shown == nil, !resource.instances.contains(where: { $0.state == .active }) { outcome.needsFullState = true }
        } else if states.contains(.pending) {
            instanceState = .pending
        } else {
            instanceState = resource.instances.isEmpty ? .unknown : .terminated(reason: reason)
        }
        outcome.updates.append(Update(uri: resource.uri, instanceState: instanceState, instance: shown?.instance, document: shown?.part))
    }
}
