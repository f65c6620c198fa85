import PresenceDocuments
import PresenceGateway

/// Explanation as sentences, each with a label for its kind.
package struct ExplanationText {
    private let explanation: Explanation
    private let time: RelativeTime
    private var lines: [(label: String, text: String)] = []

    package init(_ explanation: Explanation, at now: DateTime) {
        self.explanation = explanation
        time = RelativeTime(now: now)
        describe()
    }

    /// Sentence that names the watcher and the presentity.
    package var heading: String {
        let verb = explanation.subscriptions.isEmpty ? "does not watch" : "watches"
        return "\(Self.name(explanation.watcher)) \(verb) \(Self.name(explanation.presentity))"
    }

    /// Sentences of one kind.
    package struct Section: Hashable, Sendable {
        /// The kind.
        package var label: String
        /// The sentences.
        package var lines: [String]
    }

    /// The sentences by kind, in order; each subscription has sections of its own.
    package var sections: [Section] {
        var sections: [Section] = []
        for (label, text) in lines where !label.isEmpty {
            if sections.last?.label == label {
                sections[sections.count - 1].lines.append(text)
            } else {
                sections.append(Section(label: label, lines: [text]))
            }
        }
        return sections
    }

    package var text: String {
        var result = heading + "\n\n"
        var last = ""
        let width = (lines.map(\.label.count).max() ?? 0) + 2
        for (label, text) in lines {
            if label.isEmpty, text.isEmpty {
                result += "\n"
                last = ""
                continue
            }
            let shown = label == last ? "" : label
            last = label
            result += shown + String(repeating: " ", count: width - shown.count) + text + "\n"
        }
        for subscription in explanation.subscriptions {
            if let body = subscription.body { result += "\n" + body + (body.hasSuffix("\n") ? "" : "\n") }
        }
        return result
    }

    private static func name(_ party: PartyReport) -> String {
        var traits: [String] = []
        if let side = party.side { traits.append(side) }
        if party.isHosted { traits.append("hosted here") } else if let network = party.network { traits.append(network) }
        if party.isUser == false { traits.append("not in the directory") }
        if traits.isEmpty { traits.append("of a domain that is not served") }
        return "\(party.uri) (\(traits.joined(separator: ", ")))"
    }

    private mutating func add(_ label: String, _ text: String) { lines.append((label, text)) }

    private mutating func describe() {
        let route = explanation.route
        switch route.outcome {
        case .local: add("route", "answered here: \(route.reason)")
        case .forward: add("route", "to \(route.nextHop ?? ""): \(route.reason)")
        case .refuse: add("route", "refused with \(route.status ?? 0): \(route.reason)")
        }
        for (index, subscription) in explanation.subscriptions.enumerated() {
            if index > 0 { add("", "") }
            describe(subscription)
        }
        if let preview = explanation.preview {
            add("would see", "\(Self.origin(preview, isHosted: true)), if it subscribed now")
            describe(preview)
        }
        if let home = explanation.home { describe(home) }
        for line in explanation.carried?.lines(by: time) ?? [] { add("carried", line) }
        for entry in explanation.journal { add("journal", Self.line(of: entry, at: time.now)) }
        if explanation.subscriptions.isEmpty, explanation.journal.isEmpty {
            add("journal", "nothing was refused, lost or ended between the two lately")
        }
    }

    // MARK: a subscription

    private mutating func describe(_ explained: SubscriptionExplanation) {
        let subscription = explained.subscription
        var what =
            "\(subscription.shape == .single ? "" : "\(subscription.shape.rawValue), ")\(subscription.state.rawValue), \(subscription.format)"
        if !subscription.categories.isEmpty { what += " (\(subscription.categories.joined(separator: ", ")))" }
        add("subscription", what)
        add("subscription", "from \(subscription.peer), ends \(time.ahead(subscription.expires)) unless refreshed")
        add("subscription", "Call-ID \(subscription.callID), tags \(subscription.localTag) (ours) and \(subscription.remoteTag)")
        describe(subscription.notification, isBestEffort: subscription.isBestEffort)
        if let redelivery = subscription.redelivery {
            for line in redelivery.lines(by: time) { add("retried", line) }
        }
        if let verdict = explained.verdict {
            let details = [verdict.reason, verdict.status.map(String.init), verdict.pool.map { "pool \($0)" }].compactMap { $0 }
            add(
                "verdict",
                "the list has the instance state \(verdict.state)" + (details.isEmpty ? "" : ": " + details.joined(separator: ", ")))
            return
        }
        switch explained.delivery {
        case .current where subscription.leg?.unverifiedSince != nil: add("has", "exactly what was known last")
        case .current: add("has", "exactly what is known now")
        case .nothing: add("has", "nothing yet")
        case .waiting:
            let spaced = explained.spacedUntil.map { ", not before \(time.ahead($0)) to keep the distance of RFC 3856 6.10" } ?? ""
            add("has", "an older state; the newer one waits its turn\(spaced)")
        }
        let isHosted = subscription.source == .hosted
        add("presence", Self.origin(explained.view, isHosted: isHosted))
        if let reason = Self.reason(subscription) { add("presence", reason) }
        if let since = subscription.leg?.unverifiedSince {
            let cause =
                subscription.leg?.unreadable.map { "the last document of the remote domain cannot be read: \($0)" }
                ?? (subscription.leg?.restoredAt == nil
                    ? "the remote domain was unreachable or closed the connection, and has not accepted a SUBSCRIBE since"
                    : "this gateway restarted, and the remote domain has not accepted a SUBSCRIBE since")
            add("presence", "unverified since \(time.ago(since)): \(cause)")
        }
        describe(explained.view)
        if let upstream = subscription.leg { describe(upstream) }
    }

    private mutating func describe(_ notification: NotificationReport?, isBestEffort: Bool) {
        guard let notification else { return add("notified", "nothing by this process") }
        let method = isBestEffort ? "BENOTIFY" : "NOTIFY"
        let vehicle = notification.isPiggybacked ? "in the answer to its SUBSCRIBE" : "\(method) \(notification.cSeq)"
        var answer = notification.answer.map { ", answered \($0)" } ?? ""
        if notification.isLost { answer = ", not delivered" } else if notification.isAwaited { answer = ", not answered yet" }
        add("notified", "\(time.ago(notification.at)), \(vehicle)\(answer): \(Self.cause(notification.cause))")
        var counts = "\(notification.count) notification\(notification.count == 1 ? "" : "s") by this process"
        if notification.suppressed > 0 {
            counts += "; \(notification.suppressed) changes had none of their own: nothing new in them, or newer state replaced them"
        }
        add("notified", counts)
    }

    private static func cause(_ cause: NotificationCause) -> String {
        switch cause {
        case .first: "the first of this dialog"
        case .refresh: "the watcher refreshed"
        case .change: "the presence changed"
        case .pending: "pending: not authorized, or nothing is known"
        case .granted: "no longer pending"
        case .repetition: "the one before did not arrive"
        case .end: "the last one"
        }
    }

    /// Reason why presence is unknown, stale, offline or unconfirmed, as far as the upstream subscription explains it.
    package static func reason(_ subscription: SubscriptionReport) -> String? {
        guard subscription.source != .hosted else { return nil }
        guard let upstream = subscription.leg else {
            switch subscription.knowledge {
            case .offline: return "the remote domain ended the upstream subscription"
            case .unknown: return "nothing was received from the remote domain yet"
            case .known, .stale: return nil
            }
        }
        let isLost = upstream.state == .resting || upstream.failures > 0
        if upstream.unreadable != nil, !isLost { return unreadableReason(subscription.knowledge, upstream) }
        switch (subscription.knowledge, upstream.whenLost) {
        case (.stale, _): return "the upstream subscription is lost: its last state is shown for a while (timing.stale-after-ms)"
        case (.offline, "pending") where isLost:
            return
                "the upstream subscription is lost: the last state is unconfirmed, and shown as offline in a batch or list (when-lost: pending)"
        case (.offline, "offline") where isLost:
            return "the upstream subscription is lost: its presentities are shown as offline (when-lost: offline)"
        case (.offline, _) where isLost:
            return "the upstream subscription is lost, and its last state is no longer shown (timing.stale-after-ms)"
        case (.offline, _): return "the remote domain accepted the subscription and sent no presence"
        case (.unknown, _) where upstream.standing == "pending": return "the remote domain has not authorized the subscription yet"
        case (.unknown, _): return "nothing was received from the remote domain yet"
        case (.known, "pending") where isLost:
            return "the upstream subscription is lost: the known state is unconfirmed (when-lost: pending)"
        case (.known, _) where upstream.standing == "pending": return "the remote domain answers pending: the known state is unconfirmed"
        case (.known, _): return nil
        }
    }

    /// Reason for the state that is shown while the last document is unreadable.
    private static func unreadableReason(_ knowledge: SubscriptionReport.Knowledge, _ upstream: UpstreamReport) -> String? {
        switch (knowledge, upstream.whenLost) {
        case (.stale, _): "the state before an unreadable document, shown for a while (timing.stale-after-ms)"
        case (.offline, "offline"): "the last documents are unreadable: offline until one is read (when-lost: offline)"
        case (.offline, "pending"):
            "the last documents are unreadable: in a batch or list, offline until one is read (when-lost: pending)"
        case (.offline, _): "the last document is unreadable, and the state before it is no longer shown (timing.stale-after-ms)"
        case (.unknown, _): "no readable document was received from the remote domain yet"
        case (.known, _) where upstream.standing == "pending":
            "the last documents are unreadable: pending until one is read (when-lost: pending)"
        case (.known, _): nil
        }
    }

    private static func origin(_ view: ViewExplanation, isHosted: Bool) -> String {
        let place = isHosted ? "published here" : "received from the remote domain"
        switch view.origin {
        case .nothing: return "nothing is known"
        case .own: return "state of the event package at this node"
        case .refused: return "nothing, because the subscription is refused"
        case .pending: return "nothing, because the subscription is pending"
        case .offline: return "an offline user"
        case .categories: return "categories \(place)"
        case .pidf: return "PIDF \(place)"
        case .msrtc: return "msrtc.pidf \(place)"
        case .both: return "categories and PIDF \(place); where both have a value, the newer"
        }
    }

    // MARK: a view

    private mutating func describe(_ view: ViewExplanation) {
        for line in view.decision ?? [] { add("rules", line) }
        let (absent, present) = (view.containers.filter(\.isUnpublished), view.containers.filter { !$0.isUnpublished })
        for container in present {
            add("container", Self.line(of: container))
            for instance in container.instances { add("container", "  " + line(of: instance)) }
        }
        if !absent.isEmpty {
            let names = absent.map(\.category).joined(separator: ", ")
            let isPIDFShown = view.origin == .pidf || view.origin == .both
            add("container", isPIDFShown ? "in no container, so that the published PIDF decides: \(names)" : "not published: \(names)")
        }
        if view.isDocumentHidden {
            add("container", "PIDF is hidden: the presentity's own containers decide about this watcher (MS-PRES 3.2.5.3)")
        }
        let width = view.rows.map(\.id.count).max() ?? 0
        let tables = view.rows.map(\.table.count).max() ?? 0
        for row in view.rows {
            add("row", row.id.padded(to: width) + "  " + row.table.padded(to: tables) + "  " + row.section)
        }
        for loss in view.losses {
            add("loss", "\(loss.row): \(loss.field) \"\(loss.value)\": \(loss.reason)")
        }
        if view.losses.isEmpty, !view.rows.isEmpty { add("loss", "none") }
    }

    private static func line(of container: ContainerReport) -> String {
        let others = container.candidates.filter { $0 != container.container }.map(String.init).joined(separator: ", ")
        guard let number = container.container else {
            return "\(container.category): nothing is shown (\(container.rule)); held by \(others)"
        }
        let rule = container.member.map { "\(container.rule): member \"\($0)\"" } ?? container.rule
        return "\(container.category): container \(number) (\(rule))" + (others.isEmpty ? "" : "; also in \(others)")
    }

    private func line(of instance: InstanceReport) -> String {
        var parts = ["instance \(instance.instance)", "version \(instance.version)"]
        if let availability = instance.availability { parts.append("availability \(availability)") }
        parts.append(instance.isComputed ? "computed \(time.ago(instance.publishTime))" : "published \(time.ago(instance.publishTime))")
        if let endpoint = instance.endpoint { parts.append("by endpoint \(endpoint)") }
        if let deadline = instance.deadline { parts.append("ends \(time.ahead(deadline))") }
        return parts.joined(separator: ", ")
    }

    // MARK: the two ends

    private mutating func describe(_ upstream: UpstreamReport) {
        let shape = upstream.resources > 1 ? "\(upstream.shape) of \(upstream.resources)" : upstream.shape
        add(
            "upstream",
            "\(upstream.state.rawValue), \(upstream.format), \(shape), to \(upstream.target) by \(upstream.route) (\(upstream.side))")
        var moments: [String] = []
        if let refreshesAt = upstream.refreshesAt { moments.append("refreshes \(time.ahead(refreshesAt))") }
        if let lapsesAt = upstream.lapsesAt { moments.append("lapses \(time.ahead(lapsesAt))") }
        if let retriesAt = upstream.retriesAt { moments.append("is retried \(time.ahead(retriesAt))") }
        if upstream.failures > 0 { moments.append("lost \(upstream.failures) time\(upstream.failures == 1 ? "" : "s") in a row") }
        if let staleAt = upstream.staleAt { moments.append("its last state ends \(time.ahead(staleAt))") }
        if !moments.isEmpty { add("upstream", moments.joined(separator: ", ")) }
        add("upstream", "Call-ID \(upstream.callID), tags \(upstream.localTag) (ours) and \(upstream.remoteTag ?? "none yet")")
        if upstream.hopMarks.count > 1 { add("upstream", "passed on by \(upstream.hopMarks.count) gateways, this one last") }
    }

    private mutating func describe(_ home: HomeReport) {
        var parts = ["\(home.watchers) watcher\(home.watchers == 1 ? "" : "s")"]
        parts.append("\(home.published.count) published categor\(home.published.count == 1 ? "y" : "ies")")
        parts.append("\(home.documents.count) PIDF document\(home.documents.count == 1 ? "" : "s")")
        if !home.endpoints.isEmpty { parts.append("\(home.endpoints.count) registered") }
        add("home", parts.joined(separator: ", ") + (home.latest.map { "; \($0) published last" } ?? ""))
        for document in home.documents {
            add("home", "PIDF published \(time.ago(document.arrived)), ends \(time.ahead(document.until))")
        }
        for instance in home.aggregationInputs {
            add("home", "aggregated: \(instance.category) in container \(instance.container), " + line(of: instance))
        }
    }

    /// One line for a journal entry.
    package static func line(of entry: JournalEntry, at now: DateTime) -> String {
        let event: String
        switch entry.event {
        case .refused: event = "\(entry.method ?? "request") refused"
        case .ended: event = "subscription ended"
        case .lost: event = "upstream subscription lost"
        case .farEnded: event = "upstream subscription ended"
        case .redirected: event = "remote domain redirected"
        case .rejected: event = "resource rejected"
        case .flawed: event = "notified document has flaws"
        case .unreadable: event = "notified document cannot be read"
        }
        let status = entry.status.map { " (\($0))" } ?? ""
        return "\(RelativeTime(now: now).ago(entry.at)), \(event)\(status): \(entry.rule); Call-ID \(entry.callID)"
    }
}

extension ContainerReport {
    /// Whether the category is not published at all.
    fileprivate var isUnpublished: Bool { container == nil && candidates.isEmpty }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
