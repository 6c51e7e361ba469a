/**
 * The part of the storage port about people who sign in. What `store.ts` says of every method holds here too.
 */
import type { Actor } from '../../domain/people/audit.js';
import type { Invitation, Membership } from '../../domain/people/invitation.js';
import type { Member } from '../../domain/people/member.js';

/** A statement of the library that keeps users, their sessions, passwords and second factors (see `src/auth/`). */
export interface UserStatement {
  readonly sql: string;
  /** Texts, numbers, null; on PostgreSQL booleans and dates as well. */
  readonly parameters: readonly unknown[];
}

export interface UserStatementResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Rows that were changed. */
  readonly changes: number;
}

/**
 * The tables `user_account`, `user_session`, `user_credential`, `user_verification` and `user_second_factor`, which
 * belong to that library: it makes its statements itself, and the store keeps the tables and runs them.
 */
export interface UserTables {
  readonly dialect: 'sqlite' | 'postgres';
  /** The schema that the tables are in, where the database has schemas. */
  readonly schema: string | undefined;
  /** Runs one statement as a transaction of its own. `already_exists` where it breaks a unique key. */
  run(statement: UserStatement): Promise<UserStatementResult>;
}

export interface People {
  readonly userTables: UserTables;

  /** The organizations that this e-mail address is a member of, by creation time; also where nobody signs in with it. */
  listMemberships(email: string): Promise<Membership[]>;

  /** The names of the users with these e-mail addresses, by address; without those that are no user's. */
  namesOf(emails: readonly string[]): Promise<ReadonlyMap<string, string>>;

  /**
   * Whether nobody can sign in as an owner yet, of any organization: then the one who holds a set-up address (an
   * invitation for nobody by name) may become one.
   */
  isSetUpOpen(): Promise<boolean>;

  /**
   * Adds an invitation; an earlier one of the organization for the same address is void from then on. `already_exists`
   * where the address is a member's who can sign in; `not_found` without the organization. Set-up addresses are not
   * written into the audit log, for nobody was invited yet.
   */
  createInvitation(invitation: Invitation, by: Actor): Promise<void>;

  /** The organization's invitations that have not expired at `now`, by creation time; without set-up addresses. */
  listInvitations(organizationId: string, now: number): Promise<Invitation[]>;

  /** The invitation with this hash, and its organization's name; undefined where there is none, expired ones included. */
  findInvitation(
    tokenHash: string,
    now: number,
  ): Promise<(Invitation & { readonly organizationName: string }) | undefined>;

  /** Withdraws an invitation. `not_found` where the organization has none with this id. */
  revokeInvitation(organizationId: string, invitationId: string, by: Actor): Promise<void>;

  /**
   * Makes `email` a member by an invitation, which is used up by it; who is a member already keeps the role. A set-up
   * address makes an owner and uses up all of them. `not_found` where the invitation is not there, has expired by
   * `by.at`, is for another address, or is a set-up address though set-up is not open any more: of two who hold one,
   * only one can become the first owner. Set-up is open to `email` also where nothing but its own new account has closed
   * it, because it was an owner's before: of two such owners, to the one whose account was made first.
   */
  acceptInvitation(tokenHash: string, email: string, by: Actor): Promise<Member>;

  /** Accepts all invitations of an address that somebody has proved to have by other means than a link. */
  acceptInvitationsOf(email: string, by: Actor): Promise<void>;

  /** Writes a change of a user's own into the audit log of every organization that the user is a member of. */
  logUserChange(
    email: string,
    change: { readonly action: 'user.password' | 'user.second_factor'; readonly detail: string },
    by: Actor,
  ): Promise<void>;

  /**
   * The secret of this name, the same on every node and for ever: `proposed`, where there was none yet. For signing and
   * sealing what browsers keep.
   */
  keepSecret(name: string, proposed: string): Promise<string>;
}
