import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct BlueZSoakTests {
    /// A process of its own, because what others hold would be counted.
    @Test func manyUpdatesLeaveNothingBehind() async throws {
        // The address sanitizer keeps what was freed for a while, which would be counted.
        let soak = try await Program.run([
            "env", "ASAN_OPTIONS=quarantine_size_mb=0:thread_local_quarantine_size_kb=0:detect_leaks=0",
            ProjectFile.builtProgram("soak"), "40", "80",
        ])
        #expect(soak.status == 0, "\(soak.output)\(soak.errors)")
    }
}
