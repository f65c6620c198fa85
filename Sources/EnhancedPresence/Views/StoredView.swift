import PresenceDocuments

/// Conversion to and from the stored form.
extension EnhancedPresentity {
    /// All data of the user in one self document. `expires` of an instance is the granted lifetime from publishTime on, so that the
    /// presentity can be restored at any later time.
    public var storedDocument: RoamingDataDocument {
        let moment = DateTime(nanosecondsSince1970: 0)
        var document = storedData(at: moment)
        document.categories = CategoriesDocument(
            uri: uri,
            categories: store.pairs.flatMap { store.instances(of: $0) }.map { instance in
                var element = instance.selfElement(at: moment)
                element.expires = instance.expires.map { Int64($0) }
                return element
            })
        return document
    }

    /// Restores a presentity from its ``storedDocument``.
    /// - Parameter computed: The keys of ``computedInstances``, which the document does not contain.
    public init(uri: String, stored document: RoamingDataDocument, computed: Set<PublicationID>, policy: EnhancedPresencePolicy) {
        self.init(
            uri: uri, categories: document.categories, containers: document.containers, subscribers: document.subscribers,
            delegates: document.delegates, policy: policy)
        for var instance in store.pairs.flatMap({ store.instances(of: $0) }) {
            let isComputed = computed.contains(instance.id)
            guard instance.isComputed != isComputed else { continue }
            instance.isComputed = isComputed
            store.put(instance)
        }
    }
}
