/** The projects that `serve --demo` creates. The dashboard marks them as sample data. */
export const SAMPLE_PROJECT_IDS = { traffic: 'assistant-demo', events: 'demo' } as const;
