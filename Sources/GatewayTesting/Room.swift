// Room: GatewayTesting
