import EnhancedPresence
import SIPCore

extension Gateway {
    /// Saves the presentity's publications, to restore them if the coming change cannot be stored.
    func undoable(_ key: String) {
        guard store != nil else { return }
        let before = presentities[key]?.published
        ifNotKept { [unowned self] now in
            guard let presentity = presentities[key] ?? before.map({ makePresentity(key, $0.uri) }) else { return }
            presentities[key] = presentity
            presentity.revert(to: before ?? makePresentity(key, presentity.uri).published)
            composeAgain(presentity)
            presentity.noteTimedMoment(at: now)
            placeWatchers(of: presentity, before: presentity.enhanced.withoutBlocks(), at: now)
            notifyWatchers(of: presentity, at: now)
            settle(presentity)
            schedule(presentity)
        }
    }
}
