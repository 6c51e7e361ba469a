import { CallerStatsError } from '../errors.js';
import { formatCount } from '../format.js';

/** Whether members need a second factor to see anything of their organization. */
export const SECOND_FACTOR_RULES = ['optional', 'required'] as const;

export type SecondFactorRule = (typeof SECOND_FACTOR_RULES)[number];

export interface Organization {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly secondFactor: SecondFactorRule;
}

/** A second factor is optional unless given. */
export type NewOrganization = Omit<Organization, 'secondFactor'> & Partial<Organization>;

export type OrganizationChange = Partial<Pick<Organization, 'name' | 'secondFactor'>>;

/** The organization that every store starts with, and the default of the command line. */
export const DEFAULT_ORGANIZATION_ID = 'default';

/** Throws `invalid` if an organization has as many of something as it can have. `advice` says how to make room. */
export function requireRoom(count: number, max: number, what: string, advice: string): void {
  if (count < max) return;
  const message = `The organization has ${formatCount(count)} ${what}, the most that it can have. ${advice}`;
  throw new CallerStatsError('invalid', message);
}
