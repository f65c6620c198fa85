import SIPCore
import ScriptedPeers

/// Sends documents that violate their standard.
extension SimulatedWorld {
    /// Makes a server add or stop adding invalid elements, or send some unreadable documents.
    func flawDocuments(of server: ScriptedNotifier) {
        if random.chance(0.5) {
            server.manners.writesOddPieces.toggle()
            network.remark("\(server.name) \(server.manners.writesOddPieces ? "writes odd pieces" : "writes as it should")")
        } else {
            server.manners.unreadableDocuments = Int.random(in: 1...4, using: &random)
            network.remark("\(server.name) writes \(server.manners.unreadableDocuments) documents that cannot be read")
        }
    }

    /// Changes all presentities outside the gateway while each server sends one unreadable document, and checks that every watcher sees the
    /// current presence within 60 s; all peers are up.
    func judgeFlaws() throws {
        for server in servers.all {
            server.manners.writesOddPieces = random.chance(0.5)
            server.manners.unreadableDocuments = 1
        }
        network.remark("a document of each server cannot be read")
        for presentity in users.presentities where !presentity.isPublishing && presentity.number > 0 {
            presentity.change(to: SimulatedMood.allCases.randomElement(using: &random) ?? .busy, at: network.now)
        }
        try live(for: .seconds(60))
        for server in servers.all { server.manners.unreadableDocuments = 0 }
        let wrong = users.followers.flatMap { $0.complaints + $0.shortcomings } + faults
        if !wrong.isEmpty { throw SimulationFailure("60 s after documents that cannot be read: " + wrong.joined(separator: "\n")) }
    }
}
