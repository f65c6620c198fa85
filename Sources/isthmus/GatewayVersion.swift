/// Version of the gateway, as `/health`, User-Agent and `--version` show it.
enum GatewayVersion {
    static let current = "0.1.0"
}
