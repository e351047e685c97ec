/// Guesses what a mistyped word was meant to be.
enum Spelling {
    /// The nearest candidate, where one is near enough that a slip of the fingers explains the difference.
    static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let limit = word.count / 3
        return
            candidates
            .map { (candidate: $0, distance: distance(word, $0)) }
            .filter { $0.distance <= limit }
            .min { $0.distance < $1.distance }?
            .candidate
    }

    /// How many letters must be put in, taken out, changed or swapped with their neighbour (optimal string alignment).
    static func distance(_ first: String, _ second: String) -> Int {
        let first = Array(first.lowercased())
        let second = Array(second.lowercased())
        var beforeLast: [Int] = []
        var last = Array(0...second.count)
        for row in first.indices {
            var current = [row + 1]
            for column in second.indices {
                let change = last[column] + (first[row] == second[column] ? 0 : 1)
                var best = min(change, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[second.count]
    }
}
