/** The projects that `serve --demo` creates. The dashboard marks them as sample data. */

interface Named {
  readonly id: string;
  readonly name: string;
}

export const SAMPLE_PROJECTS = {
  traffic: { id: 'assistant-demo', name: 'Assistant' },
  events: { id: 'demo', name: 'Sample events' },
} as const satisfies Record<string, Named>;

/** The id alone does not tell: users may have a project `demo` of their own. */
export function isSampleProject({ id, name }: Named): boolean {
  return Object.values<Named>(SAMPLE_PROJECTS).some((one) => one.id === id && one.name === name);
}
