/**
 * The storage port for organizations, projects, keys and people. `store.ts` says what holds for every method. Reads and
 * changes are separate interfaces because stores run them differently; `src/storage/sql/` implements both once.
 */

import type { ApiKey } from '../../domain/keys/api-key.js';
import type { ExpiryNotice } from '../../domain/keys/key-lifetime.js';
import type { Actor, AuditAction, AuditEntry, AuditFilter } from '../../domain/people/audit.js';
import type { Invitation, Membership } from '../../domain/people/invitation.js';
import type { Member, Rights } from '../../domain/people/member.js';
import type {
  NewOrganization,
  Organization,
  OrganizationChange,
} from '../../domain/projects/organization.js';
import type { NewProject, Project, ProjectChange } from '../../domain/projects/project.js';
import type { ShareLink } from '../../domain/projects/share-link.js';

/** The ways to change a key in place. */
export type KeyChange = 'revoke' | 'disable' | 'enable';

/** A key, and the project that a request names, if the key's organization has it. */
export interface Access {
  readonly key: ApiKey;
  readonly project: Project | undefined;
  /** For `CountStore.record`. Undefined where finding it again costs little. */
  readonly proof?: AccessProof | undefined;
}

/** Stands for all that `findAccess` found, so that a recording can find out whether it is still so. */
export interface AccessProof {
  readonly keyHash: string;
  readonly stamp: string;
}

/** What happens to a user's account: a change by the user, or an attempt to sign in. */
export interface UserChange {
  readonly action: AuditAction & `user.${string}`;
  readonly detail: string;
}

/** An invitation with the name of its organization. */
export type NamedInvitation = Invitation & { readonly organizationName: string };

export interface UserSummary {
  readonly name: string;
  /** Whether the user has codes of an authenticator app, or a passkey. */
  readonly secondFactor: boolean;
}

export interface DirectoryReads {
  /** All organizations; the default one always exists. */
  listOrganizations(): Promise<Organization[]>;

  /** The organization's projects; empty if there is no such organization. */
  listProjects(organizationId: string): Promise<Project[]>;

  countProjects(organizationId: string): Promise<number>;

  /**
   * The project, if it belongs to the organization. An unknown project and one of another organization take the same
   * single look-up, so that the time does not reveal which of the two it is.
   */
  findProject(organizationId: string, projectId: string): Promise<Project | undefined>;

  /** The organization's keys, including expired and revoked ones. */
  listKeys(organizationId: string): Promise<ApiKey[]>;

  /** Those of them that a member created. */
  listKeysBy(organizationId: string, email: string): Promise<ApiKey[]>;

  findKey(organizationId: string, keyId: string): Promise<ApiKey | undefined>;

  /** How many keys of the organization are not revoked. */
  countKeys(organizationId: string): Promise<number>;

  /**
   * The keys with the scope `write` that are active and to be announced, the one that expires first at the start, and at most
   * `keyNoticesMax`. Only those that may record into a project, if one is named.
   */
  listExpiringKeys(notice: ExpiryNotice, project?: Pick<Project, 'id' | 'organizationId'>): Promise<ApiKey[]>;

  /** The project's share links, including expired ones; empty if the organization has no such project. */
  listShareLinks(organizationId: string, projectId: string): Promise<ShareLink[]>;

  /** The share link with this hash; undefined if there is none, or if it has expired at `now`. */
  findShareLink(tokenHash: string, now: number): Promise<ShareLink | undefined>;

  /** The organization's members. */
  listMembers(organizationId: string): Promise<Member[]>;

  findMember(organizationId: string, email: string): Promise<Member | undefined>;

  /** The entries of the organization's audit log that match the filter, newest first. */
  readAudit(organizationId: string, filter: AuditFilter): Promise<AuditEntry[]>;

  /**
   * The organizations this e-mail address is a member of, by creation time; also if no user has the address. If a user has it,
   * only those that the account opens: for which their own link has proved the address, or all if a provider has verified it.
   */
  listMemberships(email: string): Promise<Membership[]>;

  /** Whether the e-mail address is a member of any organization, or invited to one at `now`. */
  isExpected(email: string, now: number): Promise<boolean>;

  /**
   * The users with these e-mail addresses, by address; addresses without a user are left out, and so are accounts that do not open
   * the organization, if one is given.
   */
  findUsers(emails: readonly string[], organizationId?: string): Promise<ReadonlyMap<string, UserSummary>>;

  /**
   * Whether no owner of any organization can sign in yet. If so, the holder of a set-up address (an invitation without
   * an e-mail address) may become one.
   */
  isSetUpOpen(): Promise<boolean>;

  /** The secret of this name that the database has, if it has one. */
  findSecret(name: string): Promise<string | undefined>;

  /** The organization's invitations that have not expired at `now`, by creation time; without set-up addresses. */
  listInvitations(organizationId: string, now: number): Promise<Invitation[]>;

  /** The invitations of an address that have not expired at `now`, of all organizations. */
  listInvitationsFor(email: string, now: number): Promise<NamedInvitation[]>;

  /** The invitation with this hash; undefined if there is none, or if it has expired. */
  findInvitation(tokenHash: string, now: number): Promise<NamedInvitation | undefined>;
}

export interface DirectoryChanges {
  /** Adds an organization. `already_exists` if its id is taken. */
  createOrganization(organization: NewOrganization, by: Actor): Promise<void>;

  /**
   * Changes an organization and returns it. Idempotent; a change without effect is not written into the audit log.
   * `not_found` if there is no such organization.
   */
  changeOrganization(organizationId: string, change: OrganizationChange, by: Actor): Promise<Organization>;

  /**
   * Adds a project. `already_exists` if its id is taken, in any organization, or belongs to a deleted project whose
   * queries are still being removed; `not_found` without its organization.
   */
  createProject(project: NewProject, by: Actor): Promise<void>;

  /**
   * Changes a project and returns it. Idempotent; a change without effect is not written into the audit log.
   * `not_found` if the organization has no such project.
   */
  changeProject(
    organizationId: string,
    projectId: string,
    change: ProjectChange,
    by: Actor,
  ): Promise<Project>;

  /**
   * Deletes a project, its share links and the keys that are bound to it, forever, and takes it from its readers. Once this resolves, only the audit log still shows the project.
   * A recording at the same time is either counted before, or refused as `not_found`. `purgeDeleted` removes the
   * queries and counters; a new project with the same id never sees them.
   * `not_found` if the organization has no such project.
   */
  deleteProject(organizationId: string, projectId: string, by: Actor): Promise<void>;

  /** Adds a key. `already_exists` if its id or hash is taken; `not_found` without its organization or project. */
  createKey(key: ApiKey, by: Actor): Promise<void>;

  /**
   * Revokes a key forever, disables it, or enables it again, and returns it. Idempotent: a revoked key keeps its first
   * `revokedAt`, a disabled one its first `disabledAt`, and a change without effect is not written into the audit log.
   * `not_found` if the organization has no such key.
   */
  changeKey(organizationId: string, keyId: string, change: KeyChange, by: Actor): Promise<ApiKey>;

  /**
   * Adds a successor (see `createKey`) and gives the old key its new, earlier expiry and its successor's id, both or
   * neither. `not_found` if the organization has no such key; `invalid` if it is revoked or already has a successor.
   */
  rotateKey(
    organizationId: string,
    keyId: string,
    successor: ApiKey,
    expiresAt: number,
    by: Actor,
  ): Promise<void>;

  /**
   * Adds a share link. `already_exists` if its id or hash is taken; `not_found` if the organization has no such project;
   * `invalid` if the project has `shareLinksMax` already.
   */
  createShareLink(link: ShareLink, by: Actor): Promise<void>;

  /** Deletes a share link. `not_found` if the organization has no such link. */
  revokeShareLink(organizationId: string, shareLinkId: string, by: Actor): Promise<void>;

  /** Notes that a key was used. Moves `lastUsedAt` back only from more than a day ahead, which a wrong clock has written; does nothing if there is no such key. */
  touchKey(keyId: string, usedAt: number): Promise<void>;

  /** Deletes the organization's revoked keys except the `kept` that were revoked last. */
  pruneKeys(organizationId: string, kept: number): Promise<void>;

  /** Adds a member. `already_exists` if the e-mail address is already a member; `not_found` without its organization or a project. */
  addMember(member: Member, by: Actor): Promise<void>;

  /**
   * Gives a member another role, or a reader other projects. `not_found` if the organization has no such member or project; `invalid` for the last owner: an
   * organization that has an owner keeps one. If `by` is a user, also `invalid` for the last owner whose account opens it. Withdraws
   * the open invitations of a member who is no longer an owner. With `revokesKeys` also revokes the admin keys that the member created.
   */
  changeMember(
    organizationId: string,
    email: string,
    rights: Rights,
    by: Actor,
    revokesKeys?: boolean,
  ): Promise<void>;

  /** Also withdraws the member's open invitations. `not_found`, `invalid` and `revokesKeys` as above. */
  removeMember(organizationId: string, email: string, by: Actor, revokesKeys?: boolean): Promise<void>;

  /** Deletes at most `limit` entries of all audit logs from before a time, and returns how many. */
  pruneAudit(before: number, limit: number): Promise<number>;

  /**
   * Adds an invitation and deletes an earlier one of the organization for the same address, or an earlier set-up link.
   * `already_exists` if the address belongs to a member whose account opens the organization; `not_found` without the organization or a project; `invalid` if
   * `by` is a user who is not an owner any more, or if the organization has `membersMax` members and open invitations already. The audit log has no set-up links, because they invite nobody in particular.
   */
  createInvitation(invitation: Invitation, by: Actor): Promise<void>;

  /** Withdraws an invitation. `not_found` if the organization has none with this id. */
  revokeInvitation(organizationId: string, invitationId: string, by: Actor): Promise<void>;

  /**
   * Makes `email` a member by an invitation, and uses it up; a present member keeps their role. The account of the address then
   * opens the organization. A set-up address makes
   * an owner and uses up all set-up addresses. `not_found` if there is no such invitation, if it has expired by `by.at`
   * or is for another address, or if it is a set-up address and set-up is closed: of two people with set-up addresses,
   * only one can become the first owner. Set-up is also open to an `email` that was an owner before it had an account,
   * if no other owner's account is older.
   */
  acceptInvitation(tokenHash: string, email: string, by: Actor): Promise<Member>;

  /** As `acceptInvitation`, without the link: it proves nothing for the account, which the provider opens. */
  acceptOffer(tokenHash: string, email: string, by: Actor): Promise<Member>;

  /** As `acceptOffer`, of all invitations for the address. */
  acceptInvitationsFor(email: string, by: Actor): Promise<void>;

  /** Writes a user's change into the audit log of every organization that the account opens (see `listMemberships`), or of one. */
  logUserChange(email: string, change: UserChange, by: Actor, organizationId?: string): Promise<void>;

  /**
   * The secret of this name, the same on every node: `proposed` if there was none. For signing and encrypting
   * cookies.
   */
  keepSecret(name: string, proposed: string): Promise<string>;

  /** Removes the secret of this name, once it is kept elsewhere. Idempotent. */
  removeSecret(name: string): Promise<void>;
}

export interface Directory extends DirectoryReads, DirectoryChanges {
  /**
   * The key with this hash in any state, and the project of that id if it belongs to the key's organization; undefined
   * if there is no such key. One look-up, the same for an unknown project and for another organization's. Sees every
   * revocation that resolved earlier, through any handle on the same machine: a store must not answer from a cache that
   * could miss one. With a proof only if it is asked for, because each costs the database a tenth of the look-up.
   */
  findAccess(keyHash: string, projectId: string, withProof?: boolean): Promise<Access | undefined>;
}
