/**
 * What every store must do: the promises of `src/storage/ports/store.ts`, executable. A store passes all of it unchanged; it
 * brings a factory and opts out of nothing.
 */
import type { PlaceFactory } from '../support/storage/store.js';
import { describeAudit } from './audit.js';
import { describeCorrections } from './corrections.js';
import { describeCounting } from './counting.js';
import { describeHistory } from './history.js';
import { describeIdentities } from './identities.js';
import { describeImportRanges } from './import-ranges.js';
import { describeImportedCounts } from './imported-counts.js';
import { describeIngestion } from './ingestion.js';
import { describeKeys } from './keys.js';
import { describeManagement } from './management.js';
import { describeMembers } from './members.js';
import { describeNotifications } from './notifications.js';
import { describePeople } from './people.js';
import { describeProjects } from './projects.js';
import { describeRecording } from './recording.js';
import { describeRetention } from './retention.js';
import { describeSeries } from './series.js';
import { describeSetUp } from './set-up.js';
import { describeShareLinks } from './share-links.js';
import { describeStats } from './stats.js';
import { describeThrottles } from './throttles.js';
import { describeTrust } from './trust.js';
import { describeUserTables } from './user-tables.js';

export function describeStore(kind: string, factory: PlaceFactory): void {
  describeManagement(kind, factory);
  describeProjects(kind, factory);
  describeKeys(kind, factory);
  describeShareLinks(kind, factory);
  describeMembers(kind, factory);
  describePeople(kind, factory);
  describeSetUp(kind, factory);
  describeUserTables(kind, factory);
  describeAudit(kind, factory);
  describeRecording(kind, factory);
  describeIdentities(kind, factory);
  describeIngestion(kind, factory);
  describeImportedCounts(kind, factory);
  describeImportRanges(kind, factory);
  describeCorrections(kind, factory);
  describeHistory(kind, factory);
  describeRetention(kind, factory);
  describeCounting(kind, factory);
  describeSeries(kind, factory);
  describeThrottles(kind, factory);
  describeNotifications(kind, factory);
  describeTrust(kind, factory);
  describeStats(kind, factory);
}
