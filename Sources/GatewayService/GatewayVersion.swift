/// Version of the gateway, as `/health`, User-Agent and `--version` show it.
package enum GatewayVersion {
    package static let current = "0.1.0"
}
