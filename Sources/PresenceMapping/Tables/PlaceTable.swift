/// Tables `place-to-location` and `location-to-place`.
struct PlaceTable: Sendable {
    let locationOfPlace: [String: WordOutcome]
    let locationOfSphere: [String: WordOutcome]
    private let placeOfLocation: [String: WordOutcome]
    /// The row of a location without a row of its own.
    let other: RowNote?

    init(toLocation: [MappingRow], toPlace: [MappingRow]) {
        var places: [String: WordOutcome] = [:]
        var spheres: [String: WordOutcome] = [:]
        for row in toLocation {
            let outcome = WordOutcome(row: RowNote(row), word: row.text("location"))
            if let place = row.text("place") { places[place] = outcome }
            if let sphere = row.text("sphere") { spheres[sphere] = outcome }
        }
        locationOfPlace = places
        locationOfSphere = spheres
        var locations: [String: WordOutcome] = [:]
        var other: RowNote?
        for row in toPlace {
            if let location = row.text("location") {
                locations[location.folded] = WordOutcome(row: RowNote(row), word: row.text("place"))
            } else if other == nil {
                other = RowNote(row)
            }
        }
        placeOfLocation = locations
        self.other = other
    }

    /// The row of a location, compared as ``Swift/String/folded``; nil if there is none.
    func place(of location: String) -> WordOutcome? { placeOfLocation[location.folded] }
}
