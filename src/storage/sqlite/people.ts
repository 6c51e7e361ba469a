/** People who sign in, on SQLite: reads on this thread, changes on the writer thread. */
import type { Actor } from '../../domain/people/audit.js';
import type { Invitation, Membership } from '../../domain/people/invitation.js';
import type { Member } from '../../domain/people/member.js';
import type { People, UserStatement, UserStatementResult, UserTables } from '../ports/people.js';
import { invitationColumns, MEMBERSHIP_COLUMNS, toInvitation, toMembership } from '../sql/rows.js';
import type { Connection } from './connection.js';
import type { PeopleOperation } from './writer/operations.js';
import { FIND_FIRST_OWNER } from './writer/people-changes.js';

export interface SqlitePeopleOptions {
  /** Reads from the store's connection, with errors as the port has them. */
  readonly read: <T>(read: (db: Connection) => T) => T;
  /** Hands a change to the writer. */
  readonly submit: (operation: PeopleOperation) => Promise<unknown>;
}

export class SqlitePeople implements People {
  readonly userTables: UserTables;
  readonly #read: SqlitePeopleOptions['read'];
  readonly #submit: SqlitePeopleOptions['submit'];

  constructor({ read, submit }: SqlitePeopleOptions) {
    this.#read = read;
    this.#submit = submit;
    this.userTables = {
      dialect: 'sqlite',
      schema: undefined,
      run: async (statement) => this.#runUserStatement(statement),
    };
  }

  async listMemberships(email: string): Promise<Membership[]> {
    return this.#read((db) =>
      db
        .prepare(
          `SELECT ${MEMBERSHIP_COLUMNS} FROM member JOIN organization ON organization.id = member.organization_id
           WHERE member.email = ? ORDER BY organization.created_at, organization.id`,
        )
        .all(email)
        .map(toMembership),
    );
  }

  async namesOf(emails: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = this.#read((db) =>
      db
        .prepare('SELECT email, name FROM user_account WHERE email IN (SELECT value FROM json_each(?))')
        .all(JSON.stringify(emails)),
    );
    return new Map(rows.map(({ email, name }) => [String(email), String(name)]));
  }

  async isSetUpOpen(): Promise<boolean> {
    return this.#read((db) => db.prepare(FIND_FIRST_OWNER).get() === undefined);
  }

  async createInvitation(invitation: Invitation, by: Actor): Promise<void> {
    await this.#submit({ kind: 'createInvitation', invitation, by });
  }

  async listInvitations(organizationId: string, now: number): Promise<Invitation[]> {
    return this.#read((db) =>
      db
        .prepare(
          `SELECT ${invitationColumns('invitation')} FROM invitation
           WHERE organization_id = ? AND email IS NOT NULL AND expires_at > ? ORDER BY created_at, id`,
        )
        .all(organizationId, now)
        .map(toInvitation),
    );
  }

  async findInvitation(
    tokenHash: string,
    now: number,
  ): Promise<(Invitation & { readonly organizationName: string }) | undefined> {
    return this.#read((db) => {
      const row = db
        .prepare(
          `SELECT ${invitationColumns('invitation')}, organization.name AS "organizationName"
           FROM invitation JOIN organization ON organization.id = invitation.organization_id
           WHERE token_hash = ? AND expires_at > ?`,
        )
        .get(tokenHash, now);
      return row && { ...toInvitation(row), organizationName: String(row.organizationName) };
    });
  }

  async revokeInvitation(organizationId: string, invitationId: string, by: Actor): Promise<void> {
    await this.#submit({ kind: 'revokeInvitation', organizationId, invitationId, by });
  }

  async acceptInvitation(tokenHash: string, email: string, by: Actor): Promise<Member> {
    return (await this.#submit({ kind: 'acceptInvitation', tokenHash, email, by })) as Member;
  }

  async acceptInvitationsOf(email: string, by: Actor): Promise<void> {
    await this.#submit({ kind: 'acceptInvitationsOf', email, by });
  }

  async logUserChange(
    email: string,
    change: Parameters<People['logUserChange']>[1],
    by: Actor,
  ): Promise<void> {
    await this.#submit({ kind: 'logUserChange', email, ...change, by });
  }

  async keepSecret(name: string, proposed: string): Promise<string> {
    return (await this.#submit({ kind: 'keepSecret', name, proposed })) as string;
  }

  async #runUserStatement({ sql, parameters }: UserStatement): Promise<UserStatementResult> {
    if (!/^\s*select\b/i.test(sql)) {
      return (await this.#submit({ kind: 'userStatement', sql, parameters })) as UserStatementResult;
    }
    const rows = this.#read((db) => db.prepare(sql).all(...parameters));
    return { rows, changes: 0 };
  }
}
