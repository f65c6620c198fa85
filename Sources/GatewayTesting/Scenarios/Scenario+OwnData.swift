import PresenceGateway
import SIPCore
import ScriptedPeers

extension Scenario {
    private static let own = "vnd-microsoft-roaming-self"
    private static let contacts = "vnd-microsoft-roaming-contacts"

    /// Data that users of hosted domains keep besides their presence.
    package static let ownDataScenarios: [Scenario] = [
        Scenario(
            "home: a new watcher is shown at every endpoint until one acknowledges him, MS-PRES 4.8 [R201, R206, R209]", bearsLoss: true
        ) { conversation in
            let desk = try await conversation.enhancedClient(epid: "84d3db8c23")
            let phone = try await conversation.enhancedClient(epid: "3b09add8bc")
            let watcher = try await conversation.enhancedWatcher(of: Conversation.dave)
            watcher.context = ""
            try await conversation.act { now in
                for endpoint in [desk, phone] { endpoint.signIn(at: now) }
            }
            try await conversation.expect("both signed in") { desk.followsSelf && phone.followsSelf }
            try await conversation.expect("nobody watches") {
                [desk, phone].allSatisfy {
                    $0.latest(own)?.contains("<subscribers") == true && $0.latest(own)?.contains("<subscriber ") == false
                }
            }
            try await conversation.act { now in watcher.subscribe(at: now) }
            try await conversation.expect("both see the watcher") {
                [desk, phone].allSatisfy { $0.latest(own)?.contains("user=\"erin@fabrikam.com\"") == true }
            }
            try await conversation.act { now in
                phone.service(
                    "application/msrtc-presence-setsubscriber+xml",
                    "<setSubscribers xmlns=\"http://schemas.microsoft.com/2006/09/sip/presence-subscribers\">"
                        + "<subscriber user=\"erin@fabrikam.com\" acknowledged=\"true\"/></setSubscribers>", at: now)
            }
            try await conversation.expect("acknowledged everywhere") {
                phone.lastAnswer?.status == .ok && [desk, phone].allSatisfy { $0.latest(own)?.contains("<subscriber ") == false }
            }
            try await conversation.act { now in
                watcher.unsubscribe(at: now)
                for endpoint in [desk, phone] { endpoint.signOut(at: now) }
            }
            try await conversation.expect("both signed out") { desk.phase == .out && phone.phase == .out }
        },
        Scenario("home: a contact that one endpoint adds is seen by the other, a stale change is refused (MS-SIP 3.7)") { conversation in
            let desk = try await conversation.enhancedClient(epid: "84d3db8c23")
            let phone = try await conversation.enhancedClient(epid: "3b09add8bc")
            try await conversation.act { now in
                for endpoint in [desk, phone] { endpoint.signIn(at: now) }
            }
            try await conversation.expect("both signed in") { desk.followsSelf && phone.followsSelf }
            try await conversation.act { now in
                for endpoint in [desk, phone] { endpoint.follow(contacts, at: now) }
            }
            try await conversation.expect("an empty list with its group") {
                [desk, phone].allSatisfy { $0.latest(contacts)?.contains("<contactList deltaNum=\"1\"><group id=\"1\" name=\"~\"") == true }
            }
            try await conversation.act { now in
                desk.operate("addGroup", "<m:name>Team</m:name><m:externalURI/><m:deltaNum>1</m:deltaNum>", at: now)
            }
            try await conversation.expect("the group has a number") { desk.lastBody.contains("<m:groupID>2</m:groupID>") }
            try await conversation.expect("the group is told") {
                [desk, phone].allSatisfy { $0.latest(contacts)?.contains("<addedGroup id=\"2\" name=\"Team\"") == true }
            }
            try await conversation.act { now in
                phone.operate(
                    "setContact",
                    "<m:displayName>Bob</m:displayName><m:groups>2</m:groups><m:subscribed>true</m:subscribed><m:URI>sip:bob@contoso.com</m:URI><m:externalURI/><m:deltaNum>2</m:deltaNum>",
                    at: now)
            }
            try await conversation.expect("the contact is told") {
                [desk, phone].allSatisfy { $0.latest(contacts)?.contains("<addedContact uri=\"sip:bob@contoso.com\"") == true }
            }
            try await conversation.act { now in
                desk.operate("deleteContact", "<m:URI>sip:bob@contoso.com</m:URI><m:deltaNum>2</m:deltaNum>", at: now)
            }
            try await conversation.expect("a stale change is refused with a fault") {
                desk.lastAnswer?.status == .conflict && desk.lastBody.contains("WrongDelta")
            }
            try await conversation.act { now in
                for endpoint in [desk, phone] { endpoint.signOut(at: now) }
            }
            try await conversation.expect("both signed out") { desk.phase == .out && phone.phase == .out }
            try await conversation.expect("the dialogs are over") { conversation.gateway.counts.homeDialogs == 0 }
        },
    ]
}
