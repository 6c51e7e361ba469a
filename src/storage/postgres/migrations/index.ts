/**
 * The schema's history: entry n brings a schema from version n to n + 1, one statement after the other. Released entries never
 * change.
 *
 * Citus spreads `project`, `query` and the counters over many servers by project. This requires:
 * - Every unique key of these tables includes the project, and they refer to no other table.
 * - `record` is one function of one project, which Citus sends as a whole to the project's server. Its statements change one
 *   table each, so that no other server takes part.
 * - Everything that is sorted has one collation (byte order). Writers that lock rows in one order cannot deadlock.
 *
 * `query.id` holds the bytes of `query-id.ts`. `caller_type_counter`, called `counter` and then `type_counter` at first, has a
 * row per project, bucket level and bucket (see `domain/counting/buckets.ts`). `caller_counter` also has one per caller of
 * type other. Their pages leave room for updates of busy buckets. A query is in the counters of `query.level` and of all
 * wider levels; without a level, in all.
 */
import { sql as v1 } from './001-009/001-projects-keys-queries.js';
import { sql as v2 } from './001-009/002-members-audit.js';
import { sql as v3 } from './001-009/003-caller-counters.js';
import { sql as v4 } from './001-009/004-users-invitations.js';
import { sql as v5 } from './001-009/005-project-settings.js';
import { sql as v6 } from './001-009/006-login-throttle.js';
import { sql as v7 } from './001-009/007-question-keys.js';
import { sql as v8 } from './001-009/008-ingestion.js';
import { sql as v9 } from './001-009/009-imported-counts.js';
import { sql as v10 } from './010-019/010-project-telemetry.js';
import { sql as v11 } from './010-019/011-sign-in.js';
import { sql as v12 } from './010-019/012-one-server.js';
import { sql as v13 } from './010-019/013-managed-audit.js';
import { sql as v14 } from './010-019/014-passkeys.js';
import { sql as v15 } from './010-019/015-reading-keys.js';
import { sql as v16 } from './010-019/016-row-levels.js';
import { sql as v17 } from './010-019/017-code-algorithm.js';
import { sql as v18 } from './010-019/018-share-links.js';
import { sql as v19 } from './010-019/019-notifications.js';

export const MIGRATIONS: readonly ((schema: string) => readonly string[])[] = [
  v1,
  v2,
  v3,
  v4,
  v5,
  v6,
  v7,
  v8,
  v9,
  v10,
  v11,
  v12,
  v13,
  v14,
  v15,
  v16,
  v17,
  v18,
  v19,
];

export const NEWEST_VERSION = MIGRATIONS.length;
