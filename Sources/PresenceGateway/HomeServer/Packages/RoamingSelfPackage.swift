import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents

/// Publications, containers, subscribers and delegates of the user (MS-PRES 3.3).
final class RoamingSelfPackage: OwnDataPackage {
    let token = "vnd-microsoft-roaming-self"
    let mediaTypes = [WatcherFormat.roamingSelfType]
    private unowned let source: any OwnDataSource

    init(_ source: any OwnDataSource) { self.source = source }

    func subscription(of owner: DataOwner, _ request: SIPRequest) throws(Refusal) -> any PackageSubscription {
        RoamingSelfSubscription(source, owner, scope: try source.roamingScope(request))
    }

    func subscription(of owner: DataOwner, _ details: [String: String]) -> (any PackageSubscription)? {
        details[RoamingSelfSubscription.scopeDetail].map { scope in
            RoamingSelfSubscription(source, owner, scope: Set(scope.split(separator: " ").map { RoamingScope(rawValue: String($0)) }))
        }
    }
}

/// A self subscription: the parts of the data that the endpoint requested, and their changes.
final class RoamingSelfSubscription: PackageSubscription {
    private unowned let source: any OwnDataSource
    let owner: DataOwner
    private var scope: Set<RoamingScope>
    private var pendingChanges = PresentityChange()

    /// Key of the scope in the stored details.
    static let scopeDetail = "scope"

    init(_ source: any OwnDataSource, _ owner: DataOwner, scope: Set<RoamingScope>) {
        self.source = source
        self.owner = owner
        self.scope = scope
    }

    var contentType: String { WatcherFormat.roamingSelfType }
    var presentity: String { owner.key }
    var requiresEventList: Bool { true }

    /// Adds a change of the user's data.
    /// - Returns: whether it touches the scope.
    func add(_ change: PresentityChange) -> Bool {
        guard change.touches(scope) else { return false }
        pendingChanges.formUnion(change)
        return true
    }

    /// A later SUBSCRIBE replaces the scope; one without a body keeps it (MS-PRES 3.3.5.1, 4.4.4).
    func change(
        by request: SIPRequest, isUnsubscribe: Bool, of dialog: WatcherDialog, at now: Instant
    ) throws(Refusal) -> [String]? {
        guard !request.body.isEmpty else { return nil }
        scope = try source.roamingScope(request)
        pendingChanges = PresentityChange()
        return nil
    }

    func body(
        of dialog: WatcherDialog, naming named: [String]?, isFull: Bool, at now: Instant
    ) -> NotificationBody? {
        let change = isFull ? nil : pendingChanges
        pendingChanges = PresentityChange()
        return source.roamingData(of: owner, scope: scope, after: change, at: now).map {
            NotificationBody(contentType: contentType, bytes: $0)
        }
    }

    func reload(_ dialog: WatcherDialog, as stored: any PackageSubscription, hopMarks: [String?], at now: Instant) {
        guard let stored = stored as? RoamingSelfSubscription else { return }
        scope = stored.scope
        pendingChanges = PresentityChange()
    }

    func store(in stored: inout StoredDialog) {
        stored.details[Self.scopeDetail] = scope.map(\.rawValue).sorted().joined(separator: " ")
    }
}

extension PresentityChange {
    /// Whether the change affects a part of the scope.
    fileprivate func touches(_ scope: Set<RoamingScope>) -> Bool {
        (!pairs.isEmpty && scope.contains(.categories)) || (!containers.isEmpty && scope.contains(.containers))
            || (subscribersChanged && scope.contains(.subscribers)) || (delegatesChanged && scope.contains(.delegates))
    }
}
