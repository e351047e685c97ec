public import DFUProtocol
private import Glibc

extension BlockAck.PackedTime {
    /// The local time now, in this machine's time zone; nil where the format has no room for it.
    public static func now() -> BlockAck.PackedTime? {
        var seconds = time(nil)
        var local = tm()
        guard localtime_r(&seconds, &local) != nil else { return nil }
        return BlockAck.PackedTime(
            year: Int(local.tm_year) + 1900, month: Int(local.tm_mon) + 1, day: Int(local.tm_mday),
            hour: Int(local.tm_hour), minute: Int(local.tm_min))
    }
}
