import HTTPTransport
import PresenceGateway
import SIPSecurity
import SIPTransport

/// `limits`: sizes of all tables and rates.
extension ConfigurationReader {
    mutating func readLimits(_ limits: ConfigurationNode) {
        let paths: [(String, WritableKeyPath<GatewayLimits, Int>)] = [
            ("subscriptions-per-watcher", \.subscriptionsPerWatcher), ("subscriptions-per-presentity", \.subscriptionsPerPresentity),
            ("subscriptions", \.subscriptions), ("watched-resources", \.watchedResources),
            ("upstream-subscriptions", \.upstreamSubscriptions), ("pending-output", \.pendingOutput),
            ("body-bytes", \.bodyBytes), ("transactions", \.transactions),
            ("presentities", \.presentities), ("registrations", \.registrations), ("registrations-per-user", \.registrationsPerUser),
            ("publications-per-presentity", \.publicationsPerPresentity), ("publication-bytes", \.publicationBytes),
            ("composed-bytes", \.composedBytes), ("composed-elements", \.composedElements), ("composed-notes", \.composedNotes),
            ("composed-extensions", \.composedExtensions),
            ("category-bytes", \.categoryBytes), ("members-per-user", \.membersPerUser),
            ("filters-per-subscription", \.filtersPerSubscription), ("filter-bytes", \.filterBytes),
            ("resources-per-batch", \.resourcesPerBatch), ("categories-per-subscription", \.categoriesPerSubscription),
            ("subscribers-per-user", \.subscribersPerUser), ("context-bytes-per-user", \.contextBytesPerUser),
            ("delegates-per-user", \.delegatesPerUser), ("contacts-per-user", \.contactsPerUser), ("groups-per-user", \.groupsPerUser),
            ("directory-search-results", \.directorySearchResults),
            ("directory-search-conditions", \.directorySearchConditions),
            ("directory-searches-per-second", \.directorySearchesPerSecond), ("journal-entries", \.journalEntries),
            ("publication-bridges", \.publicationBridges), ("shown-watchers", \.shownWatchers), ("sign-offs", \.signOffs),
            ("watcher-rows", \.watcherRows), ("waiting-watchers", \.waitingWatchers),
            ("waiting-watchers-per-presentity", \.waitingWatchersPerPresentity),
            ("documents", \.documents), ("documents-per-user", \.documentsPerUser),
            ("document-bytes-per-user", \.documentBytesPerUser), ("document-requests-per-second", \.documentRequestsPerSecond),
        ]
        let signIn: [(String, WritableKeyPath<AuthenticationLimits, Int>)] = [
            ("authentication-failures", \.failures), ("security-associations", \.associations),
            ("security-associations-per-user", \.associationsPerUser), ("digest-nonces", \.nonces),
            ("tls-handshakes", \.handshakes), ("tls-handshakes-per-address", \.handshakesPerSource),
        ]
        let http: [(String, WritableKeyPath<HTTPOptions, Int>)] = [
            ("http-connections", \.connections), ("http-connections-per-address", \.connectionsPerAddress),
        ]
        guard let fields = limits.fields(paths.map(\.0) + signIn.map(\.0) + http.map(\.0)) else { return }
        for (name, path) in http {
            if let value = fields[name]?.integer(1...1_000_000) { configuration.documents?.options[keyPath: path] = value }
        }
        for (name, path) in paths {
            if let value = fields[name]?.integer(1...100_000_000) { configuration.core.limits[keyPath: path] = value }
        }
        for (name, path) in signIn {
            if let value = fields[name]?.integer(1...100_000_000) { configuration.signIn.limits[keyPath: path] = value }
        }
        // Bodies that the gateway answers with 413 must pass the transport.
        configuration.transport.maximumBodyBytes = max(configuration.transport.maximumBodyBytes, configuration.core.limits.bodyBytes * 2)
    }
}
