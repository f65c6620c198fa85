import Administration
import CBuildIdentity
import PresenceGateway
import SIPCore

/// Names and sentences of the gateway's own figures.
extension StatusPages {
    /// Commit of the sources; `unknown` where the build was not told one.
    static let commit: String = {
        let commit = String(cString: isthmus_commit())
        return commit.isEmpty ? "unknown" : commit
    }()

    /// Current numbers, with `isthmus_` before the name.
    static var gauges: [(name: String, help: String, path: WritableKeyPath<GatewayCounts, Int>)] {
        [
            ("watcher_dialogs", "Dialogs in which this node notifies watchers.", \.watcherDialogs),
            ("upstream_subscriptions", "Subscriptions of this node at remote domains.", \.upstreamSubscriptions),
            ("presentities", "Presentities of hosted domains that have published or are watched.", \.presentities),
            ("publications", "Published documents and category instances of hosted presentities.", \.publications),
            ("publication_bridges", "Users whose publications are relayed to their home domain.", \.publicationBridges),
            ("registrations", "Registered endpoints of hosted users.", \.registrations),
            ("home_dialogs", "Subscriptions of users' own endpoints to the data that their home server keeps.", \.homeDialogs),
            ("transactions", "Client and server transactions.", \.transactions),
            ("timers", "Timers that are set.", \.timers),
            ("watched_resources", "Presentities of all watcher dialogs; a batch or list has several.", \.watchedResources),
            ("pending_output", "Messages that are not sent yet.", \.pendingOutput),
            ("security_associations", "Security associations of signed-in endpoints.", \.securityAssociations),
            ("tls_handshakes", "TLS-DSK handshakes in progress.", \.tlsHandshakes),
            ("hops_down", "Next hops that failed lately and are skipped.", \.hopsDown),
            ("requests_waiting", "Requests that wait for the lookup of their servers.", \.requestsWaiting),
            ("stores_failing", "Shards whose last commit failed; requests that depend on the store are refused there.", \.storesFailing),
            ("overloaded", "Shards that refuse new work because of overload.", \.overloaded),
            (
                "upstream_unverified", "Subscriptions that the remote domain may have lost, or with an unreadable last document.",
                \.unverifiedUpstreams
            ),
        ]
    }

    /// Counters since the start, with `isthmus_` before and `_total` behind the name.
    static var counters: [(name: String, help: String, path: WritableKeyPath<GatewayCounters, UInt64>)] {
        [
            ("requests_received", "Requests that passed admission.", \.requestsReceived),
            ("responses_received", "Responses to open requests, provisional ones included.", \.responsesReceived),
            (
                "responses_refused", "Responses to open requests that came from another source, or with other identifiers.",
                \.responsesRefused
            ),
            ("responses_stray", "Responses to no open request: late, misrouted or forged.", \.responsesStray),
            ("malformed_received", "Messages that could not be parsed.", \.malformedReceived),
            ("requests_sent", "Requests sent, BENOTIFY included.", \.requestsSent),
            ("responses_sent", "Responses sent, without retransmissions.", \.responsesSent),
            ("subscriptions_accepted", "Subscriptions accepted, those of users' own endpoints included.", \.subscriptionsAccepted),
            ("subscriptions_refused", "SUBSCRIBE requests refused or challenged.", \.subscriptionsRefused),
            ("subscriptions_ended", "Subscriptions ended, those of users' own endpoints included.", \.subscriptionsEnded),
            ("notifications_sent", "NOTIFY and BENOTIFY requests sent.", \.notificationsSent),
            (
                "notifications_suppressed", "Changes without a notification of their own: known already, or replaced while they waited.",
                \.notificationsSuppressed
            ),
            ("notifications_failed", "Notifications that were refused or not delivered.", \.notificationsFailed),
            (
                "notifications_received", "Notifications received from remote domains, and states in their 200 responses.",
                \.notificationsReceived
            ),
            ("publications_accepted", "PUBLISH and SERVICE requests accepted.", \.publicationsAccepted),
            ("publications_refused", "PUBLISH and SERVICE requests refused or challenged.", \.publicationsRefused),
            ("publications_carried", "Relayed publications that the home domain accepted.", \.publicationsRelayed),
            ("publications_refused_far", "Relayed publications that the home domain refused for good.", \.publicationsRefusedUpstream),
            (
                "publication_conflicts", "Responses 409 and 412 of the home domain: it has another version or entity-tag.",
                \.publicationConflicts
            ),
            ("upstream_lost", "Subscriptions at remote domains that were lost and made again.", \.upstreamLost),
            ("redirects_followed", "Presentities followed to another pool or URI that their domain named.", \.redirectsFollowed),
            ("redirects_delayed", "Presentities that rest after too many redirects, or a loop.", \.redirectsDelayed),
            ("redirect_loops", "Presentities redirected to a target that they had before.", \.redirectLoops),
            ("document_flaws", "Parts of notified documents skipped because they violate their standard.", \.documentFlaws),
            ("documents_unreadable", "Notified documents that could not be read at all.", \.documentsUnreadable),
            ("partial_state_missed", "Partial documents and lists that did not follow the previous version.", \.partialStateMissed),
            ("lists_given_up", "List subscriptions at remote domains replaced by single ones.", \.listsGivenUp),
            ("limits_reached", "Requests received or to be sent that exceeded a limit.", \.limitsReached),
            ("overload_refusals", "Requests refused with 503 because of overload.", \.overloadRefusals),
            ("impostors_refused", "Requests of peers that may not act for the domain of From.", \.unauthorizedPeersRefused),
            ("rights_refused", "Subscriptions refused because the users may not watch each other.", \.rightsRefused),
            ("directory_searches", "Directory searches performed.", \.directorySearches),
            ("clock_steps", "Number of times that the machine's clock was set.", \.clockSteps),
            ("directory_comparisons", "Values compared by directory searches.", \.directoryComparisons),
            ("directory_searches_refused", "Directory searches refused because of their rate.", \.directorySearchesRefused),
            ("documents_composed", "Documents composed of the publications of one presentity.", \.documentsComposed),
            ("bodies_encoded", "Presence documents encoded.", \.bodiesEncoded),
            ("bodies_shared", "Encoded presence documents and views that were reused.", \.bodiesShared),
            ("log_records_dropped", "Log records dropped beyond their limit.", \.logRecordsDropped),
            ("requests_authenticated", "Requests of authenticated users.", \.requestsAuthenticated),
            ("requests_challenged", "Requests challenged for credentials.", \.requestsChallenged),
            ("authentication_failures", "Attempts to authenticate that failed.", \.authenticationFailures),
            ("document_requests", "XCAP requests of users.", \.documentRequests),
            ("document_changes", "Changes of XCAP documents.", \.documentChanges),
            ("document_requests_refused", "XCAP requests beyond the limit of their user.", \.documentRequestsRefused),
            ("commits_failed", "Commits that the store refused.", \.commitsFailed),
            ("name_questions", "DNS questions.", \.nameQuestions),
            ("name_cache_hits", "DNS questions answered from the cache.", \.nameCacheHits),
            ("name_failures", "DNS questions without a usable answer.", \.nameFailures),
            ("hop_failovers", "Requests sent to another server after one failed.", \.hopFailovers),
            ("hops_not_located", "Requests without a usable next hop.", \.hopsNotLocated),
        ]
    }

    /// Histograms of durations.
    static func durations(_ durations: GatewayDurations, lateness: DurationHistogram) -> [Metric] {
        func histogram(_ name: String, _ help: String, _ values: DurationHistogram) -> Metric {
            Metric(
                "isthmus_\(name)_seconds", help: help,
                distributions: [
                    .init(
                        bounds: DurationHistogram.bounds.map(\.fractionalSeconds), counts: values.counts, sum: values.sum.fractionalSeconds)
                ])
        }
        return [
            histogram("commit", "From the submission of a commit to its result.", durations.commits),
            histogram("partner_response", "From a request to a partner domain to its final response.", durations.partnerResponses),
            histogram("loop_lateness", "Delay of an event loop at each of its turns.", lateness),
        ]
    }
}

extension TimeSpan {
    /// Length in seconds, the base unit of metrics.
    var fractionalSeconds: Double { Double(nanoseconds) / 1e9 }
}
