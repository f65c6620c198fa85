import PresenceDocuments
import SIPCore

extension UpstreamContent {
    /// Adds a categories document (MS-PRES 2.2.2.1); several documents about one presentity are combined.
    mutating func takeCategories(_ document: CategoriesDocument) {
        report(on: CategoryRequest.address(document.uri)?.aorKey) { $0.categories = ($0.categories ?? []) + document.categories }
    }
}
