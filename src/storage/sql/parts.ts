/**
 * The parts of a store that speaks SQL. Reads are statements of their own. Changes are run by name in a transaction, because
 * SQLite makes them on another thread: `SqlDirectoryChanges` says what `createProject` does, and so on.
 */
import type { CorrectionChanges, Corrections } from '../ports/corrections.js';
import type { Access, Directory, DirectoryChanges } from '../ports/directory.js';
import type { Identities } from '../ports/identities.js';
import type { Ingestion, IngestionChanges } from '../ports/ingestion.js';
import type { NotificationChanges, Notifications } from '../ports/notifications.js';
import type { Throttles } from '../ports/throttles.js';
import { SqlCorrectionReads } from './corrections/corrections.js';
import type { QueryRows } from './corrections/query-rows.js';
import { SqlDirectoryReads } from './directory-reads.js';
import { SqlIngestionReads } from './ingestion.js';
import { SqlNotificationReads } from './notifications.js';
import type { Dialect, Run, Session } from './session.js';

export abstract class SqlDirectory extends SqlDirectoryReads implements Directory {
  readonly #run: Run<DirectoryChanges>;

  constructor(session: Session, dialect: Dialect, run: Run<DirectoryChanges>) {
    super(session, dialect);
    this.#run = run;
  }

  abstract findAccess(...args: Parameters<Directory['findAccess']>): Promise<Access | undefined>;

  readonly createOrganization: Directory['createOrganization'] = (...args) =>
    this.#run('createOrganization', args);
  readonly changeOrganization: Directory['changeOrganization'] = (...args) =>
    this.#run('changeOrganization', args);
  readonly createProject: Directory['createProject'] = (...args) => this.#run('createProject', args);
  readonly changeProject: Directory['changeProject'] = (...args) => this.#run('changeProject', args);
  readonly deleteProject: Directory['deleteProject'] = (...args) => this.#run('deleteProject', args);
  readonly createKey: Directory['createKey'] = (...args) => this.#run('createKey', args);
  readonly changeKey: Directory['changeKey'] = (...args) => this.#run('changeKey', args);
  readonly rotateKey: Directory['rotateKey'] = (...args) => this.#run('rotateKey', args);
  readonly createShareLink: Directory['createShareLink'] = (...args) => this.#run('createShareLink', args);
  readonly revokeShareLink: Directory['revokeShareLink'] = (...args) => this.#run('revokeShareLink', args);
  readonly touchKey: Directory['touchKey'] = (...args) => this.#run('touchKey', args);
  readonly pruneKeys: Directory['pruneKeys'] = (...args) => this.#run('pruneKeys', args);
  readonly addMember: Directory['addMember'] = (...args) => this.#run('addMember', args);
  readonly changeMember: Directory['changeMember'] = (...args) => this.#run('changeMember', args);
  readonly removeMember: Directory['removeMember'] = (...args) => this.#run('removeMember', args);
  readonly pruneAudit: Directory['pruneAudit'] = (...args) => this.#run('pruneAudit', args);
  readonly createInvitation: Directory['createInvitation'] = (...args) => this.#run('createInvitation', args);
  readonly revokeInvitation: Directory['revokeInvitation'] = (...args) => this.#run('revokeInvitation', args);
  readonly acceptInvitation: Directory['acceptInvitation'] = (...args) => this.#run('acceptInvitation', args);
  readonly acceptOffer: Directory['acceptOffer'] = (...args) => this.#run('acceptOffer', args);
  readonly acceptInvitationsFor: Directory['acceptInvitationsFor'] = (...args) =>
    this.#run('acceptInvitationsFor', args);
  readonly logUserChange: Directory['logUserChange'] = (...args) => this.#run('logUserChange', args);
  readonly keepSecret: Directory['keepSecret'] = (...args) => this.#run('keepSecret', args);
  readonly removeSecret: Directory['removeSecret'] = (...args) => this.#run('removeSecret', args);
}

export class SqlThrottles implements Throttles {
  readonly #run: Run<Throttles>;

  constructor(run: Run<Throttles>) {
    this.#run = run;
  }

  readonly take: Throttles['take'] = (...args) => this.#run('take', args);
  readonly giveBack: Throttles['giveBack'] = (...args) => this.#run('giveBack', args);
  readonly reset: Throttles['reset'] = (...args) => this.#run('reset', args);
}

export class SqlIdentities implements Identities {
  readonly #run: Run<Identities>;

  constructor(run: Run<Identities>) {
    this.#run = run;
  }

  readonly identify: Identities['identify'] = (...args) => this.#run('identify', args);
  readonly settle: Identities['settle'] = (...args) => this.#run('settle', args);
}

export class SqlIngestion extends SqlIngestionReads implements Ingestion {
  readonly #run: Run<IngestionChanges>;

  constructor(session: Session, dialect: Dialect, run: Run<IngestionChanges>) {
    super(session, dialect);
    this.#run = run;
  }

  readonly add: Ingestion['add'] = (...args) => this.#run('add', args);
  readonly prune: Ingestion['prune'] = (...args) => this.#run('prune', args);
}

export class SqlCorrections extends SqlCorrectionReads implements Corrections {
  readonly #run: Run<CorrectionChanges>;

  constructor(session: Session, dialect: Dialect, rows: QueryRows, run: Run<CorrectionChanges>) {
    super(session, dialect, rows);
    this.#run = run;
  }

  readonly accept: Corrections['accept'] = (...args) => this.#run('accept', args);
  readonly step: Corrections['step'] = (...args) => this.#run('step', args);
  readonly restore: Corrections['restore'] = (...args) => this.#run('restore', args);
  readonly restoreChanges: Corrections['restoreChanges'] = (...args) => this.#run('restoreChanges', args);
  readonly restoreWithdrawals: Corrections['restoreWithdrawals'] = (...args) =>
    this.#run('restoreWithdrawals', args);
}

export class SqlNotifications extends SqlNotificationReads implements Notifications {
  readonly #run: Run<NotificationChanges>;

  constructor(session: Session, dialect: Dialect, run: Run<NotificationChanges>) {
    super(session, dialect);
    this.#run = run;
  }

  readonly create: Notifications['create'] = (...args) => this.#run('create', args);
  readonly change: Notifications['change'] = (...args) => this.#run('change', args);
  readonly remove: Notifications['remove'] = (...args) => this.#run('remove', args);
  readonly logTest: Notifications['logTest'] = (...args) => this.#run('logTest', args);
  readonly endCheck: Notifications['endCheck'] = (...args) => this.#run('endCheck', args);
  readonly claim: Notifications['claim'] = (...args) => this.#run('claim', args);
  readonly endAttempt: Notifications['endAttempt'] = (...args) => this.#run('endAttempt', args);
  readonly prune: Notifications['prune'] = (...args) => this.#run('prune', args);
  readonly reseal: Notifications['reseal'] = (...args) => this.#run('reseal', args);
}
