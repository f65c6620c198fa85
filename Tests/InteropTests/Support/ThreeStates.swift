import Testing

extension RealSockets {
    /// An enterprise watcher sees open, busy and closed of a presentity at a SIMPLE server, with a refresh in between.
    /// - Returns: The watcher, after its end.
    @discardableResult
    static func followThreeStates(of publisher: SIPpPublisher, at gateway: IsthmusProgram, in scratch: ScratchDirectory) async throws
        -> SIPp
    {
        try await publisher.publish(.open)
        let watcher = try SIPp(
            "category-watcher", name: "watcher", to: gateway.port, transport: "udp",
            keys: ["presentity": publisher.presentity, "watcher": "sip:bob@contoso.com"], in: scratch)
        #expect(await watcher.reaches("available"), "\(watcher.account)\n\(gateway.log)")
        try await publisher.publish(.busy)
        #expect(await watcher.reaches("busy"), "\(watcher.account)\n\(gateway.log)")
        #expect(await watcher.reaches("refreshed"), "\(watcher.account)")
        try await publisher.publish(.closed)
        #expect(await watcher.reaches("offline"), "\(watcher.account)\n\(gateway.log)")
        #expect(await watcher.succeeds(), "\(watcher.account)\n\(gateway.log)")
        return watcher
    }
}
