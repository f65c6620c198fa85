import PresenceDocuments
import SIPCore

extension UpstreamContent {
    /// A categories document (MS-PRES 2.2.2.1); several about one presentity add up.
    mutating func takeCategories(_ document: CategoriesDocument) {
        report(on: CategoryRequest.address(document.uri)?.aorKey) { $0.categories = ($0.categories ?? []) + document.categories }
    }
}
