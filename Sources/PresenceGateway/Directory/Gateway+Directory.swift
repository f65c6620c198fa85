import EnhancedPresence
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents
import UserDirectory

/// The users of the hosted enterprise domains, and what the server publishes for them (MS-PRES 3.2.6.2).
extension Gateway {
    /// What the gateway has its users from; see ``use(directory:at:)``.
    public var directoryState: DirectoryState { directory.state }

    /// Takes over another directory: publishes what is new of its users, and ends what concerns those who are gone or disabled.
    public func use(directory state: DirectoryState, at now: Instant) {
        desk.now = now
        // A user whose endpoints listen is told what is new, whether or not anything else is here of him.
        for dialog in home.dialogs.all where presentities[dialog.user] == nil {
            presentities[dialog.user] = makePresentity(dialog.user, dialog.userURI)
        }
        defer { presentities.values.filter(\.isIdle).forEach(settle) }
        directory.replace(by: state, at: DateTime(now))
        guard case .known(let users) = state else { return }
        for record in presentities.values.sorted(by: { $0.key < $1.key }) where isInDirectory(record.uri) {
            if let user = users.enabledUser(record.owner) {
                let isOther = record.user != user
                let change = publishForServer(record)
                if !change.isEmpty {
                    keep(record)
                    tellAll(of: record, change, at: now)
                } else if isOther {
                    // What only the older formats show has changed (MS-PRES 3.7.5.5).
                    tellWatchers(of: record, at: now)
                }
            } else {
                userEnded(record, at: now)
            }
        }
        for dialog in home.dialogs.all where directory.has(dialog.user) == false && isInDirectory(dialog.userURI) {
            perform(dialog.notifier.terminate(.noresource, at: now), on: dialog, at: now)
        }
        for dialog in dialogs.values.sorted(by: { $0.localTag < $1.localTag })
        where directory.has(dialog.watcherKey) == false && isInDirectory(dialog.watcher) {
            perform(dialog.notifier.terminate(.rejected, at: now), on: dialog, at: now)
        }
        // Last, because it takes the addresses away that the farewells go to (MS-PRES 1.3.1.3.10).
        for user in home.registrar.boundUsers.sorted() where directory.has(user) == false && SIPURI(user).map(isInDirectory) == true {
            bindingsEnded(home.registrar.endAll(of: user), at: now)
        }
        scheduleRegistrar()
    }

    /// Whether the directory decides about that URI.
    private func isInDirectory(_ uri: SIPURI) -> Bool {
        guard let domain = configuration.domain(uri.domainKey) else { return false }
        return domain.hosted && domain.side == .enterprise
    }

    /// Whether a hosted enterprise domain has the user with this `aorKey`. Without a directory everybody of the domain exists.
    func isUser(_ key: String) -> Bool { directory.has(key) == true }

    /// Refuses a watcher of somebody who does not exist; in a batch the list says so instead (MS-PRES 3.4.5.3).
    func checkUsers(_ uris: [SIPURI], isBatch: Bool) throws(Refusal) {
        for uri in uris {
            guard let domain = configuration.domain(uri.domainKey) else { continue }
            do throws(Refusal) {
                try screening.checkUser(uri, of: domain)
            } catch  where !isBatch || error.status != .notFound {
                throw error
            } catch {
                continue
            }
        }
    }

    // MARK: server publications

    /// How long a client's own version of what the server publishes stands before the server publishes its data again: the period of
    /// the server publication timer (MS-PRES 3.2.6.2, note 33).
    static let serverPublicationPeriod = TimeSpan.seconds(60)

    /// Publishes what the directory says of the user; data that are there already are left alone.
    @discardableResult
    func publishForServer(_ record: HostedPresentity) -> PresentityChange {
        record.serverPublicationsDue = nil
        guard isInDirectory(record.uri), let user = directory.users?.enabledUser(record.owner) else { return PresentityChange() }
        if record.user != user {
            record.user = user
            record.serverPublications = user.serverPublications.map { ($0.id, $0.body) }
        }
        return record.enhanced.publishByServer(record.serverPublications, at: directory.time(of: record.owner))
    }

    /// A client may have changed what the server publishes: the timer sees to it.
    func noteServerPublications(of record: HostedPresentity, _ change: PresentityChange, at now: Instant) {
        guard record.serverPublicationsDue == nil, !record.isAsServerPublished,
            record.serverPublications.contains(where: { change.pairs.contains($0.id.pair) })
        else { return }
        record.serverPublicationsDue = now + Self.serverPublicationPeriod
    }

    // MARK: users who are gone

    /// A user was removed or disabled: to everybody else he is as if he had never been (MS-PRES 3.4.5.3).
    private func userEnded(_ record: HostedPresentity, at now: Instant) {
        record.user = nil
        for (tag, resource) in record.watchersInOrder {
            guard let watcher = dialogs[tag] else { continue }
            guard watcher.namesResources else {
                perform(watcher.notifier.terminate(.noresource, at: now), on: watcher, at: now)
                continue
            }
            record.removeWatcher(tag)
            reject(resource, of: watcher, state: "resubscribe")
            if watcher.isBatch, watcher.resources.isEmpty {
                perform(watcher.notifier.terminate(.noresource, at: now), on: watcher, at: now)
            } else {
                perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
            }
        }
        settle(record)
    }
}

extension ServerPublication {
    fileprivate var id: PublicationID { PublicationID(category: category, container: container, instance: instance) }
}
