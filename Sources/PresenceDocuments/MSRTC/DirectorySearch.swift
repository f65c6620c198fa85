// MS-PRES 2.2.1, 3.1 and 8: the search of a directory, SOAP 1.1 in a SERVICE request and its answer.

import XMLCore

/// Condition of a search: an attribute of a user, and the beginning of its value (MS-PRES 8.1).
public struct DirectorySearchFilter: Hashable, Sendable {
    /// Name of an attribute of the directory service, or one of the macros msRTCURI and msRTCMail (MS-PRES 8.3).
    public var attribute: String
    /// Text with which the value must begin.
    public var value: String

    public init(_ attribute: String, _ value: String) {
        self.attribute = attribute
        self.value = value
    }
}

/// Search request; all filters must match (MS-PRES 3.1.5.2).
public struct DirectorySearchRequest: Hashable, Sendable {
    /// Filters in document order.
    public var filters: [DirectorySearchFilter]
    /// Largest number of rows that the client requests.
    public var maxResults: UInt32

    public init(filters: [DirectorySearchFilter], maxResults: UInt32) {
        self.filters = filters
        self.maxResults = maxResults
    }
}

/// User found by a search; texts that the directory lacks are empty (MS-PRES 8.2).
public struct DirectorySearchRow: Hashable, Sendable {
    /// SIP URI of the user.
    public var uri: String
    public var displayName: String
    public var title: String
    public var office: String
    public var phone: String
    public var company: String
    public var city: String
    public var state: String
    public var country: String
    public var email: String

    /// Creates a row; omitted texts are empty.
    public init(
        uri: String, displayName: String = "", title: String = "", office: String = "", phone: String = "", company: String = "",
        city: String = "", state: String = "", country: String = "", email: String = ""
    ) {
        self.uri = uri
        self.displayName = displayName
        self.title = title
        self.office = office
        self.phone = phone
        self.company = company
        self.city = city
        self.state = state
        self.country = country
        self.email = email
    }

    /// Attributes in the order of the schema; all of them are required.
    fileprivate static var attributes: [(name: StaticString, path: WritableKeyPath<DirectorySearchRow, String>)] {
        [
            ("uri", \.uri), ("displayName", \.displayName), ("title", \.title), ("office", \.office), ("phone", \.phone),
            ("company", \.company), ("city", \.city), ("state", \.state), ("country", \.country), ("email", \.email),
        ]
    }
}

/// Result of a search (MS-PRES 4.1, 8.2).
public struct DirectorySearchResponse: Hashable, Sendable {
    /// Users found, in document order.
    public var rows: [DirectorySearchRow]
    /// Whether more users match than there are rows.
    public var moreAvailable: Bool

    /// Creates a result; by default without rows and complete.
    public init(rows: [DirectorySearchRow] = [], moreAvailable: Bool = false) {
        self.rows = rows
        self.moreAvailable = moreAvailable
    }
}

/// Refusals of a search (MS-PRES 3.1.5.4); a malformed request is a ``badCall``, with status 400.
extension SOAPFault {
    /// The directory or this server cannot answer now; with status 503.
    public static let busy = SOAPFault(code: "Server.Unavailable.Busy")
    /// The sender must not search; with status 403.
    public static let userSearchNotAuthorized = SOAPFault(code: "Client.NotAuthorized.UserSearch")
    /// Any other failure; with status 500.
    public static let unknownError = SOAPFault(code: "Server.UnknownError")
}

// MARK: elements

private enum SearchNames {
    static let envelope = XMLName("Envelope", in: .soapEnvelope)
    static let directorySearch = XMLName("directorySearch", in: .msSIPOperations)
    static let array = XMLName("Array", in: .msSIPOperations)
    static let row = XMLName("row", in: .msSIPOperations)
    static let filter = XMLName("filter", in: .msSIPOperations)
    static let maxResults = XMLName("maxResults", in: .msSIPOperations)
    static let moreAvailable = XMLName("moreAvailable", in: .msSIPOperations)
    static let value = XMLName("value", in: .msSIPOperations)
    static let rule: StaticString = "MS-PRES 8"
}

// MARK: decode

extension XMLElement {
    /// Attribute in the namespace of the search, as in samples, or in none, as in the schema.
    fileprivate func searchAttribute(_ name: StaticString) throws(DocumentError) -> String {
        guard let value = attribute(XMLName("\(name)", in: .msSIPOperations)) ?? attribute(name) else {
            throw missing(attribute: name, rule: SearchNames.rule)
        }
        return value
    }

    fileprivate func required(_ name: XMLName, _ text: StaticString) throws(DocumentError) -> XMLElement {
        guard let child = first(name) else { throw missing(element: text, rule: SearchNames.rule) }
        return child
    }
}

extension SOAPEnvelope {
    /// Operation of a search; throws for another one.
    fileprivate var directorySearch: XMLElement {
        get throws(DocumentError) {
            guard operation.is(SearchNames.directorySearch) else {
                throw (operation.parent ?? operation).missing(element: "directorySearch", rule: SearchNames.rule)
            }
            return operation
        }
    }

    /// Array to which a reference, `#rows` or `rows`, points.
    fileprivate func array(of reference: XMLElement) throws(DocumentError) -> XMLElement {
        let href = try reference.searchAttribute("href")
        let id = href.hasPrefix("#") ? String(href.dropFirst()) : href
        for array in others where array.is(SearchNames.array) {
            if try array.searchAttribute("id") == id { return array }
        }
        throw reference.invalid("href", value: href, expected: "the id of an Array", rule: SearchNames.rule)
    }
}

extension DirectorySearchRequest: MSRTCDocument {
    /// Root element `Envelope` of ``XMLCore/XMLNamespace/soapEnvelope``.
    public static let rootName = SearchNames.envelope

    /// Reads the SOAP envelope of a search; requires a filter array, with attributes of letters, digits and `_`, and `maxResults`.
    public init(reading element: XMLElement) throws(DocumentError) {
        let envelope = try SOAPEnvelope(reading: element)
        let search = try envelope.directorySearch
        let array = try envelope.array(of: try search.required(SearchNames.filter, "filter"))
        let maximum = try search.required(SearchNames.maxResults, "maxResults")
        self.init(filters: [], maxResults: try maximum.unsignedText(rule: SearchNames.rule))
        for row in array.all(SearchNames.row) {
            let name = try row.searchAttribute("attrib")
            guard !name.isEmpty,
                name.unicodeScalars.allSatisfy({ $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_" })
            else { throw row.invalid("attrib", value: name, expected: "a name of letters and digits", rule: SearchNames.rule) }
            filters.append(DirectorySearchFilter(name, try row.searchAttribute("value")))
        }
    }
}

extension DirectorySearchResponse: MSRTCDocument {
    /// Root element `Envelope` of ``XMLCore/XMLNamespace/soapEnvelope``.
    public static let rootName = SearchNames.envelope

    /// Reads the SOAP envelope of an answer; requires every attribute of a row, which may be empty.
    public init(reading element: XMLElement) throws(DocumentError) {
        let envelope = try SOAPEnvelope(reading: element)
        let search = try envelope.directorySearch
        let array = try envelope.array(of: try search.required(SearchNames.value, "value"))
        let more = try search.required(SearchNames.moreAvailable, "moreAvailable")
        self.init(moreAvailable: try more.booleanText(rule: SearchNames.rule))
        for element in array.all(SearchNames.row) {
            var row = DirectorySearchRow(uri: "")
            for (name, path) in DirectorySearchRow.attributes { row[keyPath: path] = try element.searchAttribute(name) }
            rows.append(row)
        }
    }
}

// MARK: encode

extension XMLWriter {
    fileprivate mutating func reference(_ name: String, to id: String) {
        start(name)
        attribute("m:href", "#" + id)
        end()
    }
}

extension DirectorySearchRequest {
    /// Writes the SOAP envelope of the search.
    public func write(to writer: inout XMLWriter) {
        SOAPEnvelope.write(to: &writer) { writer in
            writer.start("m:directorySearch")
            writer.reference("m:filter", to: "searchArray")
            writer.element("m:maxResults", String(maxResults))
            writer.end()
            writer.start("m:Array")
            writer.attribute("m:id", "searchArray")
            for filter in filters {
                writer.start("m:row")
                writer.attribute("m:attrib", filter.attribute)
                writer.attribute("m:value", filter.value)
                writer.end()
            }
            writer.end()
        }
    }
}

extension DirectorySearchResponse {
    /// Writes the SOAP envelope of the answer.
    public func write(to writer: inout XMLWriter) {
        SOAPEnvelope.write(to: &writer) { writer in
            writer.start("m:directorySearch")
            writer.element("m:moreAvailable", moreAvailable ? "true" : "false")
            writer.element("m:returned", String(rows.count))
            writer.reference("m:value", to: "rows")
            writer.end()
            writer.start("m:Array")
            writer.attribute("m:id", "rows")
            for row in rows {
                writer.start("m:row")
                for (name, path) in DirectorySearchRow.attributes { writer.attribute("m:\(name)", row[keyPath: path]) }
                writer.end()
            }
            writer.end()
        }
    }
}
