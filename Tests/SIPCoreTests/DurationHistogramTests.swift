import SIPCore
import Testing

@Suite struct DurationHistogramTests {
    @Test("a duration counts in the first bucket whose bound is not below it, a longer one than all bounds in the last")
    func buckets() {
        var histogram = DurationHistogram()
        for span in [TimeSpan.milliseconds(-5), .zero, .milliseconds(1), .milliseconds(3), .milliseconds(10_000), .seconds(11)] {
            histogram.note(span)
        }
        #expect(histogram.counts.count == DurationHistogram.bounds.count + 1)
        #expect(histogram.counts[0] == 3)
        #expect(histogram.counts[2] == 1)
        #expect(Array(histogram.counts.suffix(2)) == [1, 1])
        #expect(histogram.count == 6)
        #expect(histogram.sum == .milliseconds(1 + 3 + 10_000 + 11_000))
        #expect(DurationHistogram.bounds == DurationHistogram.bounds.sorted())
    }

    @Test("the sum of two histograms has the durations of both")
    func sums() {
        var (one, other) = (DurationHistogram(), DurationHistogram())
        one.note(.milliseconds(2))
        other.note(.milliseconds(2))
        other.note(.milliseconds(400))
        one.add(other)
        #expect(one.counts[1] == 2 && one.count == 3 && one.sum == .milliseconds(404))
    }
}
