/** The columns of the directory's tables, and their rows as the domain knows them. */
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Delivery } from '../../domain/notifications/delivery.js';
import type { Notification } from '../../domain/notifications/notification.js';
import type { AuditEntry } from '../../domain/people/audit.js';
import type { Invitation } from '../../domain/people/invitation.js';
import type { Member } from '../../domain/people/member.js';
import type { Organization } from '../../domain/projects/organization.js';
import type { Project } from '../../domain/projects/project.js';
import type { ShareLink } from '../../domain/projects/share-link.js';
import type { Row } from './session.js';

/**
 * How a field is stored: lists as texts with commas, packed ones together in one column as JSON without nulls, all others as
 * they are. Of the packed ones there may be many, and a column that is null costs the look-up of a key next to nothing.
 */
type Kind<Field> = Field extends readonly string[] ? 'list' : 'value' | 'packed';

type Value = string | number | null;

type Texts = Readonly<Record<string, string | null>>;

/** Maps the fields of `Entity` to the columns of a table: `createdAt` is the column `created_at`. */
export class Columns<Entity extends object> {
  readonly table: string;
  readonly #fields: readonly (readonly [field: string, kind: 'value' | 'list'])[];
  readonly #packed: readonly string[];
  /** In the order of `values`: the fields that are not packed, and the column of those that are. */
  readonly #columns: readonly string[];
  /** The columns and their placeholders, in the order of `values`, for inserting an entity. */
  readonly names: string;
  readonly placeholders: string;

  /** `packedColumn` has the packed fields. */
  constructor(
    table: string,
    kinds: { readonly [Field in keyof Entity]: Kind<Entity[Field]> },
    packedColumn?: string,
  ) {
    this.table = table;
    const all = Object.entries<'value' | 'list' | 'packed'>(kinds);
    this.#fields = all.filter((one): one is [string, 'value' | 'list'] => one[1] !== 'packed');
    this.#packed = all.filter(([, kind]) => kind === 'packed').map(([field]) => field);
    this.#columns = [...this.#fields.map(([field]) => field), packedColumn ?? []].flat();
    this.names = this.#columns.map(columnName).join(', ');
    this.placeholders = this.#columns.map((_, at) => `$${at + 1}`).join(', ');
  }

  /** What to select. A prefix tells apart the fields of two tables that are read together. */
  select(table = this.table, prefix = ''): string {
    return this.#columns
      .map((field) => `${table}.${columnName(field)} AS "${fieldName(prefix, field)}"`)
      .join(', ');
  }

  values(entity: Entity): Value[] {
    const values = this.#fields.map(([field]) => {
      const value = (entity as Readonly<Record<string, Value | readonly string[]>>)[field];
      return typeof value === 'object' && value !== null ? value.join() : (value ?? null);
    });
    return this.#packed.length === 0 ? values : [...values, this.pack(entity)];
  }

  /** The value of the column with the packed fields: null if all of them are. */
  pack(entity: Entity): string | null {
    const texts = this.#packed.map((field) => [field, (entity as Texts)[field]] as const);
    const given = texts.filter(([, text]) => text !== null);
    return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given));
  }

  read(row: Row, prefix = ''): Entity {
    const entity: Record<string, unknown> = {};
    for (const [field, kind] of this.#fields) {
      const value = row[fieldName(prefix, field)];
      entity[field] = kind === 'list' ? splitList(String(value)) : value;
    }
    if (this.#packed.length > 0) {
      const packed = row[fieldName(prefix, this.#columns.at(-1) ?? '')];
      const texts: Texts = typeof packed === 'string' ? JSON.parse(packed) : {};
      for (const field of this.#packed) entity[field] = texts[field] ?? null;
    }
    return entity as Entity;
  }
}

export function splitList(text: string): string[] {
  return text.split(',').filter(Boolean);
}

export function columnName(field: string): string {
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
  secondFactor: 'value',
});

export const PROJECT = new Columns<Project>(
  'project',
  {
    id: 'value',
    organizationId: 'value',
    name: 'value',
    createdAt: 'value',
    timeZone: 'value',
    weekStart: 'value',
    retentionDays: 'value',
    earliestAt: 'value',
    rowsFrom: 'value',
    otlpQuery: 'packed',
    otlpId: 'packed',
    otlpCaller: 'packed',
    otlpDefaultCaller: 'packed',
    otlpSiteOrigins: 'packed',
  },
  'telemetry',
);

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
  projects: 'list',
  createdAt: 'value',
});

export const INVITATION = new Columns<Invitation>('invitation', {
  id: 'value',
  organizationId: 'value',
  email: 'value',
  role: 'value',
  projects: 'list',
  tokenHash: 'value',
  createdBy: 'value',
  createdAt: 'value',
  expiresAt: 'value',
});

export const SHARE_LINK = new Columns<ShareLink>('share_link', {
  id: 'value',
  organizationId: 'value',
  projectId: 'value',
  name: 'value',
  tokenHash: 'value',
  end: 'value',
  passwordHash: 'value',
  origins: 'list',
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

export const NOTIFICATION = new Columns<Notification>('notification', {
  id: 'value',
  organizationId: 'value',
  projectId: 'value',
  kind: 'value',
  period: 'value',
  hours: 'value',
  factor: 'value',
  minimum: 'value',
  timeZone: 'value',
  channel: 'value',
  destination: 'value',
  shownDestination: 'value',
  createdBy: 'value',
  createdAt: 'value',
  checkAt: 'value',
  incidentAt: 'value',
});

export const DELIVERY = new Columns<Delivery>('notification_delivery', {
  id: 'value',
  notificationId: 'value',
  organizationId: 'value',
  projectId: 'value',
  occurrence: 'value',
  message: 'value',
  state: 'value',
  attempts: 'value',
  nextAt: 'value',
  createdAt: 'value',
  finishedAt: 'value',
  lastError: 'value',
});
