import Administration
import PresenceGateway
import Synchronization

/// The console: pages for a browser on this machine about partners, presentities, subscriptions, the reasons of what a watcher sees, the
/// messages that pass, and conversions. It changes nothing; all pages but the passing messages work without script.
///
///     GET /                         overview
///     GET /console/partners         GET /console/presentities         GET /console/subscriptions
///     GET /console/why?watcher=URI&presentity=URI
///     GET /console/live             GET /console/live/events (Server-Sent Events)
///     GET, POST /console/mapping    POST /convert?to=FORMAT (JSON)
final class ConsolePages: Sendable {
    let inspection: InspectionPages
    let status: StatusPages
    let tables: CurrentTables
    let sample = Mutex<FigureSample?>(nil)
    let streams = StreamCount()

    init(inspection: InspectionPages, status: StatusPages, tables: CurrentTables) {
        self.inspection = inspection
        self.status = status
        self.tables = tables
    }

    /// Paths whose POST changes nothing.
    static let submissions: Set<String> = ["/console/mapping", "/convert"]

    /// The page of a request; nil: the path is none of the console.
    func answer(_ request: AdministrationRequest) async -> AdministrationAnswer? {
        let parameters = request.parameters.filter { !$0.value.isEmpty }
        do throws(QuestionError) {
            var question = try InspectionQuestion(parameters)
            switch request.path {
            case "/": return await overview()
            case "/console/partners": return try await partners(&question)
            case "/console/presentities": return try await presentities(&question)
            case "/console/subscriptions": return try await subscriptions(&question)
            case "/console/why": return try await why(&question)
            case "/console/live": return try await live(&question)
            case "/console/live/events": return try await liveEvents(&question)
            case "/console/mapping": return try mapping(request)
            case "/convert": return try convert(request)
            case "/console/style.css": return AdministrationAnswer(type: "text/css; charset=utf-8", body: ConsoleAssets.style)
            case "/console/live.js": return AdministrationAnswer(type: "text/javascript; charset=utf-8", body: ConsoleAssets.live)
            default: return nil
            }
        } catch {
            if request.path == "/convert" { return .problem(error.status, error.text) }
            return Self.page("Error", status: error.status, "<p class=\"bad\" role=\"alert\">\(error.text)</p>")
        }
    }

    // MARK: frame

    private static let parts: [(name: String, path: String)] = [
        ("Overview", "/"), ("Partners", "/console/partners"), ("Presentities", "/console/presentities"),
        ("Subscriptions", "/console/subscriptions"), ("Why", "/console/why"), ("Live", "/console/live"), ("Mapping", "/console/mapping"),
    ]

    /// A whole page, with links to the others.
    static func page(_ title: String, status: Int = 200, script: String? = nil, _ content: HTML) -> AdministrationAnswer {
        let links = parts.map { part -> HTML in
            let mark: HTML? = part.name == title ? " aria-current=\"page\"" : nil
            return "<li><a href=\"\(part.path)\"\(mark)>\(part.name)</a></li>"
        }
        let module = script.map { "<script type=\"module\" src=\"\($0)\"></script>\n" as HTML }
        let text: HTML = """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
            <title>\(title) - Isthmus</title><link rel="stylesheet" href="/console/style.css"><link rel="icon" href="data:,">
            \(module)</head>
            <body><a class="skip" href="#content">To the content</a>
            <nav aria-label="Pages"><ul>\(links)</ul></nav>
            <main id="content"><h1>\(title)</h1>
            \(content)</main></body></html>

            """
        var answer = AdministrationAnswer(status: status, type: "text/html; charset=utf-8", body: text.text)
        answer.fields = [
            (
                "Content-Security-Policy",
                "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; "
                    + "base-uri 'none'; frame-ancestors 'none'"
            ),
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
        ]
        return answer
    }
}
