import PresenceGateway

extension RelayedReport {
    /// Sentences about a relayed publication: local instances, and those at the home server.
    package func lines(by time: RelativeTime) -> [String] {
        var lines = ["by \(method) to \(nextHop ?? "nobody: the domain takes no publications over this node any more")"]
        switch standing {
        case .current: lines.append("the home has what is published here")
        case .asking: lines.append("the home was asked and has not answered yet")
        case .waiting: lines.append("the home does not have what is published here; it refused, did not answer or wished a pause")
        }
        if waiting > 0 { lines.append("\(waiting) request\(waiting == 1 ? "" : "s") of clients wait\(waiting == 1 ? "s" : "") for it") }
        if let nextAt { lines.append("refreshed, tried again or ended \(time.ahead(nextAt))") }
        for instance in published {
            let end = instance.deadline.map { "ends \(time.ahead($0))" } ?? "lasts as \(instance.expireType) says"
            lines.append(
                "\(instance.category) in container \(instance.container), instance \(instance.instance), "
                    + "version \(instance.version), \(end)")
        }
        for until in documents { lines.append("PIDF, ends \(time.ahead(until))") }
        if let lapsesAt { lines.append("there: one publication, lapses \(time.ahead(lapsesAt))") }
        for instance in instances {
            lines.append(
                "there: \(instance.category) in container \(instance.container), instance \(instance.instance), "
                    + "version \(instance.version), ends \(time.ahead(instance.until))"
                    + (instance.isUncertain ? "; whether it arrived is not known" : ""))
        }
        return lines
    }
}
