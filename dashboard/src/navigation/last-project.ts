/** The organization and project of the last visit, which the start page leads to. */
import { recall } from '../preferences/local-storage.js';

/** The last one visited, or the first. */
export function lastOrganization<T extends { readonly id: string }>(
  organizations: readonly T[],
): T | undefined {
  return findLast(organizations, recall('organization'));
}

/** The last one visited, or the first. */
export function lastProject<T extends { readonly id: string }>(projects: readonly T[]): T | undefined {
  return findLast(projects, recall('project'));
}

function findLast<T extends { readonly id: string }>(all: readonly T[], last: string | null): T | undefined {
  return all.find(({ id }) => id === last) ?? all[0];
}
