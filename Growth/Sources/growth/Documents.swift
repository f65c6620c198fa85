import GoldenVectors
import PresenceDocuments
import PresenceMapping
import XMLCore

/// Document with a list: text before it, one entry, text after it.
private struct Listing {
    var name: String
    var format: String
    var before: String
    var entry: (Int) -> String
    var after: String
    var smallest: Int

    init(_ format: String, _ name: String, from smallest: Int = 250, _ before: String, _ after: String, entry: @escaping (Int) -> String) {
        self.name = name
        self.format = format
        self.before = before
        self.entry = entry
        self.after = after
        self.smallest = smallest
    }

    func bytes(_ size: Int) -> [UInt8] {
        var text = before
        for number in 0..<size { text += entry(number) }
        text += after
        return Array(text.utf8)
    }
}

private let presence =
    "<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:dm=\"urn:ietf:params:xml:ns:pidf:data-model\" "
    + "xmlns:r=\"urn:ietf:params:xml:ns:pidf:rpid\" xmlns:ts=\"urn:ietf:params:xml:ns:pidf:timed-status\" "
    + "xmlns:caps=\"urn:ietf:params:xml:ns:pidf:caps\" xmlns:lt=\"urn:ietf:params:xml:ns:location-type\" "
    + "xmlns:e=\"urn:example:extension\" entity=\"sip:kai@example.com\">"
private let person = presence + "<dm:person id=\"p\">"
private let personEnd = "</dm:person></presence>"
private let tuple = presence + "<tuple id=\"t\"><status><basic>open</basic>"
private let tupleEnd = "</tuple></presence>"
private let categories = "<categories xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\" uri=\"sip:bob@contoso.com\">"
private let published = "publishTime=\"2026-03-02T08:15:30.117\""
private let noteOpen = "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\">"
private let stateOpen =
    "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
    + "xsi:type=\"aggregateState\"><availability>3500</availability>"
private let cardOpen = "<contactCard xmlns=\"http://schemas.microsoft.com/2006/09/sip/contactcard\">"
private let servicesOpen = "<services xmlns=\"http://schemas.microsoft.com/2006/09/sip/service\">"
private let presentity =
    "<presentity xmlns=\"http://schemas.microsoft.com/2002/09/sip/presence\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
    + "uri=\"bob@contoso.com\"><availability aggregate=\"300\"/><activity aggregate=\"600\"/>"
private let roaming = "<roamingData xmlns=\"http://schemas.microsoft.com/2006/09/sip/roaming-self\">"
private let containers = "<containers xmlns=\"http://schemas.microsoft.com/2006/09/sip/containers\">"
private let subscribers = "<subscribers xmlns=\"http://schemas.microsoft.com/2006/09/sip/presence-subscribers\">"
private let delegates = "<delegates xmlns=\"http://schemas.microsoft.com/2007/09/sip/delegates\" version=\"1\">"
private let batch = "<batchSub xmlns=\"http://schemas.microsoft.com/2006/01/sip/batch-subscribe\" uri=\"sip:alice@fabrikam.com\" name=\"\">"
private let categoryList = "<categoryList xmlns=\"http://schemas.microsoft.com/2006/09/sip/categorylist\">"
private let envelope =
    "<S:Envelope xmlns:S=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns:m=\"http://schemas.microsoft.com/winrtc/2002/11/sip\"><S:Body>"
private let envelopeEnd = "</S:Body></S:Envelope>"
private let rlmi = "<list xmlns=\"urn:ietf:params:xml:ns:rlmi\" uri=\"sip:team@example.com\" version=\"0\" fullState=\"true\">"
private let lists = "<resource-lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\">"

private let listings: [Listing] = [
    // RFC 3863, 4479, 4480, 4481, 5196
    Listing("pidf", "tuples", presence, "</presence>") {
        "<tuple id=\"t\($0)\"><status><basic>open</basic></status><contact>sip:kai\($0)@example.com</contact></tuple>"
    },
    Listing("pidf", "tuples of one id", presence, "</presence>") { _ in "<tuple id=\"t\"><status/></tuple>" },
    Listing("pidf", "notes", presence, "</presence>") { "<note xml:lang=\"en\">note \($0)</note>" },
    Listing("pidf", "notes of one text", presence, "</presence>") { _ in "<note>note</note>" },
    Listing("pidf", "notes of a tuple", tuple + "</status>", tupleEnd) { "<note>note \($0)</note>" },
    Listing("pidf", "extensions", presence, "</presence>") { "<e:x n=\"\($0)\">\($0)</e:x>" },
    Listing("pidf", "extensions of a status", tuple, "</status>" + tupleEnd) { "<e:x n=\"\($0)\"/>" },
    Listing("pidf", "extensions of a tuple", tuple + "</status>", tupleEnd) { "<e:x n=\"\($0)\"/>" },
    Listing("pidf", "elements in an extension", presence + "<e:x>", "</e:x></presence>") { "<e:y n=\"\($0)\">\($0)</e:y>" },
    Listing("pidf", "timed statuses", tuple + "</status>", tupleEnd) {
        "<ts:timed-status from=\"2026-05-04T10:00:\($0 % 50 + 10)Z\"><ts:basic>closed</ts:basic></ts:timed-status>"
    },
    Listing("pidf", "persons", presence, "</presence>") { "<dm:person id=\"p\($0)\"><r:activities><r:busy/></r:activities></dm:person>" },
    Listing("pidf", "devices", presence, "</presence>") { "<dm:device id=\"d\($0)\"><dm:deviceID>urn:x:\($0)</dm:deviceID></dm:device>" },
    Listing("pidf", "activities", person + "<r:activities>", "</r:activities>" + personEnd) { "<r:other>activity \($0)</r:other>" },
    Listing("pidf", "activities elements", person, personEnd) { "<r:activities id=\"a\($0)\"><r:busy/></r:activities>" },
    Listing("pidf", "moods", person + "<r:mood>", "</r:mood>" + personEnd) { "<r:other>mood \($0)</r:other>" },
    Listing("pidf", "place types", person + "<r:place-type>", "</r:place-type>" + personEnd) { "<r:other>place \($0)</r:other>" },
    Listing("pidf", "notes of a person", person, personEnd) { "<dm:note>note \($0)</dm:note>" },
    Listing("pidf", "extensions of a person", person, personEnd) { "<e:x n=\"\($0)\"/>" },
    Listing("pidf", "notes of an activity", person + "<r:activities>", "<r:busy/></r:activities>" + personEnd) { "<r:note>\($0)</r:note>" },
    Listing("pidf", "capabilities", tuple + "</status><caps:servcaps>", "</caps:servcaps>" + tupleEnd) {
        "<caps:type>application/x\($0)</caps:type>"
    },
    Listing(
        "pidf", "languages", tuple + "</status><caps:servcaps><caps:languages><caps:supported>",
        "</caps:supported></caps:languages></caps:servcaps>" + tupleEnd
    ) { "<caps:l>l\($0)</caps:l>" },
    Listing("xpidf", "atoms", "<presence><presentity uri=\"sip:hana@example.org\"/>", "</presence>") {
        "<atom id=\"\($0)\"><address uri=\"sip:h\($0)@example.net\"><status status=\"open\"/></address></atom>"
    },
    Listing("xpidf", "addresses", "<presence><presentity uri=\"sip:hana@example.org\"/><atom id=\"1\">", "</atom></presence>") {
        "<address uri=\"sip:h\($0)@example.net\"><status status=\"open\"/></address>"
    },
    // RFC 4662, 4826
    Listing("rlmi", "resources", rlmi, "</list>") {
        "<resource uri=\"sip:u\($0)@example.com\"><instance id=\"1\" state=\"active\"/></resource>"
    },
    Listing("rlmi", "instances", rlmi + "<resource uri=\"sip:u@example.com\">", "</resource></list>") {
        "<instance id=\"\($0)\" state=\"active\" cid=\"c\($0)\"/>"
    },
    Listing("rlmi", "names", rlmi, "</list>") { "<name xml:lang=\"en\">name \($0)</name>" },
    Listing("resource-lists", "lists", lists, "</resource-lists>") {
        "<list name=\"l\($0)\"><entry uri=\"sip:u\($0)@example.com\"/></list>"
    },
    Listing("resource-lists", "entries", lists + "<list>", "</list></resource-lists>") { "<entry uri=\"sip:u\($0)@example.com\"/>" },
    Listing("resource-lists", "entries of one URI", lists + "<list>", "</list></resource-lists>") { _ in
        "<entry uri=\"sip:u@example.com\"/>"
    },
    Listing("resource-lists", "lists in a list", lists + "<list>", "</list></resource-lists>") { "<list name=\"l\($0)\"/>" },
    // MS-PRES
    Listing("categories", "categories", from: 100, categories, "</categories>") {
        "<category name=\"note\" instance=\"\($0)\" \(published)>\(noteOpen)<body type=\"personal\">\($0)</body></note></category>"
    },
    Listing("categories", "categories of unknown names", categories, "</categories>") {
        "<category name=\"n\($0)\" instance=\"\($0)\" \(published)><x xmlns=\"urn:example:x\" n=\"\($0)\"/></category>"
    },
    Listing("note", "bodies", noteOpen, "</note>") { "<body type=\"personal\">note \($0)</body>" },
    Listing("state", "activities", stateOpen, "</state>") {
        "<activity token=\"t\($0)\" minAvailability=\"0\" maxAvailability=\"unbounded\"/>"
    },
    Listing("state", "custom texts", stateOpen + "<activity>", "</activity></state>") {
        "<custom LCID=\"\($0 + 1_000)\">text \($0)</custom>"
    },
    Listing("state", "extensions", stateOpen, "</state>") { "<x xmlns=\"urn:example:x\" n=\"\($0)\"/>" },
    Listing("contact-card", "phones", cardOpen, "</contactCard>") { "<phone type=\"custom1\"><uri>tel:+1555\($0)</uri></phone>" },
    Listing("contact-card", "addresses", cardOpen, "</contactCard>") {
        "<address type=\"work\"><street>\($0) Main Street</street></address>"
    },
    Listing("contact-card", "URLs", cardOpen, "</contactCard>") { "<url type=\"sharepoint\">https://people.contoso.com/\($0)</url>" },
    Listing("contact-card", "titles", cardOpen, "</contactCard>") { "<title LCID=\"\($0 + 1_000)\">title \($0)</title>" },
    Listing("contact-card", "emails", cardOpen + "<identity>", "</identity></contactCard>") { "<email>bob\($0)@contoso.com</email>" },
    Listing("services", "services", servicesOpen, "</services>") {
        "<service uri=\"sip:bob\($0)@contoso.com\"><capabilities preferred=\"false\" uri=\"sip:bob@contoso.com\"/></service>"
    },
    Listing(
        "services", "capabilities",
        servicesOpen + "<service uri=\"sip:bob@contoso.com\"><capabilities preferred=\"false\" uri=\"sip:bob@contoso.com\">",
        "</capabilities></service></services>"
    ) { "<c\($0) capture=\"true\" render=\"true\" publish=\"false\"/>" },
    Listing("msrtc", "devices", presentity + "<devices>", "</devices></presentity>") {
        "<devicePresence epid=\"e\($0)\"><availability aggregate=\"300\"/><activity aggregate=\"600\"/></devicePresence>"
    },
    Listing(
        "msrtc", "device data", presentity + "<devices><devicePresence epid=\"e\"><availability aggregate=\"300\"/>",
        "</devicePresence></devices></presentity>"
    ) { "<devicedata namespace=\"n\($0)\">x</devicedata>" },
    Listing("msrtc", "states", presentity + "<aggregate><states>", "</states></aggregate></presentity>") {
        "<state avail=\"\($0)\" xsi:type=\"userState\">busy</state>"
    },
    Listing("msrtc", "phone numbers", presentity, "</presentity>") { "<phoneNumber label=\"work\" number=\"+1555\($0)\"/>" },
    Listing("msrtc", "user information", presentity + "<userInfo>", "</userInfo></presentity>") { "<note>note \($0)</note>" },
    Listing(
        "category-publish", "publications", from: 100,
        "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"sip:bob@contoso.com\">",
        "</publications></publish>"
    ) {
        "<publication categoryName=\"note\" instance=\"\($0)\" container=\"200\" version=\"0\" expireType=\"static\">\(noteOpen)</note></publication>"
    },
    Listing("fault", "operations", "<Fault><Faultcode>Client.BadCall.WrongDelta</Faultcode><details>", "</details></Fault>") {
        "<operation index=\"\($0)\" version=\"1\" curVersion=\"4\"/>"
    },
    Listing(
        "batch-subscribe", "resources", from: 25, batch + "<action name=\"subscribe\" id=\"1\"><adhocList>",
        "</adhocList>" + categoryList + "<category name=\"state\"/></categoryList></action></batchSub>"
    ) {
        "<resource uri=\"sip:u\($0)@contoso.com\"/>"
    },
    Listing(
        "batch-subscribe", "categories", from: 4,
        batch + "<action name=\"subscribe\" id=\"1\"><adhocList><resource uri=\"sip:u@contoso.com\"/></adhocList>"
            + categoryList, "</categoryList></action></batchSub>"
    ) { "<category name=\"c\($0)\"/>" },
    Listing("batch-subscribe", "actions", from: 2, batch, "</batchSub>") {
        "<action name=\"subscribe\" id=\"\($0)\"><adhocList><resource uri=\"sip:u\($0)@contoso.com\"/></adhocList>\(categoryList)<category name=\"state\"/></categoryList></action>"
    },
    Listing(
        "set-container-members", "members", from: 100,
        "<setContainerMembers xmlns=\"http://schemas.microsoft.com/2006/09/sip/container-management\"><container id=\"300\" version=\"2\">",
        "</container></setContainerMembers>"
    ) { "<member action=\"add\" type=\"user\" value=\"u\($0)@fabrikam.com\"/>" },
    Listing(
        "set-container-members", "containers", from: 25,
        "<setContainerMembers xmlns=\"http://schemas.microsoft.com/2006/09/sip/container-management\">", "</setContainerMembers>"
    ) {
        "<container id=\"\($0 + 100)\" version=\"2\"><member action=\"add\" type=\"everyone\"/></container>"
    },
    Listing("roaming-data", "categories", from: 100, roaming + categories, "</categories></roamingData>") {
        "<category name=\"note\" instance=\"\($0)\" \(published) container=\"200\" version=\"3\" expireType=\"static\">\(noteOpen)</note></category>"
    },
    Listing("containers", "containers", containers, "</containers>") {
        "<container id=\"\($0)\" version=\"1\"><member type=\"everyone\"/></container>"
    },
    Listing("containers", "members", containers + "<container id=\"300\" version=\"1\">", "</container></containers>") {
        "<member type=\"user\" value=\"u\($0)@fabrikam.com\"/>"
    },
    Listing("subscribers", "subscribers", subscribers, "</subscribers>") {
        "<subscriber user=\"u\($0)@fabrikam.com\" displayName=\"U \($0)\" acknowledged=\"false\" type=\"federated\"/>"
    },
    Listing("delegates", "delegates", delegates, "</delegates>") {
        "<delegate uri=\"u\($0)@contoso.com\" publish=\"true\" redelegate=\"false\"/>"
    },
    Listing(
        "user-properties", "lines", "<userProperties xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\"><lines>",
        "</lines></userProperties>"
    ) { "<line lineType=\"Uc\">tel:+1555\($0)</line>" },
    // MS-SIP
    Listing("contact-list", "contacts", "<contactList deltaNum=\"1\">", "</contactList>") {
        "<contact uri=\"u\($0)@contoso.com\" name=\"U \($0)\" groups=\"1 2\" subscribed=\"true\" externalURI=\"\"/>"
    },
    Listing("contact-list", "groups", from: 8, "<contactList deltaNum=\"1\">", "</contactList>") {
        "<group id=\"\($0 + 1)\" name=\"G \($0)\" externalURI=\"\"/>"
    },
    Listing(
        "contact-list", "groups of a contact", from: 8, "<contactList deltaNum=\"1\"><contact uri=\"u@contoso.com\" name=\"U\" groups=\"",
        "\" subscribed=\"true\" externalURI=\"\"/></contactList>"
    ) { "\($0 + 1) " },
    Listing(
        "contact-operation", "groups", from: 8, envelope + "<m:setContact><m:displayName>U</m:displayName><m:groups>",
        "</m:groups><m:subscribed>true</m:subscribed><m:URI>sip:u@contoso.com</m:URI><m:deltaNum>1</m:deltaNum></m:setContact>"
            + envelopeEnd
    ) {
        "\($0 + 1) "
    },
    Listing(
        "contact-operation", "elements of the extension",
        envelope + "<m:setContact><m:displayName>U</m:displayName><m:subscribed>true</m:subscribed><m:URI>sip:u@contoso.com</m:URI>"
            + "<m:deltaNum>1</m:deltaNum><contactExtension>", "</contactExtension></m:setContact>" + envelopeEnd
    ) { "<x n=\"\($0)\"/>" },
    Listing("access-control-list", "entries", "<ACLlist deltaNum=\"3\"><userACL>", "</userACL></ACLlist>") {
        "<ace type=\"USER\" mask=\"u\($0)@fabrikam.com\" rights=\"BD\"/>"
    },
    Listing(
        "directory-search-request", "conditions",
        envelope + "<m:directorySearch><m:filter m:href=\"#a\"/><m:maxResults>50</m:maxResults></m:directorySearch><m:Array m:id=\"a\">",
        "</m:Array>" + envelopeEnd
    ) { "<m:row m:attrib=\"givenName\" m:value=\"a\($0)\"/>" },
    Listing(
        "directory-search-response", "rows", from: 100,
        envelope
            + "<m:directorySearch><m:moreAvailable>false</m:moreAvailable><m:returned>1</m:returned><m:value m:href=\"#a\"/></m:directorySearch>"
            + "<m:Array m:id=\"a\">", "</m:Array>" + envelopeEnd
    ) {
        "<m:row m:uri=\"sip:u\($0)@contoso.com\" m:displayName=\"\" m:title=\"\" m:office=\"\" m:phone=\"\" m:company=\"\" m:city=\"\" m:state=\"\" "
            + "m:country=\"\" m:email=\"\"/>"
    },
    Listing(
        "provisioning-group-list", "groups",
        "<provisioningGroupList xmlns=\"http://schemas.microsoft.com/2006/09/sip/provisioninggrouplist\">",
        "</provisioningGroupList>"
    ) { "<provisioningGroup name=\"g\($0)\"/>" },
    Listing(
        "provision-group-list", "groups",
        "<provisionGroupList xmlns=\"http://schemas.microsoft.com/2006/09/sip/provisiongrouplist-notification\">",
        "</provisionGroupList>"
    ) { "<provisionGroup name=\"g\($0)\"/>" },
]

extension Construct {
    /// Reads and writes every list; presence lists are also converted to every format.
    static let documents: [Construct] = listings.flatMap { listing in
        var constructs = [
            Construct("\(listing.format): \(listing.name)", from: listing.smallest) { size in
                let bytes = listing.bytes(size)
                return { DocumentFormats.codecs[listing.format].flatMap { try? $0(bytes) } != nil }
            }
        ]
        if let source = PresenceFormat(named: listing.format) {
            let converter = Converter()
            constructs.append(
                Construct("\(listing.format) converted: \(listing.name)", from: listing.smallest) { size in
                    let bytes = listing.bytes(size)
                    return {
                        PresenceFormat.all.allSatisfy {
                            (try? converter.convert(bytes, from: source, to: $0, options: ConversionOptions(lossless: true))) != nil
                        }
                    }
                })
        }
        return constructs
    }
}
