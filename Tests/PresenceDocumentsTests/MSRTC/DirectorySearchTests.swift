import PresenceDocuments
import Testing
import XMLCore

@Suite struct DirectorySearchDocumentTests {
    @Test("MS-PRES 4.1: a request with qualified attributes, its array declared apart")
    func request() throws {
        #expect(
            try DirectorySearchRequest(MSRTCSamples.directorySearch)
                == DirectorySearchRequest(filters: [.init("givenName", "Ann"), .init("msRTCMail", "ann")], maxResults: 50))
    }

    @Test("MS-PRES 8.1: the same as the schema has it: attributes without namespace, the reference without #, no slash")
    func schemaForm() throws {
        let text = """
            <Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope"><Body>
            <m:directorySearch xmlns:m="http://schemas.microsoft.com/winrtc/2002/11/sip"><m:filter href="f1"/><m:maxResults> 7 </m:maxResults>
            </m:directorySearch><m:Array xmlns:m="http://schemas.microsoft.com/winrtc/2002/11/sip" id="other"><m:row attrib="sn" value="No"/></m:Array>
            <m:Array xmlns:m="http://schemas.microsoft.com/winrtc/2002/11/sip" id="f1"><m:row attrib="sn" value="Arbor"/></m:Array></Body></Envelope>
            """
        #expect(try DirectorySearchRequest(text) == DirectorySearchRequest(filters: [.init("sn", "Arbor")], maxResults: 7))
    }

    @Test(
        "MS-PRES 8.1: a request that breaks the schema is refused with the place",
        arguments: [
            ("SOAP-ENV:Body", "SOAP-ENV:Head", "SOAP 1.1 4.3: Envelope without Body"),
            ("m:directorySearch", "m:search", "MS-PRES 8: Body without directorySearch"),
            ("<m:maxResults>50</m:maxResults>", "", "MS-PRES 8: directorySearch without maxResults"),
            (">50<", ">many<", "MS-PRES 8: maxResults is 'many', not a whole number from 0 to 4294967295"),
            (">50<", ">-1<", "MS-PRES 8: maxResults is '-1', not a whole number from 0 to 4294967295"),
            ("#searchArray", "#nowhere", "MS-PRES 8: href in 'filter' is '#nowhere', not the id of an Array"),
            ("m:attrib=\"givenName\" ", "", "MS-PRES 8: row without attrib"),
            (" m:value=\"Ann\"", "", "MS-PRES 8: row without value"),
            ("givenName", "given name)(x=*", "MS-PRES 8: attrib in 'row' is 'given name)(x=*', not a name of letters and digits"),
        ])
    func refused(_ right: String, _ wrong: String, _ message: String) {
        let text = MSRTCSamples.directorySearch.split(separator: right, omittingEmptySubsequences: false).joined(separator: wrong)
        #expect(refusal(DirectorySearchRequest.self, text)?.message == message)
    }

    @Test("MS-PRES 4.1: what is written is read again as it was, special characters included")
    func again() throws {
        let request = DirectorySearchRequest(filters: [.init("displayName", "O'Neil & \"Søn\" <x>")], maxResults: 0)
        #expect(try request.again == request)
        let response = DirectorySearchResponse(
            rows: [
                DirectorySearchRow(uri: "sip:ann@contoso.com", displayName: "Ann & \"Arbor\"", title: "Engineer", office: "7/110"),
                DirectorySearchRow(uri: "sip:anna@contoso.com"),
            ], moreAvailable: true)
        #expect(try response.again == response)
        #expect(response.text.contains("<m:returned>2</m:returned>"))
        #expect(response.text.contains("<m:value m:href=\"#rows\"/>"))
    }

    @Test("MS-PRES 3.1.5.4: the four faults of a search")
    func faults() {
        for (fault, code) in [
            (SOAPFault.badCall, "Client.BadCall"), (.busy, "Server.Unavailable.Busy"),
            (.userSearchNotAuthorized, "Client.NotAuthorized.UserSearch"), (.unknownError, "Server.UnknownError"),
        ] {
            #expect(String(decoding: fault.encoded(), as: UTF8.self).contains("code>\(code)</"))
        }
    }
}

@Suite struct UserPropertiesTests {
    @Test("MS-PRES 2.2.2.7.4: every element, values between line breaks, unknown ones kept")
    func read() throws {
        let document = try UserPropertiesDocument(MSRTCSamples.userProperties)
        #expect(document.lines == [.init("tel:+15550100;ext=0100", type: "Dual", server: "sip:line@contoso.com")])
        #expect(document.telephonyMode == "Uc")
        #expect(document.city == "Springfield")
        #expect(document.webPage == "https://people.contoso.com/bob")
        #expect(document.others.map(\.localName) == ["exumEnabled"])
        #expect(try document.again == document)
    }

    @Test("MS-PRES 7.6: a line without its type is refused")
    func lineType() {
        let text =
            "<userProperties xmlns='http://schemas.microsoft.com/2006/09/sip/categories'><lines><line>tel:1</line></lines></userProperties>"
        #expect(refusal(UserPropertiesDocument.self, text)?.message == "MS-PRES 7.6: line without lineType")
    }
}
