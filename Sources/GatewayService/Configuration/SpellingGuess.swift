/// Finds the known word that a misspelt one most likely stands for.
enum SpellingGuess {
    /// Octets of the longest word that is compared.
    static let longestWord = 64

    /// Known word with the fewest edits from `word`, the first of several; nil when each needs too many edits.
    ///
    /// Case, and `_` for `-`, count as no edit. One edit is allowed for each three octets of `word`, three at most.
    static func nearest(to word: String, among known: [String]) -> String? {
        let written = folded(word)
        guard written.count <= longestWord else { return nil }
        var best: (word: String, edits: Int)?
        for candidate in known {
            let limit = best.map { $0.edits - 1 } ?? min(written.count / 3, 3)
            guard let edits = edits(from: written, to: folded(candidate), limit: limit) else { continue }
            if edits == 0 { return candidate }
            best = (candidate, edits)
        }
        return best?.word
    }

    private static func folded(_ word: String) -> [UInt8] {
        word.utf8.map { octet in
            if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(octet) { return octet | 0x20 }
            return octet == UInt8(ascii: "_") ? UInt8(ascii: "-") : octet
        }
    }

    /// Number of octets inserted, removed, replaced or exchanged with their neighbor (optimal string alignment); nil beyond `limit`.
    static func edits(from first: [UInt8], to second: [UInt8], limit: Int) -> Int? {
        guard abs(first.count - second.count) <= limit else { return nil }
        var beforePrevious: [Int] = []
        var previous = Array(0...second.count)
        for row in first.indices {
            var current = [row + 1]
            for column in second.indices {
                let isSame = first[row] == second[column]
                var edits = min(previous[column] + (isSame ? 0 : 1), previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                    edits = min(edits, beforePrevious[column - 1] + 1)
                }
                current.append(edits)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[second.count] <= limit ? previous[second.count] : nil
    }
}
