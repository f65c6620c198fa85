import PresenceDocuments

extension EnhancedPresentity {
    /// The self document to keep over a restart: `expires` of an instance is what was granted and counts from its publishTime, so that
    /// ``init(uri:categories:containers:policy:)`` makes the same presentity of it at any later time.
    public var storedDocument: RoamingDataDocument {
        let moment = DateTime(nanosecondsSince1970: 0)
        var document = roamingData(scope: [.categories, .containers], at: moment)
        document.categories = CategoriesDocument(
            uri: uri,
            categories: store.pairs.flatMap { store.instances(of: $0) }.map { instance in
                var element = instance.selfElement(at: moment)
                element.expires = instance.expires.map { Int64($0) }
                return element
            })
        return document
    }
}
