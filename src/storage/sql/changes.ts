import { CallerStatsError } from '../../domain/errors.js';
import type { Actor, AuditEntry } from '../../domain/people/audit.js';
import type { Project } from '../../domain/projects/project.js';
import { type Columns, PROJECT } from './rows.js';
import { SqlTables } from './tables.js';

export type AuditEvent = Pick<AuditEntry, 'action' | 'targetId' | 'detail'> & {
  readonly organizationId: string;
};

/** What changes of an organization's things have in common. */
export abstract class SqlChanges extends SqlTables {
  protected insertInto<Entity extends object>({ table, names, placeholders }: Columns<Entity>): string {
    return `INSERT INTO ${this.table(table)} (${names}) VALUES (${placeholders})`;
  }

  /** `SHARE` only keeps the project from being changed or deleted until the transaction ends. */
  protected async lockProject(
    organizationId: string,
    projectId: string,
    strength: 'SHARE' | 'UPDATE',
  ): Promise<Project> {
    const project = await this.findLocked(organizationId, projectId, strength);
    if (project === undefined) throw notFound(`project ${projectId}`);
    return project;
  }

  protected async findLocked(
    organizationId: string,
    projectId: string,
    strength: 'SHARE' | 'UPDATE',
  ): Promise<Project | undefined> {
    const { andNotDeleted, lock } = this.dialect;
    await this.dialect.holdProject(this.session, projectId);
    const rest = `WHERE id = $1 AND organization_id = $2 ${andNotDeleted} ${lock(strength)}`;
    return this.find(PROJECT, rest, [projectId, organizationId]);
  }

  /** Writes into the audit log, in the transaction of the change. */
  protected async log({ organizationId, action, targetId, detail }: AuditEvent, by: Actor): Promise<void> {
    await this.session.run(
      `INSERT INTO ${this.table('audit')} (organization_id, at, actor, address, action, target_id, detail)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [organizationId, by.at, by.name, by.address, action, targetId, detail],
    );
  }
}

export function notFound(entity: string): CallerStatsError {
  return new CallerStatsError('not_found', `There is no ${entity}.`);
}
