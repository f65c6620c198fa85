import PresenceDocuments
import XMLCore

/// Documents with the structure of MS-PRES and sample values.
enum MSRTCSamples {
    static let aggregateState = """
        <state xmlns="http://schemas.microsoft.com/2006/09/sip/state" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
            xsi:type="aggregateState" lastActive="2026-03-02T08:15:30" manual="false">
          <availability>8400</availability>
          <activity token="in-a-meeting" minAvailability="6500" maxAvailability="8999"/>
          <activity minAvailability="0" maxAvailability="unbounded"><custom LCID="1031">Im Labor</custom><custom LCID="1033">In the lab</custom></activity>
          <endpointLocation>office</endpointLocation>
          <meetingSubject LCID="1033">Budget &amp; plans</meetingSubject>
          <meetingLocation>Room 7</meetingLocation>
          <delimiter xmlns="http://schemas.microsoft.com/2006/09/sip/commontypes"/>
          <timeZoneBias>-60</timeZoneBias>
          <timeZoneName>W. Europe Standard Time</timeZoneName>
          <timeZoneAbbreviation>CET</timeZoneAbbreviation>
          <device>computer</device>
          <end xmlns="http://schemas.microsoft.com/2006/09/sip/commontypes"/>
        </state>
        """

    static let note = """
        <note xmlns="http://schemas.microsoft.com/2006/09/sip/note"><body type="personal" uri="">In the lab until four</body>\
        <body type="OOF" startTime="2026-03-02T00:00:00Z" endTime="2026-03-06T00:00:00Z">Away this week</body></note>
        """

    static let contactCard = """
        <contactCard xmlns="http://schemas.microsoft.com/2006/09/sip/contactcard" isUCEnabled="true">
          <identity><name><displayName LCID="1033">Bob Baker</displayName></name><email>bob@contoso.com</email></identity>
          <address type="work"><street>1 Main Street</street><city>Springfield</city><state>Oregon</state><zipcode>97477</zipcode><countryCode>US</countryCode></address>
          <company>Contoso</company><department>Research</department><title>Engineer</title><office>7/110</office>
          <url type="sharepoint">https://people.contoso.com/bob</url>
          <phone type="work"><uri updated="2026-01-05T10:00:00Z">tel:+15550100</uri><displayString>+1 (555) 0100</displayString></phone>
          <phone type="mobile"><uri>tel:+15550101</uri></phone>
          <automaton>false</automaton>
          <delimiter xmlns="http://schemas.microsoft.com/2006/09/sip/commontypes"/>
          <type>person</type><description>Keeps the lab running</description>
          <delimiter xmlns="http://schemas.microsoft.com/2006/09/sip/commontypes"/>
          <displayADPhoto>false</displayADPhoto>
          <photo type="other"><uri>https://people.contoso.com/bob.jpg</uri><hash>0a1b2c</hash></photo>
          <end xmlns="http://schemas.microsoft.com/2006/09/sip/commontypes"/>
        </contactCard>
        """

    static let services = """
        <services xmlns="http://schemas.microsoft.com/2006/09/sip/service"><service uri="sip:bob@contoso.com">
          <capabilities preferred="false" uri="sip:bob@contoso.com">
            <text capture="true" render="true" publish="false" deviceAvailability="3500"> </text>
            <voice capture="true" render="true" publish="false" deviceAvailability="3500"/>
            <holograms capture="true" render="false" publish="false"/>
          </capabilities></service></services>
        """

    static let device = """
        <device xmlns="http://schemas.microsoft.com/2006/09/sip/device" endpointId="6B29FC40-CA47-1067-B31D-00DD010662DA">
          <capabilities preferred="false" uri="sip:bob@contoso.com"><text capture="true" render="true" publish="false"/></capabilities>
          <timezone>00:00:00-08:00:00</timezone><machineName>BOB-LAB</machineName></device>
        """

    static let freeBusy = """
        <calendarData xmlns="http://schemas.microsoft.com/2006/09/sip/calendarData" mailboxID="bob@contoso.com">\
        <freeBusy startTime="2026-03-02T00:00:00Z" granularity="PT15M" encodingVersion="1">AKhW/QM=</freeBusy></calendarData>
        """

    static let workingHours = """
        <calendarData xmlns="http://schemas.microsoft.com/2006/09/sip/calendarData" mailboxID="bob@contoso.com">
          <WorkingHours xmlns="http://schemas.microsoft.com/exchange/services/2006/types"><TimeZone><Bias>-60</Bias>
            <StandardTime><Bias>0</Bias><Time>03:00:00</Time><DayOrder>5</DayOrder><Month>10</Month><DayOfWeek>Sunday</DayOfWeek></StandardTime>
            <DaylightTime><Bias>-60</Bias><Time>02:00:00</Time><DayOrder>5</DayOrder><Month>3</Month><DayOfWeek>Sunday</DayOfWeek></DaylightTime>
          </TimeZone><WorkingPeriodArray><WorkingPeriod><DayOfWeek>Monday Tuesday Friday</DayOfWeek>
            <StartTimeInMinutes>480</StartTimeInMinutes><EndTimeInMinutes>1020</EndTimeInMinutes></WorkingPeriod></WorkingPeriodArray>
          </WorkingHours></calendarData>
        """

    static let legacyInterop = """
        <legacyInterop xmlns="http://schemas.microsoft.com/2006/09/sip/categories" availability="6500" token="on-the-phone" dndState="false"/>
        """

    static let categories = """
        <categories xmlns="http://schemas.microsoft.com/2006/09/sip/categories" uri="sip:bob@contoso.com">
          <category name="state" instance="1" publishTime="2026-03-02T08:15:30.117">\(aggregateState)</category>
          <category name="note" instance="0" publishTime="2026-03-02T08:15:31.003">\(note)</category>
          <category name="contactCard" instance="0" publishTime="2026-03-01T12:00:00.000">\(contactCard)</category>
          <category name="services" instance="0" publishTime="2026-03-02T08:15:30.117">\(services)</category>
          <category name="calendarData" instance="0" publishTime="2026-03-02T08:15:30.117">\(freeBusy)</category>
          <category name="legacyInterop" instance="1" publishTime="2026-03-02T08:15:30.117"><legacyInterop availability="8400"/></category>
          <category name="weather" instance="4" publishTime="2026-03-02T08:15:30.117"><w:sky  xmlns:w='urn:example:weather' w:kind = "clear"><!-- sunny --> &#x41;</w:sky></category>
          <category name="routing"/>
        </categories>
        """

    static let publish = """
        <publish xmlns="http://schemas.microsoft.com/2006/09/sip/rich-presence"><publications uri="sip:bob@contoso.com">
          <publication categoryName="note" instance="0" container="200" version="0" expireType="static">\(note)</publication>
          <publication categoryName="state" instance="603979776" container="2" version="3" expireType="time" expires="3600"/>
        </publications></publish>
        """

    static let fault = """
        <Fault><Faultcode>Client.BadCall.WrongDelta</Faultcode><details><operation index="2" version="1" curVersion="4">\(note)</operation>\
        <operation index="3" version="7" curVersion="0"/></details></Fault>
        """

    static let batchSub = """
        <batchSub xmlns="http://schemas.microsoft.com/2006/01/sip/batch-subscribe" uri="sip:alice@fabrikam.com" name="">
          <action name="subscribe" id="17"><adhocList>
            <resource uri="sip:bob@contoso.com"/><resource uri="sip:carol@contoso.com"><context/></resource>
            <resource uri="sip:dan@contoso.com"><context>\(subscriptionContext)</context></resource>
          </adhocList><categoryList xmlns="http://schemas.microsoft.com/2006/09/sip/categorylist">
            <category name="state"/><category name="note"/></categoryList></action>
          <action name="unsubscribe"><adhocList><resource uri="sip:erin@contoso.com"/></adhocList>
            <c:categoryList xmlns:c="http://schemas.microsoft.com/2006/09/sip/categorylist"><c:category name="state"/></c:categoryList></action>
        </batchSub>
        """

    static let subscriptionContext = """
        <subscriptionContext xmlns="http://schemas.microsoft.com/2008/09/sip/SubscriptionContext" majorVersion="1" minorVersion="0">\
        <watcher><contactList/></watcher><delegation/></subscriptionContext>
        """

    static let setContainerMembers = """
        <setContainerMembers xmlns="http://schemas.microsoft.com/2006/09/sip/container-management">
          <container id="300" version="2"><member type="user" value="alice@fabrikam.com"/>
            <member action="remove" type="domain" value="example.org"/><member action="delete" type="federated"/></container>
        </setContainerMembers>
        """

    static let roamingList = """
        <roamingList xmlns="http://schemas.microsoft.com/2006/09/sip/roaming-self"><roaming type="categories"/><roaming type="containers"/>\
        <roamingEx xmlns="http://schemas.microsoft.com/2007/09/sip/roaming-self-ex" type="delegates"/></roamingList>
        """

    static let roamingData = """
        <roamingData xmlns="http://schemas.microsoft.com/2006/09/sip/roaming-self">
          <categories xmlns="http://schemas.microsoft.com/2006/09/sip/categories" uri="sip:bob@contoso.com">
            <category name="note" instance="0" publishTime="2026-03-02T08:15:31.003" container="200" version="3" expireType="static">\(note)</category>
            <category name="state" instance="805306368" publishTime="2026-03-02T08:15:31.003" container="2" version="1" expireType="endpoint"
              endpointId="6B29FC40-CA47-1067-B31D-00DD010662DA">\(aggregateState)</category>
            <category name="state" instance="9" publishTime="2026-03-02T08:15:31.003" container="2" version="1" expireType="time" expires="3600"/>
            <category name="note" container="400"/>
          </categories>
          <containers xmlns="http://schemas.microsoft.com/2006/09/sip/containers"><container id="200" version="1">
            <member type="sameEnterprise"/><member type="user" value="alice@fabrikam.com"/></container><container id="0" version="0"><member type="everyone"/></container></containers>
          <subscribers xmlns="http://schemas.microsoft.com/2006/09/sip/presence-subscribers">
            <subscriber user="alice@fabrikam.com" displayName="Alice" acknowledged="false" type="federated"><context>\(subscriptionContext)</context></subscriber></subscribers>
          <delegates xmlns="http://schemas.microsoft.com/2007/09/sip/delegates" version="1"><delegate uri="carol@contoso.com" publish="true" redelegate="false"/></delegates>
        </roamingData>
        """

    static let presentity = """
        <presentity xmlns="http://schemas.microsoft.com/2002/09/sip/presence" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" uri="bob@contoso.com">
          <availability aggregate="300" description="online" epid="01f0a3"/><activity aggregate="600" description="" note="busy with tests"/>
          <displayName displayName="Bob Baker"/><email email="bob@contoso.com"/><phoneNumber label="work" number="+1 (555) 0100"/>
          <userInfo><note>In the lab</note></userInfo>
          <devices><devicePresence epid="01f0a3" ageOfPresence="12"><availability aggregate="300"/><activity aggregate="600"/><deviceName name="BOB-LAB"/>
            <devicedata namespace="rtcService"><![CDATA[<x/>]]></devicedata></devicePresence></devices>
          <aggregate><states><state avail="6500" xsi:type="userState">busy</state></states></aggregate>
        </presentity>
        """

    static let directorySearch = """
        <SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Body>
          <m:directorySearch xmlns:m="http://schemas.microsoft.com/winrtc/2002/11/sip"><m:filter m:href="#searchArray"/><m:maxResults>50</m:maxResults></m:directorySearch>
          <m:Array xmlns:m="http://schemas.microsoft.com/winrtc/2002/11/sip" m:id="searchArray">
            <m:row m:attrib="givenName" m:value="Ann"/><m:row m:attrib="msRTCMail" m:value="ann"/>
          </m:Array>
        </SOAP-ENV:Body></SOAP-ENV:Envelope>
        """

    static let userProperties = """
        <userProperties xmlns="http://schemas.microsoft.com/2006/09/sip/categories">
          <lines><line lineType="Dual" lineServer="sip:line@contoso.com">
            tel:+15550100;ext=0100
          </line></lines>
          <telephonyMode>Uc</telephonyMode><facsimileTelephoneNumber>+15550199</facsimileTelephoneNumber>
          <streetAddress>1 Main Street</streetAddress><l>Springfield</l><st>Oregon</st><countryCode>US</countryCode><postalCode>97477</postalCode>
          <wWWHomePage>https://people.contoso.com/bob</wWWHomePage><exumEnabled>1</exumEnabled>
        </userProperties>
        """

    /// Samples, each with a reader that discards the document.
    static let readers: [(name: String, text: String, read: @Sendable ([UInt8]) throws(DocumentError) -> Void)] = [
        ("state", aggregateState, { bytes throws(DocumentError) in _ = try StateDocument(parsing: bytes) }),
        ("note", note, { bytes throws(DocumentError) in _ = try NoteDocument(parsing: bytes) }),
        ("contactCard", contactCard, { bytes throws(DocumentError) in _ = try ContactCardDocument(parsing: bytes) }),
        ("services", services, { bytes throws(DocumentError) in _ = try ServicesDocument(parsing: bytes) }),
        ("device", device, { bytes throws(DocumentError) in _ = try DeviceDocument(parsing: bytes) }),
        ("freeBusy", freeBusy, { bytes throws(DocumentError) in _ = try CalendarDataDocument(parsing: bytes) }),
        ("workingHours", workingHours, { bytes throws(DocumentError) in _ = try CalendarDataDocument(parsing: bytes) }),
        ("legacyInterop", legacyInterop, { bytes throws(DocumentError) in _ = try LegacyInteropDocument(parsing: bytes) }),
        ("categories", categories, { bytes throws(DocumentError) in _ = try CategoriesDocument(parsing: bytes).encoded() }),
        ("publish", publish, { bytes throws(DocumentError) in _ = try CategoryPublishDocument(parsing: bytes) }),
        ("fault", fault, { bytes throws(DocumentError) in _ = try FaultDocument(parsing: bytes) }),
        ("batchSub", batchSub, { bytes throws(DocumentError) in _ = try BatchSubscribeDocument(parsing: bytes) }),
        (
            "subscriptionContext", subscriptionContext,
            { bytes throws(DocumentError) in _ = try SubscriptionContextDocument(parsing: bytes) }
        ),
        (
            "setContainerMembers", setContainerMembers,
            { bytes throws(DocumentError) in _ = try SetContainerMembersDocument(parsing: bytes) }
        ),
        ("roamingList", roamingList, { bytes throws(DocumentError) in _ = try RoamingListDocument(parsing: bytes) }),
        ("roamingData", roamingData, { bytes throws(DocumentError) in _ = try RoamingDataDocument(parsing: bytes).encoded() }),
        ("directorySearch", directorySearch, { bytes throws(DocumentError) in _ = try DirectorySearchRequest(parsing: bytes) }),
        ("userProperties", userProperties, { bytes throws(DocumentError) in _ = try UserPropertiesDocument(parsing: bytes) }),
        ("presentity", presentity, { bytes throws(DocumentError) in _ = try MSRTCPIDFDocument(parsing: bytes).encoded() }),
    ]
}

extension MSRTCDocument {
    init(_ text: String) throws(DocumentError) { try self.init(parsing: Array(text.utf8)) }

    var text: String { String(decoding: encoded(), as: UTF8.self) }

    /// Document read from the encoded form of this value.
    var again: Self { get throws { try Self(parsing: encoded()) } }
}

/// Error that reading throws, or nil.
func refusal<Document: MSRTCDocument>(_ type: Document.Type, _ text: String) -> DocumentError? {
    do {
        _ = try Document(text)
        return nil
    } catch {
        return error
    }
}
