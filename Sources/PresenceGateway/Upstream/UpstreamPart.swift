/// A part of the upstream flow with a concern of its own; the flow owns it.
protocol UpstreamPart: ShardMember {
    /// The flow, which outlives its parts.
    var flow: UpstreamFlow { get }
}

extension UpstreamPart {
    var kernel: GatewayKernel { flow.kernel }
    var context: ShardContext { flow.context }
    var ports: any UpstreamPorts { flow.ports }
    var upstreams: Upstream { flow.upstreams }
}
