/// Answers to the upstream subscriptions; the requirements that are missing here are methods of the flows.
extension Gateway: UpstreamPorts {
    var badEvent: Refusal { packages.badEvent }
}
