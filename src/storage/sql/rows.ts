/** The columns of the directory's tables, and their rows as the domain knows them. */
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { AuditEntry } from '../../domain/people/audit.js';
import type { Invitation } from '../../domain/people/invitation.js';
import type { Member } from '../../domain/people/member.js';
import type { Organization, Project } from '../../domain/projects/project.js';
import type { Row } from './session.js';

/** How a field is stored: lists as texts with commas, all others as they are. */
type Kind<Field> = Field extends readonly string[] ? 'list' : 'value';

type Value = string | number | null;

/** Maps the fields of `Entity` to the columns of a table: `createdAt` is the column `created_at`. */
export class Columns<Entity extends object> {
  readonly table: string;
  readonly #kinds: readonly (readonly [field: string, kind: 'value' | 'list'])[];
  /** The columns and their placeholders, in the order of `values`, for inserting an entity. */
  readonly names: string;
  readonly placeholders: string;

  constructor(table: string, kinds: { readonly [Field in keyof Entity]: Kind<Entity[Field]> }) {
    this.table = table;
    this.#kinds = Object.entries(kinds);
    this.names = this.#kinds.map(([field]) => columnName(field)).join(', ');
    this.placeholders = this.#kinds.map((_, at) => `$${at + 1}`).join(', ');
  }

  /** What to select. A prefix tells apart the fields of two tables that are read together. */
  select(table = this.table, prefix = ''): string {
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
    for (const [field, kind] of this.#kinds) {
      const value = row[fieldName(prefix, field)];
      entity[field] = kind === 'list' ? String(value).split(',').filter(Boolean) : value;
    }
    return entity as Entity;
  }
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

export const ORGANIZATION = new Columns<Organization>('organization', {
  id: 'value',
  name: 'value',
  createdAt: 'value',
});

export const PROJECT = new Columns<Project>('project', {
  id: 'value',
  organizationId: 'value',
  name: 'value',
  createdAt: 'value',
  timeZone: 'value',
  retentionDays: 'value',
  rowsFrom: 'value',
  otlpQuery: 'value',
  otlpId: 'value',
  otlpCaller: 'value',
  otlpDefaultCaller: 'value',
  otlpSiteOrigins: 'value',
});

export const KEY = new Columns<ApiKey>('api_key', {
  id: 'value',
  organizationId: 'value',
  projectId: 'value',
  type: 'value',
  name: 'value',
  hash: 'value',
  start: 'value',
  end: 'value',
  createdBy: 'value',
  createdAt: 'value',
  expiresAt: 'value',
  revokedAt: 'value',
  lastUsedAt: 'value',
  disabledAt: 'value',
  scopes: 'list',
  allow: 'list',
  successorId: 'value',
});

export const MEMBER = new Columns<Member>('member', {
  organizationId: 'value',
  email: 'value',
  role: 'value',
  createdAt: 'value',
});

export const INVITATION = new Columns<Invitation>('invitation', {
  id: 'value',
  organizationId: 'value',
  email: 'value',
  role: 'value',
  tokenHash: 'value',
  createdBy: 'value',
  createdAt: 'value',
  expiresAt: 'value',
});

export const AUDIT_ENTRY = new Columns<AuditEntry>('audit', {
  number: 'value',
  at: 'value',
  actor: 'value',
  address: 'value',
  action: 'value',
  targetId: 'value',
  detail: 'value',
});
