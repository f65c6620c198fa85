import FederationRouting
import SIPCore
import Testing

@Suite struct NameCacheTests {
    private let start = Instant(secondsSince1970: 1_000_000)
    private let question = NameQuestion(.a, "h.example.org")

    private func answer(_ seconds: Int?) -> NameAnswer {
        NameAnswer(.records([.address("192.0.2.1")]), timeToLive: seconds.map { .seconds($0) })
    }

    @Test("an answer holds to the end of its lifetime and not a moment longer, and says what is left of it")
    func lifetime() {
        var cache = NameCache()
        cache.keep(answer(30), to: question, at: start)
        #expect(cache.answer(to: question, at: start + .seconds(12))?.timeToLive == .seconds(18))
        #expect(cache.answer(to: question, at: start + .milliseconds(29_999)) != nil)
        #expect(cache.answer(to: question, at: start + .seconds(30)) == nil)
        #expect(cache.count == 0)
        #expect(cache.hits == 2)
    }

    @Test("RFC 2308: absences are kept by their own lifetime, within bounds; failures for a moment")
    func absences() {
        var cache = NameCache()
        func kept(_ outcome: NameAnswer.Outcome, _ seconds: Int?) -> TimeSpan? {
            cache.keep(NameAnswer(outcome, timeToLive: seconds.map { .seconds($0) }), to: question, at: start).timeToLive
        }
        #expect(kept(.noSuchName, 300) == .seconds(300))
        #expect(kept(.noData, 1_000_000) == .seconds(3_600))
        #expect(kept(.noData, nil) == .seconds(60))
        #expect(kept(.failed(.timeout), 900) == .seconds(5))
        #expect(kept(.records([.address("192.0.2.1")]), 0) == .seconds(1))
        #expect(kept(.records([.address("192.0.2.1")]), 10_000_000) == .seconds(86_400))
    }

    @Test("a full cache lets go of the answer that would end first")
    func bound() {
        var bounds = NameCache.Bounds()
        bounds.entries = 3
        var cache = NameCache(bounds: bounds)
        for (name, seconds) in [("a", 50), ("b", 20), ("c", 90), ("d", 70)] {
            cache.keep(answer(seconds), to: NameQuestion(.a, name), at: start)
        }
        #expect(cache.count == 3)
        let left = ["a", "b", "c", "d"].filter { cache.answer(to: NameQuestion(.a, $0), at: start) != nil }
        #expect(left == ["a", "c", "d"])
    }

    @Test("names compare without case and final dot")
    func names() {
        var cache = NameCache()
        cache.keep(answer(30), to: NameQuestion(.a, "H.Example.org."), at: start)
        #expect(cache.answer(to: question, at: start) != nil)
        #expect(cache.answer(to: NameQuestion(.aaaa, "h.example.org"), at: start) == nil)
    }
}
