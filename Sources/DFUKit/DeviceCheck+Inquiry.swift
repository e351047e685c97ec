internal import DFUProtocol
internal import DFUTransport

extension DeviceCheck {
    /// How a connected device is asked.
    struct Inquiry: Sendable {
        let peripheral: any Peripheral
        let clock: any Clock<Duration>
        let observer: ProcedureObserver

        func services(until isEnough: @escaping @Sendable ([GATTService]) -> Bool) async -> [GATTService] {
            await peripheral.services(within: DeviceSession.lateServices, until: isEnough)
        }

        /// The version that runs; nil where the device has none, or does not let it be read.
        func version(_ profile: DeviceProfile) async throws(UpdateError) -> String? {
            guard let uuid = profile.versionCharacteristic else { return nil }
            let services = await services { !$0.isEmpty }
            guard let service = services.first(where: { $0.canRead(uuid) }) else { return nil }
            do throws(TransportError) {
                return try await peripheral.readText(uuid, of: service.uuid)
            } catch {
                guard error.code == .attributeError else { throw failure(error) }
                observer.log?("its version cannot be read (\(error.message))")
                return nil
            }
        }

        func openLink(_ bindings: @escaping DeviceSession.Bindings) async throws(UpdateError) -> any Link {
            let services = await services { (try? bindings($0)) != nil }
            do throws(TransportError) {
                return try await peripheral.openLink(try bindings(services))
            } catch {
                throw failure(error)
            }
        }

        func run<Question: Procedure>(
            _ question: inout Question, over link: any Link
        ) async throws(UpdateError) -> Question.Outcome {
            switch await DFUKit.run(&question, over: link, clock: clock, observer: observer) {
            case .success(let outcome): return outcome
            case .failure(let error): throw UpdateError(error, phase: .check, deviceState: .asBefore)
            }
        }

        private func failure(_ error: TransportError) -> UpdateError {
            UpdateError(error, phase: .check, deviceState: .asBefore)
        }
    }
}
