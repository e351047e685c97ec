import DFUTransport

/// A client that speaks with people for BlueZ (`org.bluez.Agent1`).
struct Agent: Sendable, Hashable {
    /// What the people can do with it.
    enum Capability: String {
        case displayOnly = "DisplayOnly"
        case displayYesNo = "DisplayYesNo"
        case keyboardOnly = "KeyboardOnly"
        case noInputNoOutput = "NoInputNoOutput"
        case keyboardDisplay = "KeyboardDisplay"

        init?(named name: String) {
            self.init(rawValue: name.isEmpty ? Self.keyboardDisplay.rawValue : name)
        }

        /// Whether it is enough for this way to pair.
        func serves(_ method: DevicePairing.Method) -> Bool {
            switch method {
            case .justWorks: true
            case .comparison: [.displayYesNo, .keyboardDisplay].contains(self)
            case .entry: [.keyboardOnly, .keyboardDisplay].contains(self)
            case .display: [.displayOnly, .displayYesNo, .keyboardDisplay].contains(self)
            }
        }
    }

    /// The client's unique name.
    var owner: String
    var path: DBusObjectPath
    var capability: Capability
}

extension SimulatedBlueZ {
    func callAgentManager(_ call: DBusMessage) {
        guard let sender = call.sender, case .objectPath(let path) = call.body.first else { return }
        let index = agents.firstIndex { $0.owner == sender }
        if call.member == "RegisterAgent" {
            guard index == nil else { return refuse(call, BlueZError.alreadyExists) }
            guard case .string(let name) = call.body.last, let capability = Agent.Capability(named: name) else {
                return refuse(call, BlueZError.invalidArguments)
            }
            agents.append(Agent(owner: sender, path: path, capability: capability))
            return answer(call)
        }
        guard let index, agents[index].path == path else { return refuse(call, BlueZError.doesNotExist) }
        let agent = agents.remove(at: index)
        if call.member == "RequestDefaultAgent" { agents.insert(agent, at: 0) }
        answer(call)
    }

    /// Asks an agent, and waits for its answer; nil where it says no, or nothing.
    func ask(_ agent: Agent, _ member: String, _ body: [DBusValue]) async -> [DBusValue]? {
        let call = DBusMessage.call(
            member, of: Agent.interface, at: agent.path, destination: agent.owner, body: body)
        // REQUEST_TIMEOUT in src/agent.c.
        return try? await connection.call(call, timeout: .seconds(60)).body
    }

    /// Tells an agent that its answer is not wanted any more.
    func cancelQuestion(to agent: Agent) {
        var call = DBusMessage.call("Cancel", of: Agent.interface, at: agent.path, destination: agent.owner)
        call.expectsReply = false
        tell(call)
    }
}

extension Agent {
    fileprivate static let interface = "org.bluez.Agent1"
}
