/// How progress is shown on stderr.
enum ProgressStyle: String, Choice {
    case auto, bar, plain, none

    /// What `auto` means here; never `auto` itself.
    ///
    /// With JSON on stdout a program is listening: a bar is for whoever sits at a terminal beside it.
    func resolved(for terminal: Terminal, json: Bool) -> ProgressStyle {
        guard self == .auto else { return self }
        if terminal.isRedrawable, !json || !terminal.isSharedWithOutput { return .bar }
        return json ? .none : .plain
    }
}
