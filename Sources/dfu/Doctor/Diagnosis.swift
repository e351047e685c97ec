import DFUTransport

/// What stands in the way of updates, made of what was seen: nothing is asked here.
struct Diagnosis: Sendable {
    var bus: BusExamination
    var machine: Machine
    /// The adapter that was asked for.
    var adapterName: String?
    /// Whether the environment names another bus than the system's.
    var isBusNamed = false

    /// All findings, in the order in which an update meets them.
    var findings: [Finding] {
        busFindings + serviceFindings + versionFindings + adapterFindings + deviceFindings + configurationFindings
            + linkFindings + machineFindings
    }

    /// What stands in the way; the first is what an update would end with.
    var problems: [Finding] { findings.filter { $0.level == .problem } }

    /// BlueZ's objects, where it shows them.
    var tree: BlueZObjectTree? { try? bus.service?.objects.get() }

    /// The adapter that an update would use: the one that was asked for, or the first that is on.
    var usedAdapter: BlueZAdapter? { asked.first(where: \.isPowered) }

    /// The adapters that an update may use.
    var asked: [BlueZAdapter] {
        (tree?.adapters ?? []).filter { adapterName == nil || $0.name == adapterName }
    }

    /// BlueZ's version, where it tells.
    var version: BlueZVersion? {
        tree?.adapters.lazy.compactMap { $0.modalias.flatMap(BlueZVersion.init(modalias:)) }.first
    }

    /// Whether the service is this machine's own BlueZ, so that this machine's files tell of it.
    var isOwnBlueZ: Bool { machine.service?.isBlueZ == true }

    /// The file by which the service is configured.
    var configurationPath: String { machine.service?.configurationPath ?? "/etc/bluetooth/main.conf" }

    /// What that file says; nil where it cannot be read.
    var configuration: BlueZConfiguration? {
        guard isOwnBlueZ, case .bytes(let bytes) = machine.configuration else { return nil }
        return BlueZConfiguration(bytes)
    }

    // MARK: The machine

    var machineFindings: [Finding] {
        var findings: [Finding] = []
        if let hasRight = machine.user.hasNetworkAdministration {
            findings.append(
                .ok(
                    .rights,
                    hasRight
                        ? "this process has CAP_NET_ADMIN, and may ask for connections of its own kind"
                        : "this process has no CAP_NET_ADMIN; updates work without"))
        }
        if let kernel = machine.kernel { findings.append(.ok(.kernel, "the kernel is Linux \(kernel)")) }
        return findings
    }
}

extension Diagnosis {
    /// What was found as text for people, in lines of so many columns. What can be copied is never broken.
    func text(width: Int) -> String {
        let indent = 9
        var lines: [String] = []
        for finding in findings {
            let texts = [finding.message, finding.meaning, finding.cure?.text].compactMap(\.self)
            for (text, label) in zip(texts, [finding.level.rawValue, "", ""]) {
                lines.append((label.padded(to: indent) + text.printable).wrapped(to: width, indent: indent))
            }
            lines += (finding.cure?.lines ?? []).map { String(repeating: " ", count: indent + 2) + $0.printable }
        }
        return (lines + ["", verdict.wrapped(to: width)]).joined(separator: "\n")
    }

    /// The sum of it all, in a sentence.
    var verdict: String {
        func count(_ level: Finding.Level) -> String? {
            let number = findings.count { $0.level == level }
            return number == 0 ? nil : "\(number) \(level.rawValue)\(number == 1 ? "" : "s")"
        }
        let rest = [count(.warning), count(.note)].compactMap(\.self).joined(separator: ", ")
        let sum =
            count(.problem).map { "\($0) in the way of updates" } ?? "Nothing that was looked at stands in the way"
        return rest.isEmpty ? "\(sum)." : "\(sum); \(rest)."
    }
}
