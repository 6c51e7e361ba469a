/** The columns of the directory's tables, and their rows as the domain knows them. */
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { AuditEntry } from '../../domain/people/audit.js';
import type { Invitation, Membership } from '../../domain/people/invitation.js';
import type { Member } from '../../domain/people/member.js';
import type { Organization, Project } from '../../domain/projects/project.js';
import type { Row } from './session.js';

/** How a field is stored. Lists are texts with commas. */
type Kind<Field> = [Field] extends [number | null]
  ? 'number'
  : [Field] extends [string | null]
    ? 'text'
    : 'list';

type Value = string | number | null;

/** Maps the fields of `Entity` to columns: `createdAt` is the column `created_at`. */
class Columns<Entity extends object> {
  readonly #kinds: readonly (readonly [field: string, kind: 'text' | 'number' | 'list'])[];
  /** The columns and their placeholders, in the order of `values`, for inserting an entity. */
  readonly names: string;
  readonly placeholders: string;

  constructor(kinds: { readonly [Field in keyof Entity]: Kind<Entity[Field]> }) {
    this.#kinds = Object.entries(kinds);
    this.names = this.#kinds.map(([field]) => columnName(field)).join(', ');
    this.placeholders = this.#kinds.map((_, at) => `$${at + 1}`).join(', ');
  }

  /** What to select from a table. A prefix tells apart the fields of two tables that are read together. */
  of(table: string, prefix = ''): string {
    return this.#kinds
      .map(([field]) => `${table}.${columnName(field)} AS "${fieldName(prefix, field)}"`)
      .join(', ');
  }

  values(entity: Entity): Value[] {
    return this.#kinds.map(([field]) => {
      const value = (entity as Readonly<Record<string, Value | readonly string[]>>)[field];
      return typeof value === 'object' && value !== null ? value.join() : (value ?? null);
    });
  }

  read(row: Row, prefix = ''): Entity {
    const entity: Record<string, unknown> = {};
    for (const [field, kind] of this.#kinds) entity[field] = READERS[kind](row[fieldName(prefix, field)]);
    return entity as Entity;
  }
}

const READERS = {
  text: (value: unknown): unknown => value,
  number: toNumber,
  list: (value: unknown): string[] => (value === '' ? [] : String(value).split(',')),
};

/** A number or null. */
export function toNumber(value: unknown): number | null {
  return value === null ? null : Number(value);
}

function columnName(field: string): string {
  // The only column whose name is a keyword.
  if (field === 'end') return '"end"';
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `found` and `createdAt` make `foundCreatedAt`. */
function fieldName(prefix: string, field: string): string {
  return prefix === '' ? field : prefix + field.charAt(0).toUpperCase() + field.slice(1);
}

export const ORGANIZATION = new Columns<Organization>({ id: 'text', name: 'text', createdAt: 'number' });

export const PROJECT = new Columns<Project>({
  id: 'text',
  organizationId: 'text',
  name: 'text',
  createdAt: 'number',
  timeZone: 'text',
  retentionDays: 'number',
  rowsFrom: 'number',
});

export const KEY = new Columns<ApiKey>({
  id: 'text',
  organizationId: 'text',
  projectId: 'text',
  type: 'text',
  name: 'text',
  hash: 'text',
  start: 'text',
  end: 'text',
  createdBy: 'text',
  createdAt: 'number',
  expiresAt: 'number',
  revokedAt: 'number',
  lastUsedAt: 'number',
  disabledAt: 'number',
  scopes: 'list',
  allow: 'list',
  successorId: 'text',
});

export const MEMBER = new Columns<Member>({
  organizationId: 'text',
  email: 'text',
  role: 'text',
  createdAt: 'number',
});

export const MEMBERSHIP = new Columns<Membership>({
  organizationId: 'text',
  organizationName: 'text',
  role: 'text',
});

export const INVITATION = new Columns<Invitation>({
  id: 'text',
  organizationId: 'text',
  email: 'text',
  role: 'text',
  tokenHash: 'text',
  createdBy: 'text',
  createdAt: 'number',
  expiresAt: 'number',
});

export const AUDIT_ENTRY = new Columns<AuditEntry>({
  number: 'number',
  at: 'number',
  actor: 'text',
  address: 'text',
  action: 'text',
  targetId: 'text',
  detail: 'text',
});
