import SIPCore
import Testing

@Suite struct RecentNotesTests {
    @Test("one thing is told once a minute, of a crowd the first are told") func crowd() {
        var notes = RecentNotes<String>(limit: 8)
        func isNews(_ key: String, after seconds: Int) -> Bool {
            notes.isNews(key, at: Instant(secondsSince1970: 1_000) + .seconds(seconds))
        }
        #expect(isNews("a", after: 0))
        #expect(!isNews("a", after: 59))
        #expect(isNews("b", after: 0))
        #expect(isNews("a", after: 60))
        let told = (0..<20).filter { isNews("crowd\($0)", after: 60) }
        #expect(told == Array(0..<7), "a is remembered still, b no more")
        #expect(!isNews("late", after: 61))
        #expect(isNews("late", after: 121))
    }
}
