import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents

/// Notifications of a user's own data to the user's endpoints (MS-PRES 3.3).
extension HomeServerFlow {
    /// The parts of the data that a self SUBSCRIBE requests (MS-PRES 3.3.5.1, 3.3.5.3).
    func roamingScope(_ request: SIPRequest) throws(Refusal) -> Set<RoamingScope> {
        guard !request.body.isEmpty else { throw .badRequest("MS-PRES 3.3.5.3: a self subscription needs a body", errorID: 4001) }
        guard request.headers.contentType?.essence == WatcherFormat.roamingSelfType else {
            throw .unsupportedMediaType(accept: WatcherFormat.roamingSelfType)
        }
        do {
            return Set(try RoamingListDocument(parsing: request.body, limits: documentLimits).scopes)
        } catch {
            throw .badRequest("MS-PRES 3.3.5.3: \(error)", errorID: 4001)
        }
    }

    /// Encodes the user's data; nil: nothing in `scope` changed.
    /// - Parameter change: what has changed; nil for the full state.
    func roamingData(of owner: DataOwner, scope: Set<RoamingScope>, after change: PresentityChange?, at now: Instant) -> [UInt8]? {
        let moment = DateTime(now)
        // A user without a record gets a document too.
        let presentity = ports.publishedState(of: owner)
        guard let change else { return presentity.roamingData(scope: scope, at: moment).encoded() }
        let data = presentity.roamingData(after: change, scope: scope, at: moment)
        return data == RoamingDataDocument() ? nil : data.encoded()
    }

    /// Notifies the user's self dialogs with a scope that the change touches, including that of the endpoint that caused it (MS-PRES
    /// 3.3.5.2).
    func notifyOwner(of user: String, _ change: PresentityChange, at now: Instant) {
        guard !change.isEmpty else { return }
        for dialog in ports.ownDialogs(of: user) {
            guard let subscription = dialog.subscription as? RoamingSelfSubscription, subscription.add(change) else { continue }
            ports.stateChanged(of: dialog, at: now)
        }
    }
}
