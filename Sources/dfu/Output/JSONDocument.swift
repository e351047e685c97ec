import DFUProtocol
import FoundationEssentials

/// What a verb prints with `--json` that prints one document.
enum JSONDocument {
    /// The document.
    static func text(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else {
            preconditionFailure("A document of texts and finite numbers is always encodable")
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// The document of a verb that failed.
    static func text(_ failure: Failure, id: String? = nil) -> String {
        text(
            Failed(
                id: id, status: failure.status.rawValue, name: failure.status.name, reason: failure.reason,
                phase: failure.phase?.rawValue, message: failure.message(about: nil)))
    }

    private struct Failed: Encodable {
        var schema = 1
        var ok = false
        var id: String?
        var status: Int32
        var name: String
        var reason: String?
        var phase: String?
        var message: String
    }
}
