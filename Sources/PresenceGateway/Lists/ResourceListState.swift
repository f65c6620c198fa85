import PresenceDocuments
import SIPCore

/// What is known of a resource list from the notifications of one subscription to it (RFC 4662 5.2 to 5.6).
///
///     version  full state: everything is taken anew      one more than before: taken over
///              the same or less: nothing new             a gap: taken over, and the full state is to be fetched by a refresh
///
/// Each list has a version of its own, one within another too. A resource with several instances (a forked subscription) counts as active
/// if one of them is, else as pending, else as terminated.
struct ResourceListState: Equatable {
    /// How a resource stands, in the words of its instances.
    enum Standing: Equatable {
        /// Listed, and nothing is known yet.
        case unknown
        case pending
        case active
        case terminated(reason: String?)
    }

    /// What a notification said of one resource.
    struct Update: Equatable {
        var uri: String
        var standing: Standing
        /// The instance that is meant, with ``document``.
        var instance: String?
        /// The state, if the notification had it.
        var document: MIMEPart?
    }

    struct Outcome: Equatable {
        /// In the order of the list.
        var updates: [Update] = []
        /// Resources of before that a full list no longer has.
        var gone: [String] = []
        /// The list said everything: what is not in it is not there.
        var isFull = false
        /// It was said before what is known already.
        var isOutdated = false
        /// Notifications were lost, or the state of a remaining instance is not at hand.
        var needsFullState = false
        /// There are more resources or instances than are kept; the full state would be no less.
        var isOverfull = false
    }

    private struct Member: Equatable {
        var instances: [String: RLMIInstance.State] = [:]
        /// The lists that its instances are.
        var lists: [String: ResourceListState] = [:]

        var size: Int { lists.values.reduce(0) { $0 + $1.size } }
    }

    /// Of one resource: the branches of a forked subscription, of which there are few.
    private static let instanceLimit = 64

    /// Of the last notification that counted.
    private(set) var version: UInt32?
    private var members: [String: Member] = [:]

    /// Resources that are no lists, those of inner lists too.
    var resources: Set<String> {
        members.reduce(into: []) { result, member in
            if member.value.lists.isEmpty { result.insert(member.key) }
            for list in member.value.lists.values { result.formUnion(list.resources) }
        }
    }

    /// Resources and lists, those of inner lists too.
    private var size: Int { members.values.reduce(members.count) { $0 + $1.size } }

    /// Takes a notification over.
    /// - Parameter limit: how many resources and lists are kept; the others are left out.
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
            // An inner list is partial on its own, so what is known of it stays.
            // Who is named twice in one message is taken as the first time left him.
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
                    outcome.updates.append(Update(uri: uri, standing: .terminated(reason: instance.reason)))
                }
            case (let state, .list(let list)?):
                member.instances[instance.id] = state
                var inner = wasList ?? ResourceListState()
                let said = inner.receive(list, room: &room)
                member.lists[instance.id] = inner
                outcome.updates += said.updates
                outcome.updates += said.gone.map { Update(uri: $0, standing: .terminated(reason: "noresource")) }
                outcome.needsFullState = outcome.needsFullState || said.needsFullState
                outcome.isOverfull = outcome.isOverfull || said.isOverfull
            case (let state, .document(let part)?):
                member.instances[instance.id] = state
                member.lists[instance.id] = nil
                room += wasList?.size ?? 0
                if state == .active { shown = (instance.id, part) }
            case (let state, nil):
                member.instances[instance.id] = state
            }
        }
        guard member.lists.isEmpty else { return }
        let states = member.instances.values
        let standing: Standing
        if states.contains(.active) {
            standing = .active
            // One instance went, and another one's state was passed over for it.
            if shown == nil, !resource.instances.contains(where: { $0.state == .active }) { outcome.needsFullState = true }
        } else if states.contains(.pending) {
            standing = .pending
        } else {
            standing = resource.instances.isEmpty ? .unknown : .terminated(reason: reason)
        }
        outcome.updates.append(Update(uri: resource.uri, standing: standing, instance: shown?.instance, document: shown?.part))
    }
}
