import PresenceDocuments

/// Reads presence documents into the canonical model and writes them from it, by mapping tables. Pure and stateless.
///
/// Each function returns the value with its losses and the deciding rows. ``Converter`` converts bytes to bytes.
public struct PresenceMapper: Sendable {
    /// The mapping tables in use.
    public let tables: MappingTables
    let compiled: CompiledTables

    /// Creates a mapper; by default with the tables of the release.
    public init(tables: MappingTables = .embedded) {
        self.tables = tables
        compiled = tables.compiled
    }

    // MARK: Reading

    /// Reads a categories document for watchers or for the user's own endpoints (MS-PRES 2.2.2.1).
    ///
    /// Uses the newest aggregateState if there are several state instances. Without one, the aggregate is computed from the visible
    /// instances (MS-PRES 3.8.5.1.2.2): the greatest availability among the instances that are not older than the newest manual one.
    ///
    /// - Parameter moment: Notes with `startTime` or `endTime` are used if they are valid at this time (MS-PRES 4.2); nil uses all.
    public func canonical(from document: CategoriesDocument, at moment: DateTime? = nil) -> MappingResult<CanonicalPresence> {
        CategoriesReader(compiled: compiled).canonical(from: document, at: moment)
    }

    /// Reads a legacyInterop body, which does not name its presentity (MS-PRES 2.2.2.7.6).
    public func canonical(from document: LegacyInteropDocument, entity: String) -> MappingResult<CanonicalPresence> {
        CategoriesReader(compiled: compiled).canonical(from: document, entity: entity)
    }

    /// Reads text/xml+msrtc.pidf; the state of newer servers takes precedence over the aggregate numbers (MS-PRES 9).
    public func canonical(from document: MSRTCPIDFDocument) -> MappingResult<CanonicalPresence> {
        LegacyReader(compiled: compiled).canonical(from: document)
    }

    /// Reads xpidf; of several addresses an open one is used, then the one with the greatest priority.
    ///
    /// - Parameter moment: Atoms that have expired at this time are left out (MS-SIP 7); nil uses all of them.
    public func canonical(from document: XPIDFDocument, at moment: DateTime? = nil) -> MappingResult<CanonicalPresence> {
        LegacyReader(compiled: compiled).canonical(from: document, at: moment)
    }

    /// Reads a PIDF document of any profile.
    ///
    /// - Parameter moment: Elements with `from` or `until` are used if they are valid at this time, and a timed status that covers it
    ///   replaces the status (RFC 4481 2); nil uses all elements, and no timed status.
    public func canonical(from document: PIDFDocument, at moment: DateTime? = nil) -> MappingResult<CanonicalPresence> {
        PIDFReader(compiled: compiled).canonical(from: document, at: moment)
    }

    // MARK: Writing

    /// Creates the categories document for a watcher (MS-PRES 2.2.2.1), with name, instance, publishTime and body of each instance.
    ///
    /// - Parameters:
    ///   - requested: The categories of the subscription; each gets its instances or an empty marker (MS-PRES 3.2.5.3). Nil writes
    ///     all categories that have a value.
    ///   - moment: Publish time of values without one.
    public func categories(
        from presence: CanonicalPresence, requested: [CategoryName]? = nil, at moment: DateTime? = nil
    ) -> MappingResult<CategoriesDocument> {
        CategoriesWriter(compiled: compiled).categories(from: presence, requested: requested, at: moment)
    }

    /// Writes the state of a user's device as a userState, an input of aggregation (MS-PRES 3.8.5.1.2.2): the greatest number of the user's
    /// states counts.
    ///
    /// - Returns: nil for an offline device, which must not outweigh the user's other states. For the same reason idleness, a matter of
    ///   machines (MS-PRES 3.8.5.1.2.1), is left out of the number.
    public func userState(from presence: CanonicalPresence) -> MappingResult<StateDocument?> {
        CategoriesWriter(compiled: compiled).userState(from: presence)
    }

    /// Creates PIDF.
    ///
    /// Elements from a SIMPLE source are written unchanged. The availability of an enhanced source is mapped by the table of MS-PRES
    /// 3.7.5.4; the profiles rpid and oma add activities for its token and texts, after the activity of the table, and its other
    /// fields.
    ///
    /// - Parameters:
    ///   - lossless: Adds the exact values of the enhanced model in one extension element (``PresenceExact``).
    ///   - moment: Free/busy times before it are left out; nil keeps all.
    public func pidf(
        from presence: CanonicalPresence, profile: PIDFProfile = .rpid, lossless: Bool = false, at moment: DateTime? = nil
    ) -> MappingResult<PIDFDocument> {
        PIDFWriter(compiled: compiled).pidf(from: presence, profile: profile, lossless: lossless, at: moment)
    }

    /// Creates the legacyInterop body (MS-PRES 2.2.2.7.6): availability and token; everything else is reported as lost.
    public func legacyInterop(from presence: CanonicalPresence) -> MappingResult<LegacyInteropDocument> {
        LegacyWriter(compiled: compiled).legacyInterop(from: presence)
    }

    /// Creates text/xml+msrtc.pidf by the table of MS-PRES 3.7.5.5. The text of the state is the token, or the word of the class.
    /// Unknown values of required elements are empty (MS-PRES 2.2.2.9).
    public func msrtcPIDF(from presence: CanonicalPresence) -> MappingResult<MSRTCPIDFDocument> {
        LegacyWriter(compiled: compiled).msrtcPIDF(from: presence)
    }

    /// Creates xpidf with one address.
    public func xpidf(from presence: CanonicalPresence) -> MappingResult<XPIDFDocument> {
        LegacyWriter(compiled: compiled).xpidf(from: presence)
    }
}
