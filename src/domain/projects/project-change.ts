import type { Project } from './project.js';

/** What is to be new about a project; what is left out stays as it is. */
export interface ProjectChange {
  readonly name?: string;
  readonly timeZone?: string | null;
  readonly retentionDays?: number | null;
}

/** A project after a change, and what is new about it in words; no words where nothing is. */
export function applyChange(project: Project, change: ProjectChange): { project: Project; detail: string } {
  const changed = { ...project, ...change };
  const words = [
    said('name', project.name, changed.name),
    said('time zone', project.timeZone, changed.timeZone),
    said('retention in days', project.retentionDays, changed.retentionDays),
  ];
  return { project: changed, detail: words.filter((one) => one !== '').join('; ') };
}

/** `name: Docs, now Handbook`. */
function said(what: string, before: string | number | null, now: string | number | null): string {
  return before === now ? '' : `${what}: ${before ?? 'none'}, now ${now ?? 'none'}`;
}
