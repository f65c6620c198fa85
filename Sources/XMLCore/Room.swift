// Room: XMLCore
