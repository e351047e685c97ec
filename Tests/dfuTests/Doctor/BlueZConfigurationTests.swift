import Testing

@testable import dfu

/// What is taken of BlueZ's main.conf: what GLib's GKeyFile and BlueZ 5.66 take.
@Suite struct BlueZConfigurationTests {
    private static func read(_ text: String) -> BlueZConfiguration { BlueZConfiguration(Array(text.utf8)) }

    @Test(
        "Settings are taken from where they belong, the last one of each",
        arguments: [
            ("[GATT]\nCache=no\n", "Cache=no"),
            ("[GATT]\nCache = yes\nCache=no\n[General]\n[GATT]\nCache = always", "Cache=always"),
            ("  # Cache=no\n\n [GATT] \n  Cache  =\tno\n", "Cache=no"),
            ("[GATT]\r\nCache=no\r\n", "Cache=no"),
            (
                "[LE]\nMinConnectionInterval=0x09\nMaxConnectionInterval=014\nConnectionSupervisionTimeout=200",
                "MinConnectionInterval=0x09 MaxConnectionInterval=014 ConnectionSupervisionTimeout=200"
            ),
            (
                "[Policy]\nAutoEnable=true \n[General]\nControllerMode=le\nJustWorksRepairing=confirm\nName=x",
                "ControllerMode=le JustWorksRepairing=confirm AutoEnable=true"
            ),
            ("[GATT]\nClient=0\n[Vendor]\nWhatever=1", "Client=0"),
            ("", ""),
        ])
    func settings(_ text: String, _ summary: String) {
        let configuration = Self.read(text)
        #expect(configuration.summary.joined(separator: " ") == summary)
        #expect(configuration.ignored == [])
        #expect(configuration.fault == nil)
    }

    @Test func valuesAreRead() {
        let configuration = Self.read(
            "[LE]\nMinConnectionInterval=0x09\nMaxConnectionInterval=014\n[Policy]\nAutoEnable=false \n[GATT]\nClient=1"
        )
        #expect(configuration.number(.minConnectionInterval) == 9)
        #expect(configuration.number(.maxConnectionInterval) == 12)
        #expect(configuration.number(.supervisionTimeout) == nil)
        #expect(configuration.flag(.autoEnable) == false)
        #expect(configuration.flag(.client) == true)
        #expect(configuration.word(.cache) == nil)
    }

    @Test(
        "A value that BlueZ does not take is told, and is as if it were not there",
        arguments: [
            ("[GATT]\nCache=no # never", "line 2: Cache is “no # never”, and not always, yes or no"),
            ("[GATT]\nCache=no ", "line 2: Cache is “no ”, and not always, yes or no"),
            (
                "[LE]\n\nMaxConnectionInterval=5",
                "line 3: MaxConnectionInterval is “5”, and not a number from 6 to 3200"
            ),
            (
                "[LE]\nMaxConnectionInterval=15ms",
                "line 2: MaxConnectionInterval is “15ms”, and not a number from 6 to 3200"
            ),
            (
                "[LE]\nConnectionSupervisionTimeout=4000",
                "line 2: ConnectionSupervisionTimeout is “4000”, and not a number from 10 to 3200"
            ),
            ("[Policy]\nAutoEnable=yes", "line 2: AutoEnable is “yes”, and not true or false"),
            ("[General]\nCache=no", "line 2: Cache stands in [General], and belongs to [GATT]"),
            (
                "[Controller]\nMinConnectionInterval=9",
                "line 2: MinConnectionInterval stands in [Controller], and belongs to [LE]"
            ),
        ])
    func ignored(_ text: String, _ sentence: String) {
        let configuration = Self.read(text)
        #expect(configuration.ignored == [sentence])
        #expect(configuration.summary == [])
    }

    @Test(
        "With one line that is nothing, all is ignored",
        arguments: [
            ("Cache=no\n[GATT]", 1), ("[GATT]\nCache=no\nCache no\n", 3), ("[GATT\nCache=no", 1), ("[GATT]\n=no", 2),
            ("[GATT] # the cache\nCache=no", 1), ("\u{FEFF}[GATT]\nCache=no", 1), ("[]\n", 1),
        ])
    func fault(_ text: String, _ line: Int) {
        let configuration = Self.read(text)
        #expect(configuration.fault == line)
        #expect(configuration.summary == [])
        #expect(configuration.ignored == [])
    }

    @Test("Bytes that are no text are no trouble") func noText() {
        let configuration = BlueZConfiguration([0x5B, 0xFF, 0x5D, 0x0A, 0x00, 0x3D, 0xFF, 0x0A])
        #expect(configuration.fault == nil)
        #expect(configuration.summary == [])
    }
}
