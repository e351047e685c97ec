import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct BlueZSoakTests {
    /// A process of its own, because what others hold would be counted.
    @Test func manyUpdatesLeaveNothingBehind() async throws {
        let soak = try await Program.run([ProjectFile.builtProgram("soak"), "40", "80"])
        #expect(soak.status == 0, "\(soak.output)\(soak.errors)")
    }
}
