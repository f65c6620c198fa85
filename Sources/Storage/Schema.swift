import GRDB
import PresenceGateway

/// The tables of each schema version; `PRAGMA user_version` holds the version of a file.
///
/// Times are nanoseconds since 1970: `datetime(expiry / 1000000000, 'unixepoch')` prints one. Lists in a column are
/// separated by spaces, with `%20`, `%25` and `%3D` for space, `%` and `=` inside items.
enum Schema {
    static let version = 8
    /// "ISTH", which marks a file as a store of Isthmus (`PRAGMA application_id`).
    static let applicationID = 0x4953_5448

    /// Refuses databases of other programs and stores of a newer version.
    static func check(_ database: Database) throws {
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard application == applicationID || (application == 0 && tables == 0) else {
            throw refusal(database, "is a database of another program")
        }
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found <= version else {
            throw refusal(database, "has schema version \(found), and this version of isthmus knows \(version) at most")
        }
    }

    /// Checks the file and migrates the schema. Writes in every case, so that a read-only file fails here.
    static func settle(_ database: Database) throws {
        try check(database)
        database.add(function: partition)
        try database.inTransaction(.immediate) {
            let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            for (index, step) in migrations.enumerated() where index >= found { try database.execute(sql: step) }
            try database.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
            try database.execute(sql: "INSERT INTO opening (moment) VALUES (strftime('%s', 'now') * 1000000000)")
            try database.execute(sql: "DELETE FROM opening WHERE id <= (SELECT max(id) FROM opening) - 100")
            return .commit
        }
    }

    /// Number of the partition of a user, for files of versions before partitions were stored.
    private static let partition = DatabaseFunction("isthmus_partition", argumentCount: 1, pure: true) { values in
        PartitionSlice.partition(ofUser: String.fromDatabaseValue(values[0]) ?? "")
    }

    private static func refusal(_ database: Database, _ text: String) -> StoreFailure {
        let path = (try? String.fetchOne(database, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'")) ?? nil
        return StoreFailure("\(path ?? "the store"): \(text)")
    }

    /// The step at index `n` migrates version `n` to `n + 1`.
    private static let migrations = [
        """
        -- The last hundred starts.
        CREATE TABLE opening (id INTEGER PRIMARY KEY, moment INTEGER NOT NULL);
        -- A user's own data: the self document (MS-PRES 2.2.2.3.2); computed lists CONTAINER/INSTANCE/CATEGORY.
        CREATE TABLE presentity (
            user TEXT PRIMARY KEY, uri TEXT NOT NULL, document TEXT NOT NULL, computed TEXT NOT NULL,
            simple_is_newer INTEGER NOT NULL
        );
        -- PIDF publications (RFC 3903).
        CREATE TABLE publication (
            presentity TEXT NOT NULL, tag TEXT NOT NULL, uri TEXT NOT NULL, document TEXT NOT NULL, number INTEGER NOT NULL,
            arrived INTEGER NOT NULL, expiry INTEGER NOT NULL, ids TEXT NOT NULL, PRIMARY KEY (presentity, tag)
        );
        -- Dialogs in which this node notifies (RFC 6665).
        CREATE TABLE dialog (
            tag TEXT PRIMARY KEY, kind TEXT NOT NULL, owner TEXT NOT NULL, watcher TEXT NOT NULL, event TEXT NOT NULL,
            content_type TEXT NOT NULL, expiry INTEGER NOT NULL, call_id TEXT NOT NULL, remote_tag TEXT NOT NULL,
            local_party TEXT NOT NULL, remote_party TEXT NOT NULL, remote_target TEXT NOT NULL, route_set TEXT NOT NULL,
            local_cseq INTEGER NOT NULL, remote_cseq INTEGER, is_secure INTEGER NOT NULL, is_batch INTEGER NOT NULL,
            is_best_effort INTEGER NOT NULL, local_address TEXT NOT NULL, remote_address TEXT NOT NULL,
            was_told_active INTEGER NOT NULL, is_unanswered INTEGER NOT NULL, list_version INTEGER NOT NULL, details TEXT NOT NULL
        ) WITHOUT ROWID;
        -- What each dialog watches; state is 'active' unless the resource is rejected or lives elsewhere (RFC 4662).
        CREATE TABLE resource (
            tag TEXT NOT NULL REFERENCES dialog (tag) ON DELETE CASCADE, place INTEGER NOT NULL, uri TEXT NOT NULL,
            state TEXT NOT NULL, categories TEXT NOT NULL, delivered TEXT NOT NULL, hop_marks TEXT,
            reason TEXT, status_code INTEGER, pool_fqdn TEXT, is_told INTEGER NOT NULL, PRIMARY KEY (tag, place)
        ) WITHOUT ROWID;
        -- Endpoints that are signed in (RFC 3261 10).
        CREATE TABLE registration (
            user TEXT NOT NULL, place TEXT NOT NULL, endpoint TEXT, contact TEXT NOT NULL, call_id TEXT NOT NULL, cseq INTEGER NOT NULL,
            expiry INTEGER NOT NULL, local_address TEXT NOT NULL, remote_address TEXT NOT NULL, PRIMARY KEY (user, place)
        ) WITHOUT ROWID;
        CREATE TABLE contacts (user TEXT PRIMARY KEY, delta_number INTEGER NOT NULL, document TEXT NOT NULL);
        CREATE TABLE access_list (user TEXT PRIMARY KEY, delta_number INTEGER NOT NULL, document TEXT NOT NULL);
        """,
        """
        -- What users of other domains publish over this node: 'publish' by SERVICE for a simple domain (document is the self document),
        -- 'service' by PUBLISH for an enterprise domain.
        CREATE TABLE bridge (
            user TEXT PRIMARY KEY, way TEXT NOT NULL, uri TEXT NOT NULL, document TEXT NOT NULL, details TEXT NOT NULL
        );
        -- Its sources by entity-tag, its instances there, and those that are computed, by CONTAINER/INSTANCE/CATEGORY.
        CREATE TABLE bridge_item (
            user TEXT NOT NULL REFERENCES bridge (user) ON DELETE CASCADE, place INTEGER NOT NULL, kind TEXT NOT NULL,
            name TEXT NOT NULL, document TEXT NOT NULL, details TEXT NOT NULL, PRIMARY KEY (user, place)
        ) WITHOUT ROWID;
        """,
        """
        -- Far legs: subscriptions of this node in its watchers' names (RFC 6665 4.1). Without a dialog they rest after a loss.
        CREATE TABLE leg (
            tag TEXT PRIMARY KEY, owner TEXT NOT NULL, watcher TEXT NOT NULL, domain TEXT NOT NULL, target TEXT NOT NULL,
            shape TEXT NOT NULL, format TEXT NOT NULL, expires INTEGER NOT NULL, expiry INTEGER, rests_until INTEGER,
            failures INTEGER NOT NULL, has_notified INTEGER NOT NULL, max_forwards INTEGER NOT NULL, hop_marks TEXT NOT NULL,
            call_id TEXT, remote_tag TEXT, local_party TEXT, remote_party TEXT, remote_target TEXT, route_set TEXT,
            local_cseq INTEGER, remote_cseq INTEGER, is_secure INTEGER
        ) WITHOUT ROWID;
        -- The presentities that each leg asks for, and the tags of the dialogs that it feeds.
        CREATE TABLE leg_resource (
            tag TEXT NOT NULL REFERENCES leg (tag) ON DELETE CASCADE, place INTEGER NOT NULL, uri TEXT NOT NULL,
            categories TEXT NOT NULL, sinks TEXT NOT NULL, PRIMARY KEY (tag, place)
        ) WITHOUT ROWID;
        """,
        """
        -- The time of the newest commit, and how far the wall clock is ahead of the times in this file, both in nanoseconds.
        CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), committed INTEGER NOT NULL, step INTEGER NOT NULL);
        """,
        """
        -- Watchers that presentities were shown to, and the sign-off that each sees while it is blocked.
        CREATE TABLE shown_watcher (
            presentity TEXT NOT NULL, watcher TEXT NOT NULL, shown_at INTEGER NOT NULL, sign_off INTEGER, PRIMARY KEY (presentity, watcher)
        ) WITHOUT ROWID;
        -- Presentities as they were when watchers were blocked, signed off then: self documents (MS-PRES 2.2.2.3.2).
        CREATE TABLE sign_off (
            presentity TEXT NOT NULL, number INTEGER NOT NULL, uri TEXT NOT NULL, moment INTEGER NOT NULL, document TEXT NOT NULL,
            computed TEXT NOT NULL, PRIMARY KEY (presentity, number)
        );
        """,
        """
        -- Partition of each record (0 to 4,095), by hash of its user. Each start assigns the dialogs to partitions by the configuration.
        ALTER TABLE presentity ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE publication ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE dialog ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE leg ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE registration ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE contacts ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE access_list ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE bridge ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE shown_watcher ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE sign_off ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
        UPDATE presentity SET part = isthmus_partition(user);
        UPDATE publication SET part = isthmus_partition(presentity);
        UPDATE dialog SET part = isthmus_partition(owner);
        UPDATE leg SET part = isthmus_partition(owner);
        UPDATE registration SET part = isthmus_partition(user);
        UPDATE contacts SET part = isthmus_partition(user);
        UPDATE access_list SET part = isthmus_partition(user);
        UPDATE bridge SET part = isthmus_partition(user);
        UPDATE shown_watcher SET part = isthmus_partition(presentity);
        UPDATE sign_off SET part = isthmus_partition(presentity);
        CREATE INDEX presentity_part ON presentity (part);
        CREATE INDEX publication_part ON publication (part);
        CREATE INDEX dialog_part ON dialog (part);
        CREATE INDEX leg_part ON leg (part);
        CREATE INDEX registration_part ON registration (part);
        CREATE INDEX contacts_part ON contacts (part);
        CREATE INDEX access_list_part ON access_list (part);
        CREATE INDEX bridge_part ON bridge (part);
        CREATE INDEX shown_watcher_part ON shown_watcher (part);
        CREATE INDEX sign_off_part ON sign_off (part);
        """,
        """
        -- A dialog about one resource that is neither rejected nor pending has it in its own row; resource_rows is the number of rows that
        -- other dialogs have in the table resource.
        ALTER TABLE dialog ADD COLUMN resource_rows INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE dialog ADD COLUMN resource_uri TEXT;
        ALTER TABLE dialog ADD COLUMN categories TEXT;
        ALTER TABLE dialog ADD COLUMN delivered TEXT;
        ALTER TABLE dialog ADD COLUMN hop_marks TEXT;
        UPDATE dialog SET resource_rows = (SELECT count(*) FROM resource WHERE resource.tag = dialog.tag);
        UPDATE dialog SET
            resource_rows = 0,
            (resource_uri, categories, delivered, hop_marks)
                = (SELECT uri, categories, delivered, hop_marks FROM resource WHERE resource.tag = dialog.tag)
            WHERE resource_rows = 1 AND (SELECT state FROM resource WHERE resource.tag = dialog.tag) = 'active';
        DELETE FROM resource WHERE tag IN (SELECT tag FROM dialog WHERE resource_rows = 0);
        -- Keys that begin with the partition, which follows from the user, in place of an index more for each row.
        ALTER TABLE shown_watcher RENAME TO old_shown_watcher;
        CREATE TABLE shown_watcher (
            part INTEGER NOT NULL, presentity TEXT NOT NULL, watcher TEXT NOT NULL, shown_at INTEGER NOT NULL, sign_off INTEGER,
            PRIMARY KEY (part, presentity, watcher)
        ) WITHOUT ROWID;
        INSERT INTO shown_watcher SELECT part, presentity, watcher, shown_at, sign_off FROM old_shown_watcher;
        DROP TABLE old_shown_watcher;
        ALTER TABLE publication RENAME TO old_publication;
        CREATE TABLE publication (
            part INTEGER NOT NULL, presentity TEXT NOT NULL, tag TEXT NOT NULL, uri TEXT NOT NULL, document TEXT NOT NULL,
            number INTEGER NOT NULL, arrived INTEGER NOT NULL, expiry INTEGER NOT NULL, ids TEXT NOT NULL,
            PRIMARY KEY (part, presentity, tag)
        );
        INSERT INTO publication SELECT part, presentity, tag, uri, document, number, arrived, expiry, ids FROM old_publication;
        DROP TABLE old_publication;
        """,
        """
        -- XCAP documents of users (RFC 4825), in the octets that were put.
        CREATE TABLE document (
            user TEXT NOT NULL, auid TEXT NOT NULL, name TEXT NOT NULL, tag TEXT NOT NULL, media_type TEXT NOT NULL, octets TEXT NOT NULL,
            part INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (user, auid, name)
        );
        CREATE INDEX document_part ON document (part);
        """,
    ]
}
