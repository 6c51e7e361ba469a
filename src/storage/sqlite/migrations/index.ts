/**
 * The schema's history: entry n brings a file from version n to n + 1. Released entries never change.
 *
 * - Rows and counters refer to projects and callers by small integers, to save space. `query.id` is the 16 bytes of a
 *   canonical UUID, or the text itself (see `query-id.ts`).
 * - `deleted_project` lists the projects whose queries and counters still have to be removed. Project numbers are never
 *   reused, so a new project with the same id is not affected.
 * - `type_counter` has a row per project, bucket level and non-empty bucket (see `domain/counting/buckets.ts`).
 *   `caller_counter` also has one per caller of type other.
 * - The rollup cache relies on counters never decreasing while their project exists. A migration that decreases them must
 *   rename the table.
 */
import { SQL as V1 } from './001-009/001-projects-keys-queries.js';
import { SQL as V2 } from './001-009/002-members-audit.js';
import { SQL as V3 } from './001-009/003-caller-counters.js';
import { SQL as V4 } from './001-009/004-users-invitations.js';
import { SQL as V5 } from './001-009/005-project-settings.js';
import { SQL as V6 } from './001-009/006-login-throttle.js';
import { SQL as V7 } from './001-009/007-question-keys.js';
import { SQL as V8 } from './001-009/008-ingestion.js';
import { SQL as V9 } from './001-009/009-imported-counts.js';
import { SQL as V10 } from './010-019/010-project-telemetry.js';
import { SQL as V11 } from './010-019/011-sign-in.js';
import { SQL as V12 } from './010-019/012-one-server.js';
import { SQL as V13 } from './010-019/013-managed-audit.js';
import { SQL as V14 } from './010-019/014-passkeys.js';
import { SQL as V15 } from './010-019/015-reading-keys.js';
import { SQL as V16 } from './010-019/016-row-levels.js';
import { SQL as V17 } from './010-019/017-code-algorithm.js';
import { SQL as V18 } from './010-019/018-share-links.js';
import { SQL as V19 } from './010-019/019-notifications.js';

export const MIGRATIONS: readonly string[] = [
  V1,
  V2,
  V3,
  V4,
  V5,
  V6,
  V7,
  V8,
  V9,
  V10,
  V11,
  V12,
  V13,
  V14,
  V15,
  V16,
  V17,
  V18,
  V19,
];

export const NEWEST_VERSION = MIGRATIONS.length;
