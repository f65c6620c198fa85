import EnhancedPresence
import FederationRouting
import PresenceDocuments
import PresenceMapping
import SIPCore

/// Collects the applied mapping rows and their losses.
final class MappingNotes {
    private(set) var rows: [String] = []
    private(set) var losses: [MappingLoss] = []

    func add(rows: [String], losses: [MappingLoss]) {
        for row in rows where !self.rows.contains(row) { self.rows.append(row) }
        self.losses += losses
    }
}

extension ViewExplanation {
    init(origin: Origin, notes: MappingNotes, tables: MappingTables) {
        self.init(origin: origin)
        rows = notes.rows.map { id in
            let found = tables.row(id)
            return RowReport(id: id, table: found?.table ?? "", section: found?.row.section ?? "")
        }
        losses = notes.losses.map { LossReport(row: $0.rowID, field: $0.field, value: $0.value, reason: $0.reason) }
    }

    init(origin: Origin) {
        self.origin = origin
        containers = []
        isDocumentHidden = false
        rows = []
        losses = []
    }
}

extension ViewExplanation.Origin {
    init(_ source: PresenceSource) {
        switch source {
        case .unknown: self = .nothing
        case .offline: self = .offline
        case .categories: self = .categories
        case .pidf: self = .pidf
        case .msrtc: self = .msrtc
        }
    }
}

extension RouteReport {
    init(_ decision: RouteDecision) {
        switch decision.outcome {
        case .local: self.init(outcome: .local, entry: decision.rule, reason: decision.reason)
        case .forward(_, let hop):
            self.init(outcome: .forward, entry: decision.rule, reason: decision.reason, nextHop: hop.description)
        case .refuse(let status):
            self.init(outcome: .refuse, entry: decision.rule, reason: decision.reason, status: status.rawValue)
        }
    }
}

extension InstanceStateReport {
    init(_ verdict: WatcherDialog.RejectedResource) {
        self.init(state: verdict.state, reason: verdict.reason, status: verdict.statusCode, pool: verdict.poolFqdn)
    }
}

extension InstanceReport {
    init(_ instance: CategoryInstance) {
        self.init(
            category: instance.id.category.rawValue, container: Int(instance.id.container.rawValue), instance: Int(instance.id.instance),
            version: Int(instance.version), publishTime: instance.publishTime, expireType: instance.expireType.rawValue,
            deadline: instance.deadline, endpoint: instance.endpointID, isComputed: instance.isComputed,
            availability: instance.availability)
    }
}

extension CategoryInstance {
    /// Availability of a state or legacyInterop instance; nil for other categories and unreadable bodies.
    fileprivate var availability: Int? {
        guard id.category == .state || id.category == .legacyInterop, let body,
            let read = try? CategoryBody.raw(body).read(as: id.category)
        else { return nil }
        switch read {
        case .state(let state): return state.availability.map { Int($0) }
        case .legacyInterop(let legacy): return legacy.availability.map { Int($0) }
        default: return nil
        }
    }
}
