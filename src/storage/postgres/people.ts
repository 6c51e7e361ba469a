/** People who sign in, on PostgreSQL. */

import { CallerStatsError } from '../../domain/errors.js';
import type { Actor } from '../../domain/people/audit.js';
import { type Invitation, invalidInvitationError, type Membership } from '../../domain/people/invitation.js';
import type { Member } from '../../domain/people/member.js';
import type { People, UserStatement, UserStatementResult, UserTables } from '../ports/people.js';
import { invitationValues, toInvitation, toMember, toMembership } from '../sql/rows.js';
import type { Row, Session } from './database.js';
import { isConflict } from './errors.js';
import type { StatementName, Statements } from './statements.js';

export interface PostgresPeopleOptions {
  readonly schema: string;
  readonly statements: Statements;
  readonly read: (name: StatementName, values: readonly unknown[]) => Promise<Row[]>;
  /** Runs `work` in a transaction. */
  readonly change: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  /** Runs any statement, once, and says how many rows it changed. */
  readonly execute: (
    text: string,
    values: readonly unknown[],
    options: { readonly reads: boolean },
  ) => Promise<UserStatementResult>;
}

export class PostgresPeople implements People {
  readonly userTables: UserTables;
  readonly #statements: Statements;
  readonly #read: PostgresPeopleOptions['read'];
  readonly #change: PostgresPeopleOptions['change'];

  constructor({ schema, statements, read, change, execute }: PostgresPeopleOptions) {
    this.#statements = statements;
    this.#read = read;
    this.#change = change;
    this.userTables = {
      dialect: 'postgres',
      schema,
      run: async ({ sql, parameters }: UserStatement) => {
        try {
          return await execute(sql, parameters, { reads: /^\s*select\b/i.test(sql) });
        } catch (error) {
          if (!isConflict(error)) throw error;
          throw new CallerStatsError('already_exists', 'There is such a row already.', { cause: error });
        }
      },
    };
  }

  async listMemberships(email: string): Promise<Membership[]> {
    return (await this.#read('listMemberships', [email])).map(toMembership);
  }

  async namesOf(emails: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#read('namesOf', [emails]);
    return new Map(rows.map((row) => [String(row['email']), String(row['name'])]));
  }

  async isSetUpOpen(): Promise<boolean> {
    return (await this.#read('findFirstOwner', [])).length === 0;
  }

  async createInvitation(invitation: Invitation, by: Actor): Promise<void> {
    const { organizationId, email, role } = invitation;
    await this.#change(async (session) => {
      const run = this.#runnerOn(session);
      // Locked, so that of two invitations of one address at once the later replaces the earlier.
      const [organization] = await run('lockOrganization', [organizationId]);
      if (organization === undefined) {
        throw new CallerStatsError('not_found', `There is no organization ${organizationId}.`);
      }
      if (email !== null) {
        const [member] = await run('findSignedUpMember', [organizationId, email]);
        if (member !== undefined)
          throw new CallerStatsError('already_exists', `${email} is a member already.`);
      }
      await run('replaceInvitation', [organizationId, email, by.at]);
      await run('createInvitation', invitationValues(invitation));
      if (email === null) return;
      await run('addAuditEntry', auditValues(by, organizationId, 'invitation.create', email, role));
    });
  }

  async listInvitations(organizationId: string, now: number): Promise<Invitation[]> {
    return (await this.#read('listInvitations', [organizationId, now])).map(toInvitation);
  }

  async findInvitation(
    tokenHash: string,
    now: number,
  ): Promise<(Invitation & { readonly organizationName: string }) | undefined> {
    const [row] = await this.#read('findInvitation', [tokenHash, now]);
    return row && { ...toInvitation(row), organizationName: String(row['organizationName']) };
  }

  async revokeInvitation(organizationId: string, invitationId: string, by: Actor): Promise<void> {
    await this.#change(async (session) => {
      const run = this.#runnerOn(session);
      const [row] = await run('revokeInvitation', [organizationId, invitationId]);
      if (row === undefined)
        throw new CallerStatsError('not_found', 'There is no such invitation; it was used or withdrawn.');
      const email = String(row['email']);
      await run('addAuditEntry', auditValues(by, organizationId, 'invitation.revoke', email, ''));
    });
  }

  async acceptInvitation(tokenHash: string, email: string, by: Actor): Promise<Member> {
    return this.#change((session) => accept(this.#runnerOn(session), tokenHash, email, by));
  }

  async acceptInvitationsOf(email: string, by: Actor): Promise<void> {
    const found = await this.#read('listInvitationsOf', [email, by.at]);
    for (const row of found) {
      try {
        await this.acceptInvitation(String(row['tokenHash']), email, by);
      } catch (error) {
        // Used or withdrawn since it was found.
        if (!(error instanceof CallerStatsError && error.code === 'not_found')) throw error;
      }
    }
  }

  async logUserChange(
    email: string,
    { action, detail }: Parameters<People['logUserChange']>[1],
    by: Actor,
  ): Promise<void> {
    await this.#change((session) =>
      this.#runnerOn(session)('logUserChange', [email, by.at, by.name, by.address, action, detail]),
    );
  }

  async keepSecret(name: string, proposed: string): Promise<string> {
    return this.#change(async (session) => {
      const run = this.#runnerOn(session);
      await run('proposeSecret', [name, proposed]);
      const [row] = await run('findSecret', [name]);
      return String(row?.['value']);
    });
  }

  #runnerOn(session: Session): Run {
    return (name, values) => session.query(this.#statements[name], values);
  }
}

type Run = (name: StatementName, values: readonly unknown[]) => Promise<Row[]>;

async function accept(run: Run, tokenHash: string, email: string, by: Actor): Promise<Member> {
  const [found] = await run('findInvitation', [tokenHash, by.at]);
  if (found === undefined) throw invalidInvitationError();
  // First the organization, as everything that changes invitations does. Of two who hold the same invitation, or a
  // set-up address each, the second comes here when the first is done, and looks again.
  await run('lockOrganization', [found['organizationId']]);
  const [row] = await run('findInvitation', [tokenHash, by.at]);
  if (row === undefined) throw invalidInvitationError();
  const invitation = toInvitation(row);
  const { organizationId, role } = invitation;
  await consume(run, invitation, email);
  const [present] = await run('findMember', [organizationId, email]);
  if (present !== undefined && invitation.email !== null) return toMember(present);
  const [joined] = await run('joinOrganization', [organizationId, email, role, by.at]);
  const detail = `${role}, invited by ${invitation.createdBy}`;
  await run('addAuditEntry', auditValues(by, organizationId, 'member.add', email, detail));
  return toMember(joined ?? {});
}

/** Takes the invitation away, if it is for this address and may be used. */
async function consume(run: Run, { id, organizationId, email }: Invitation, usedBy: string): Promise<void> {
  if (email === null) {
    const [first] = await run('findFirstOwner', []);
    // Who was an owner before there was an account, as where members were copied, is the first one by now.
    if (first !== undefined && first['email'] !== usedBy) throw invalidInvitationError();
    // Of two who hold addresses of different organizations, the second finds here that its own is gone.
    const removed = await run('removeSetUpInvitations', []);
    if (!removed.some((row) => row['id'] === id)) throw invalidInvitationError();
    return;
  }
  if (email !== usedBy) throw invalidInvitationError();
  await run('revokeInvitation', [organizationId, id]);
}

function auditValues(
  { name, address, at }: Actor,
  organizationId: string,
  action: string,
  targetId: string,
  detail: string,
): readonly unknown[] {
  return [organizationId, at, name, address, action, targetId, detail];
}
