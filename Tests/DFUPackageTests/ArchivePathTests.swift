import Testing

@testable import DFUPackage

@Suite struct ArchivePathTests {
    @Test(arguments: [
        ("app.bin", "app.bin"), ("./app.bin", "app.bin"), ("fw/./app.bin", "fw/app.bin"), ("fw//app.bin", "fw/app.bin"),
        ("fw\\app.bin", "fw/app.bin"), ("fw/", "fw/"), ("a..b/..c", "a..b/..c"), ("固件.bin", "固件.bin"),
    ])
    func plainNames(_ name: String, _ normal: String) {
        #expect(ArchivePath.normal(name) == normal)
    }

    @Test(arguments: [
        "", "/app.bin", "\\app.bin", "C:app.bin", "c:\\app.bin", "..", "../app.bin", "fw/../../app.bin",
        "fw\\..\\app.bin",
    ])
    func namesThatLeadOut(_ name: String) {
        #expect(ArchivePath.normal(name) == nil)
    }

    @Test(arguments: [
        ("__MACOSX/fw/._app.bin", true), ("fw/.DS_Store", true), ("fw/._app.bin", true), ("fw/app.bin", false),
        ("fw/__MACOSX/app.bin", false), ("DS_Store", false),
    ])
    func filesOfTheFinder(_ path: String, _ isFromMacOS: Bool) {
        #expect(ArchivePath.isFromMacOS(path) == isFromMacOS)
    }
}
