import PresenceDocuments
import SIPCore
import XMLCore

extension PresenceGrants {
    /// The part of a document that is granted (RFC 5025 3.3); a document without anything else if nothing is.
    ///
    /// Views are built from nothing, so an element that is not named here is never passed. They can be read as PIDF, and are written with
    /// the form of the document.
    public func apply(to document: PIDFDocument) -> PIDFDocument {
        if self == .everything { return document }
        var view = PIDFDocument(entity: document.entity)
        view.form = document.form
        view.tuples = document.tuples.filter { services.select($0) }.map { self.view(of: $0) }
        view.persons = document.persons.filter { persons.select($0) }.map { self.view(of: $0) }
        view.devices = document.devices.filter { devices.select($0) }.map { self.view(of: $0) }
        if provides(.note) { view.notes = document.notes }
        // Elements directly under `presence` describe the person.
        guard persons.all else { return view }
        view.rpid = self.view(of: document.rpid, in: .persons)
        view.cipid = self.view(of: document.cipid)
        if provides(ElementName(namespace: XMLNamespace.pidf.uri, localName: "linked-identities")) {
            view.linkedIdentities = document.linkedIdentities
        }
        if provides(ElementName(namespace: XMLNamespace.pidf.uri, localName: "cid")) { view.cid = document.cid }
        if provides(ElementName(namespace: XMLNamespace.exact.uri, localName: "exact")) { view.exact = document.exact }
        view.extensions = document.extensions.filter(provides)
        if allAttributes { view.attributes = document.attributes }
        return view
    }

    /// Whether an element without a permission of its own is provided (RFC 5025 3.3.2.14, 3.3.2.15).
    func provides(_ name: ElementName) -> Bool { allAttributes || unknownAttributes.contains(name) }

    /// Whether an element that is kept as a fragment is provided: by the permission of OMA for it, or by its name.
    func provides(_ fragment: XMLFragment) -> Bool {
        if provides(ElementName(namespace: fragment.namespace, localName: fragment.localName)) { return true }
        if fragment.namespace == XMLNamespace.geopriv.uri { return fragment.localName == "geopriv" && provides(.geopriv) }
        guard fragment.namespace == XMLNamespace.omaPresence.uri else { return false }
        switch fragment.localName {
        case "willingness", "overriding-willingness": return provides(.willingness)
        case "network-availability": return provides(.networkAvailability)
        case "session-participation": return provides(.sessionParticipation)
        case "registration-state": return provides(.registrationState)
        case "barring-state": return provides(.barringState)
        default: return false
        }
    }

    private func view(of tuple: PIDFTuple) -> PIDFTuple {
        var view = PIDFTuple(id: tuple.id, basic: tuple.basic)
        if var contact = tuple.contact {
            if !allAttributes { contact.attributes = [] }
            view.contact = contact
        }
        view.timestamp = tuple.timestamp
        if provides(.note) { view.notes = tuple.notes }
        view.rpid = self.view(of: tuple.rpid, in: .services)
        view.cipid = self.view(of: tuple.cipid)
        if provides(ElementName(namespace: XMLNamespace.capabilities.uri, localName: "servcaps")) { view.capabilities = tuple.capabilities }
        if provides(ElementName(namespace: XMLNamespace.timedStatus.uri, localName: "timed-status")) {
            view.timedStatuses = tuple.timedStatuses.map { self.view(of: $0) }
        }
        if provides(.deviceID) { view.deviceIDs = tuple.deviceIDs }
        if provides(ElementName(namespace: XMLNamespace.draftTuple.uri, localName: "contact-type")) { view.contactType = tuple.contactType }
        view.extensions = tuple.extensions.filter(provides)
        view.statusExtensions = tuple.statusExtensions.filter(provides)
        if allAttributes {
            view.attributes = tuple.attributes
            view.statusAttributes = tuple.statusAttributes
        }
        return view
    }

    /// A status of another time reveals no more kinds of elements than the present one.
    private func view(of status: TimedStatus) -> TimedStatus {
        var view = TimedStatus(from: status.from, until: status.until, basic: status.basic)
        if provides(.note) { view.notes = status.notes }
        view.rpid = self.view(of: status.rpid, in: .services)
        view.extensions = status.extensions.filter(provides)
        if allAttributes { view.attributes = status.attributes }
        return view
    }

    private func view(of person: PIDFPerson) -> PIDFPerson {
        var view = PIDFPerson(id: person.id)
        view.timestamp = person.timestamp
        if provides(.note) { view.notes = person.notes }
        view.rpid = self.view(of: person.rpid, in: .persons)
        view.cipid = self.view(of: person.cipid)
        view.extensions = person.extensions.filter(provides)
        if allAttributes { view.attributes = person.attributes }
        return view
    }

    private func view(of device: PIDFDevice) -> PIDFDevice {
        var view = PIDFDevice(id: device.id, deviceID: device.deviceID)
        view.timestamp = device.timestamp
        if provides(.note) { view.notes = device.notes }
        view.rpid = self.view(of: device.rpid, in: .devices)
        view.cipid = self.view(of: device.cipid)
        if provides(ElementName(namespace: XMLNamespace.capabilities.uri, localName: "devcaps")) { view.capabilities = device.capabilities }
        view.extensions = device.extensions.filter(provides)
        if allAttributes { view.attributes = device.attributes }
        return view
    }

    private func view(of cipid: CIPID) -> CIPID {
        if allAttributes || cipid.isEmpty { return cipid }
        func isProvided(_ name: String) -> Bool { provides(ElementName(namespace: XMLNamespace.cipid.uri, localName: name)) }
        var view = CIPID()
        if isProvided("card"), let card = cipid.card { view.card = card }
        if isProvided("display-name"), let name = cipid.displayName { view.displayName = name }
        if isProvided("homepage"), let homepage = cipid.homepage { view.homepage = homepage }
        if isProvided("icon"), let icon = cipid.icon { view.icon = icon }
        if isProvided("map"), let map = cipid.map { view.map = map }
        if isProvided("sound"), let sound = cipid.sound { view.sound = sound }
        return view
    }
}
