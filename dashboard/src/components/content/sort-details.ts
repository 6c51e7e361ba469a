/** Which of a server's complaints is about which field. */

/**
 * Sorts an error's details into those of a form's fields and the rest. `name: must not be empty` is of the field
 * `name`; `allow[2]: …` of the field `allow`.
 */
export function sortDetails(
  details: readonly string[],
  fields: readonly string[],
): { problems: Map<string, string>; rest: string[] } {
  const problems = new Map<string, string>();
  const rest: string[] = [];
  for (const detail of details) {
    const [, field = '', what = ''] = /^(\w+)[^:\s]*: (.+)$/.exec(detail) ?? [];
    if (!fields.includes(field)) rest.push(detail);
    else problems.set(field, [problems.get(field), sentence(what)].filter(Boolean).join(' '));
  }
  return { problems, rest };
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
